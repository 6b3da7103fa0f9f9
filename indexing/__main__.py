"""``python -m indexing``: the command line, the one import upwards."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

if __name__ == "__main__" and Path(sys.path[0]) == Path.cwd() != Path(__file__).parents[1]:
    del sys.path[0]  # where the user stands, modules of our names may lie

try:
    from ops.cli import main
except ModuleNotFoundError as error:
    if error.name not in {"ops", "ops.cli"}:
        raise
    found = find_spec("ops")
    place = found.origin or found.submodule_search_locations if found else "nowhere"
    sys.exit(
        f"error: the package ops of this library is hidden by another one: Python finds {place}\n"
        "hint: run the command in another folder, or install the library in its own environment"
    )

if __name__ == "__main__":
    sys.exit(main())
