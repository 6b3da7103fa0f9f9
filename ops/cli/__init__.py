"""The command line: commands that call the library, and print text or JSON."""

from __future__ import annotations

from ops.cli.main import main

__all__ = ["main"]
