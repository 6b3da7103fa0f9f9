"""NumPy, loaded when the first array is made: a tenth of a second, and only arrays need it.

>>> from simplifier.tools.arrays import np
>>> np.arange(3).tolist()
[0, 1, 2]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["np"]


class _NumPy:
    """The names of the module ``numpy``."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        import numpy  # noqa: ICN001, PLC0415 - it is loaded when it is used

        found = getattr(numpy, name)
        setattr(self, name, found)  # so that it is asked for once
        return found


if TYPE_CHECKING:
    import numpy as np
else:
    np = _NumPy()
