"""What is loaded when somebody first asks for it: modules, names of packages, and tables.

A package lists its public names with the modules that have them, so that a program waits for none
that it does not use. Type checkers read the same names as imports.
"""

# Modules import numpy and sympy from here.
# pyright: reportUnusedImport=false

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, TypeAlias

_Exports: TypeAlias = "tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]"


class Late:
    """The names of a module, which is loaded when the first of them is asked for."""

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        found = getattr(import_module(self._module), name)
        setattr(self, name, found)  # so that it is asked for once
        return found


# Numpy takes a tenth of a second to load, sympy a quarter; most questions are about forms alone.
if TYPE_CHECKING:
    import numpy as np
    import sympy
    import sympy.logic.boolalg
else:
    np, sympy = Late("numpy"), Late("sympy")


def exports(package: str, names: Mapping[str, str]) -> _Exports:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package (:pep:`562`).

    Args:
        package: the package; its modules are loaded as its attributes, too.
        names: its names, with spaces between them, by the modules that have them.
    """
    module_of = {name: module for module, listed in names.items() for name in listed.split()}
    loaded = vars(sys.modules[package])

    def load(name: str) -> Any:  # noqa: ANN401 - whatever the package has
        inner, module = f"{package}.{name}", module_of.get(name, package)
        if module != package:
            loaded[name] = getattr(import_module(module), name)
        elif name.startswith("_") or "__path__" not in loaded or find_spec(inner) is None:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[package])
        else:
            import_module(inner)
        return loaded[name]

    return sorted(module_of), load, lambda: sorted({*loaded, *module_of})


_ANNOUNCED: Final[dict[str, list[str]]] = {}


def announce(table: str, module: str) -> None:
    """Have a module loaded, which adds to a table of a lower one, before that is first read."""
    _ANNOUNCED.setdefault(table, []).append(module)


def load_announced(table: str) -> None:
    """Load the modules that add to a table, unless they are."""
    for module in _ANNOUNCED.pop(table, ()):
        import_module(module)
