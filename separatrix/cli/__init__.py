"""The command line. Nothing heavy is imported before a command needs it."""

from separatrix.cli.entry import main

__all__ = ["main"]
