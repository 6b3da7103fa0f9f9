"""``python -m indexing``: the command line, the one import upwards."""

import sys

from ops.cli import main

if __name__ == "__main__":
    sys.exit(main())
