"""All laws of the simplifier, one module for each file that applies them, and named like it.

So ``simplifier/canonical/floordiv.py`` applies the laws of ``catalogue/floordiv.py``. A name in a
module is a law; its place is its place in the table of :func:`simplifier.rules`. To add a law,
write it here and call ``context.fired(law.NAME)`` where it is applied; the tests prove it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from itertools import chain
from typing import Final

from simplifier.laws.law import Law


def _laws(*modules: str) -> tuple[Law, ...]:
    """The laws in modules of this folder."""
    found = (vars(import_module(f"{__name__}.{module}")).values() for module in modules)
    return tuple(law for law in chain.from_iterable(found) if isinstance(law, Law))


GROUPS: Final[Mapping[str, tuple[Law, ...]]] = {
    "quotients": _laws("floordiv"),
    "minima and maxima": _laws("maxima"),
    "products and symbolic divisors": _laws("nonlinear"),
    "conditions and choices": _laws("comparisons", "conditions"),
    "bits": _laws("bitwise"),
    "constraints": _laws("propagation"),
    "ranges": _laws("ranges"),
    "extraction": _laws("steps"),
}
"""Laws about one thing, by its name."""

LAWS: Final = tuple(chain.from_iterable(GROUPS.values()))
