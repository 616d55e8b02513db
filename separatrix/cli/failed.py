"""What commands raise beside ``InputError``."""


class WorkFailed(Exception):
    """The work ran and failed; the message says why, in one line, and the exit code is 1."""


class PipeClosed(Exception):
    """Nobody reads standard output any more (``| head``); not an ``OSError``, which click would handle itself."""
