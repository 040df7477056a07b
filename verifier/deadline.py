"""The end of a file's time, as an exception that a stage may turn into UNKNOWN(resources)."""


class DeadlinePassed(Exception):
    """The backstop: a stage was still running after the deadline and its grace."""
