"""What a command raises when its input was good and its work failed."""


class WorkFailed(Exception):
    """The work ran and failed; the message says why, in one line, and the exit code is 1."""
