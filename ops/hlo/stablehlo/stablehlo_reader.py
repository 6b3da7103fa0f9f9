"""StableHLO from text: :func:`parse` gives the HLO module that does the same."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ops.hlo.stablehlo.assembly import FORMS
from ops.hlo.stablehlo.module_writer import ModuleWriter
from ops.hlo.stablehlo.tracked_sizes import solved
from ops.mlir.operation_reader import read_module
from simplifier.errors import check_type

if TYPE_CHECKING:
    from ops.hlo.module import HloModule


def parse(text: str, file: str = "") -> HloModule:
    """The HLO module of a StableHLO text; errors name the ``file``.

    The text is what ``jax.jit(f).lower(x).as_text()`` and the ``mlir_module()`` of ``jax.export``
    print, in the form of the dialect or in MLIR's generic form. A value ``%4`` of an operation
    ``stablehlo.add`` becomes the instruction ``%add.4``, its result ``%4#1`` the instruction
    ``%add.4.1``; named values such as ``%arg0`` keep their names.

    Raises:
        MlirTextError: the text does not follow the grammar, or has no meaning in HLO.

    >>> module = parse('''
    ... func.func @main(%arg0: tensor<8x16xf32>) -> tensor<8xf32> {
    ...   %cst = stablehlo.constant dense<0.0> : tensor<f32>
    ...   %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1]
    ...     : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
    ...   return %0 : tensor<8xf32>
    ... }''')
    >>> module.entry.root
    <%reduce.0 = f32[8]{0} reduce(%arg0, %cst), dimensions={1}, to_apply=%reduce.0.to_apply>
    """
    check_type(text, str, "stablehlo.parse: the text", "a string")
    read = read_module(text, file, FORMS)
    writer = ModuleWriter(read)
    module = writer.module()
    if not writer.symbols:
        return module
    return ModuleWriter(read, solved(writer.symbols, module.size_facts)).module()


_BEGINNING: Final = re.compile(
    r"""(?:\s|//[^\n]*\n|[#!][\w.$]+\s*=[^\n]*\n)*
    (?:module\b(?=\s*(?:@|attributes\b|\{\s*(?:\}|\#|"|func\.|sdy\.)))|"?builtin\.module\b|"?func\.func\b)""",
    re.VERBOSE,
)
"""Comments and names of locations, types and maps stand before the module."""


def is_stablehlo(text: str) -> bool:
    """Whether a text begins as a module of MLIR.

    >>> is_stablehlo("module @jit_f {}"), is_stablehlo("HloModule m")
    (True, False)
    """
    return _BEGINNING.match(text) is not None
