"""``python -m verifier`` is ``verify-kernel``."""

from verifier.cli import main

if __name__ == "__main__":
    main()
