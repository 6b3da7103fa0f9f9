"""``python -m indexing``: the command line, the one import upwards."""

from __future__ import annotations

import sys

from indexing.startup import explained

try:
    from ops.cli import main
except ModuleNotFoundError as error:
    sys.exit(f"error: {explained(error)}")

if __name__ == "__main__":
    sys.exit(main())
