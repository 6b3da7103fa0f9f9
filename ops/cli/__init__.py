"""The command line: commands that call the library, and print text or JSON."""

from ops.cli.main import main

__all__ = ["main"]
