"""``python -m indexing``: the command line, the one import upwards."""

import gc
import sys

from ops.cli import main

if __name__ == "__main__":
    # Values hold no cycles: looking for some after every 700 new ones takes an eighth of the time.
    gc.set_threshold(20_000, 20, 20)
    sys.exit(main())
