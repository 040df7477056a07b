"""See docs/architecture.md for what this package may import."""
