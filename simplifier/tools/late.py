"""What is loaded when somebody first asks for it: modules, names of packages, and tables.

A package imports its public names for type checkers alone; a program loads those that it uses.
"""

# Modules import numpy and sympy from here.
# pyright: reportUnusedImport=false

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
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


def exports(module: str) -> _Exports:
    """``__all__``, ``__getattr__`` and ``__dir__`` of a package or module (:pep:`562`).

    The names are those that it imports for type checkers, under ``if TYPE_CHECKING``. The modules
    of a package are loaded as its attributes, too.
    """
    module_of = _imported_for_checkers(module)
    loaded = vars(sys.modules[module])

    def load(name: str) -> Any:  # noqa: ANN401 - whatever the package has
        inner, source = f"{module}.{name}", module_of.get(name, module)
        if source != module:
            loaded[name] = getattr(import_module(source), name)
        elif name.startswith("_") or "__path__" not in loaded or find_spec(inner) is None:
            message = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=sys.modules[module])
        else:
            import_module(inner)
        return loaded[name]

    return sorted(module_of), load, lambda: sorted({*loaded, *module_of})


def _imported_for_checkers(module: str) -> dict[str, str]:
    """The names that a module imports under ``if TYPE_CHECKING``, and where they are from."""
    spec = sys.modules[module].__spec__
    loader: Any = spec and spec.loader
    body = ast.parse(loader.get_source(module)).body
    checked = next(each.body for each in body if isinstance(each, ast.If))
    imports = (each for each in checked if isinstance(each, ast.ImportFrom))
    return {name.name: str(each.module) for each in imports for name in each.names}


_ANNOUNCED: Final[dict[str, list[str]]] = {}


def announce(table: str, module: str) -> None:
    """Have a module loaded, which adds to a table of a lower one, before that is first read."""
    _ANNOUNCED.setdefault(table, []).append(module)


def load_announced(table: str) -> None:
    """Load the modules that add to a table, unless they are."""
    for module in _ANNOUNCED.pop(table, ()):
        import_module(module)
