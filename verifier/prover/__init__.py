"""Decides obligations: discharge, rounds over wrapped operations, witnesses, verdicts of one launch."""
