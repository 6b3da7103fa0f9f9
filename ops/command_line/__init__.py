"""The command line: arguments in, calls, text or JSON out. It holds no logic of its own."""

from ops.command_line.main import main

__all__ = ["main"]
