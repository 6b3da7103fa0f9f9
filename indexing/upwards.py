"""Functions that users look for here and ``ops`` has: the second door upwards, like the command."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ops.explorer import Exploration, Explored


def explore(thing: Explored) -> Exploration:
    """A page to look at a program: the name here of :func:`ops.explore`.

    Raises:
        ArgumentError: ``thing`` is no module, computation, fusion or instruction.

    >>> from indexing import explore
    >>> from ops import hlo
    >>> explore(hlo.parse("ENTRY e { p = f32[2] parameter(0) ROOT n = f32[2] negate(p) }"))
    <page about module_e: e>
    """
    from ops.explorer import explore as page_about  # noqa: PLC0415 - ops imports this package

    return page_about(thing)
