"""StableHLO as modules of HLO: each operation becomes the instruction that does the same.

``stablehlo.parse(text)`` gives a module like those of ``hlo.parse``, which reads such text, too.
"""

from __future__ import annotations

import re
from typing import Final

from ops.hlo.module import HloModule
from ops.hlo.parser import OTHER_READERS
from ops.mlir.operations import OTHER_DIALECTS, read_module
from ops.mlir.text import MlirTextError
from ops.stablehlo.assembly import FORMS
from ops.stablehlo.operations import CONVERSIONS
from ops.stablehlo.writer import ModuleWriter, solved
from simplifier.errors import check_type

__all__ = ["MlirTextError", "parse"]


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
    writer = ModuleWriter(read, CONVERSIONS)
    module = writer.module()
    if not writer.symbols:
        return module
    symbols = solved(writer.symbols, module.size_facts)
    return ModuleWriter(read, CONVERSIONS, symbols).module()


_OTHERS: Final = rf"(?:{'|'.join(OTHER_DIALECTS)})\.[a-z]"
"""Operations of dialects that a text may begin with."""

_BEGINNING: Final = re.compile(
    rf"""(?>(?:\s|//[^\n]*\n|\{{-\#.*?\#-\}}|[#!][\w.$]+\s*=[^\n]*\n)*)
    (?:module\b(?=\s*(?:@|attributes\b|\{{(?:\s|//[^\n]*\n)*(?:\}}|\#|"|func\.|sdy\.|{_OTHERS})))
    |"?(?:builtin\.module|func\.func|sdy\.mesh)\b
    |{_OTHERS})""",
    re.VERBOSE,
)
"""The beginning of a text of MLIR, whatever its dialect, so that errors speak of that.

Comments and names of locations, types and maps stand before it.

>>> texts = "module @jit_f {}", "sdy.mesh @m = <[]>", "tt.func @f() {}", "HloModule m", "tt.1 {}"
>>> [_BEGINNING.match(text) is not None for text in texts]
[True, True, True, False, False]
"""

OTHER_READERS[_BEGINNING] = parse
