"""The command line: arguments in, calls, text or JSON out. It holds no logic of its own."""

from ops.cli.main import main

__all__ = ["main"]
