"""The version of the tool: the one place where it is written."""

VERSION = "0.1.0"
