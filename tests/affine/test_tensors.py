"""Operations on tensors: the element that each element of a result is, as NumPy moves labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from indexing import IndexingMap
from ops.affine import ArrayAccess, read_accesses

Labels: TypeAlias = "NDArray[Any]"


Moving: TypeAlias = "Callable[[Labels, Labels], Labels]"


class Moved(NamedTuple):
    """An operation on ``%a`` (and ``%b``), the same on arrays, and values of its parameters."""

    text: str
    reference: Moving
    shapes: tuple[tuple[int, ...], ...]
    sizes: Mapping[str, int] = {}


def _taken(*places: slice | int) -> Moving:
    def take(array: Labels, _: Labels) -> Labels:
        return np.asarray(array[places])

    return take


def _inserted(*places: slice | int) -> Moving:
    def insert(part: Labels, whole: Labels) -> Labels:
        made = whole.copy()
        made[places] = part
        return made

    return insert


PADDED = -1
"""The label of what belongs to no operand."""


def _padded(*widths: tuple[int, int]) -> Moving:
    def pad(array: Labels, _: Labels) -> Labels:
        return np.pad(array, widths, constant_values=PADDED)

    return pad


def _reshaped(*sizes: int) -> Moving:
    def reshape(array: Labels, _: Labels) -> Labels:
        return array.reshape(sizes)

    return reshape


def _joined(one: Labels, other: Labels) -> Labels:
    return np.concatenate([one, other], 1)


MOVED: Final[Mapping[str, Moved]] = {
    "slice": Moved(
        "tensor.extract_slice %a[1, 0] [3, 4] [2, 1] : tensor<8x4xf32> to tensor<3x4xf32>",
        _taken(slice(1, 6, 2), slice(0, 4)),
        ((8, 4),),
    ),
    "slice of values": Moved(
        "tensor.extract_slice %a[%o, 1] [%s, 2] [1, %t] : tensor<?x9xf32> to tensor<?x2xf32>",
        _taken(slice(2, 6), slice(1, 7, 4)),
        ((8, 9),),
        {"o": 2, "s": 4, "t": 4},
    ),
    "slice of a smaller rank": Moved(
        "tensor.extract_slice %a[0, 2, 1, 0] [1, 4, 1, 3] [1, 1, 1, 1]"
        " : tensor<1x8x4x3xf32> to tensor<4x3xf32>",
        _taken(0, slice(2, 6), 1, slice(0, 3)),
        ((1, 8, 4, 3),),
    ),
    "slice that keeps a size of one": Moved(
        "tensor.extract_slice %a[0, 2, 1] [1, 4, 1] [1, 1, 1]"
        " : tensor<1x8x4xf32> to tensor<1x4xf32>",
        _taken(slice(0, 1), slice(2, 6), 1),
        ((1, 8, 4),),
    ),
    "insert": Moved(
        "tensor.insert_slice %a into %b[1, %o] [2, 3] [3, 2]"
        " : tensor<2x3xf32> into tensor<8x9xf32>",
        _inserted(slice(1, 5, 3), slice(2, 8, 2)),
        ((2, 3), (8, 9)),
        {"o": 2},
    ),
    "insert of a smaller rank": Moved(
        "tensor.insert_slice %a into %b[0, 2, 0] [4, 1, 4] [1, 1, 1]"
        " : tensor<4x4xf32> into tensor<8x3x4xf32>",
        _inserted(slice(0, 4), 2),
        ((4, 4), (8, 3, 4)),
    ),
    "pad": Moved(
        """tensor.pad %a low[1, 0] high[2, %h] {
        ^bb0(%i: index, %j: index):
          tensor.yield %zero : f32
        } : tensor<3x4xf32> to tensor<6x?xf32>""",
        _padded((1, 2), (0, 3)),
        ((3, 4),),
        {"h": 3},
    ),
    "collapse": Moved(
        "tensor.collapse_shape %a [[0, 1], [2]] {tag} : tensor<2x?x4xf32> into tensor<?x4xf32>",
        _reshaped(6, 4),
        ((2, 3, 4),),
        {"a_size1": 3},
    ),
    "collapse to a scalar": Moved(
        "tensor.collapse_shape %a [] : tensor<1x1xf32> into tensor<f32>", _reshaped(), ((1, 1),)
    ),
    "expand": Moved(
        "tensor.expand_shape %a [[0, 1], [2]] output_shape [2, %n, 4]"
        " : tensor<?x4xf32> into tensor<2x?x4xf32>",
        _reshaped(2, 3, 4),
        ((6, 4),),
        {"a_size0": 6},
    ),
    "cast": Moved("tensor.cast %a : tensor<3x?xf32> to tensor<?x4xf32>", _taken(), ((3, 4),)),
    "concatenate": Moved(
        "tensor.concat dim(1) %a, %b : (tensor<2x3xf32>, tensor<2x?xf32>) -> tensor<2x?xf32>",
        _joined,
        ((2, 3), (2, 4)),
        {"b_size1": 4},
    ),
    "extract": Moved(
        "tensor.extract %a[%i, %j] : tensor<3x4xf32>", _taken(2, 1), ((3, 4),), {"i": 2, "j": 1}
    ),
}


def _maps(access: ArrayAccess, sizes: Mapping[str, int]) -> IndexingMap:
    assert isinstance(access.map, IndexingMap)
    names = [each.name for each in access.map.parameters]
    return access.map.substitute({name: sizes[name] for name in names})


@pytest.mark.parametrize("moved", MOVED.values(), ids=MOVED)
def test_an_element_is_the_one_that_its_map_leads_to(moved: Moved) -> None:
    (function,) = read_accesses(f"%r = {moved.text}")
    labels: list[Labels] = [
        np.arange(1000 * place, 1000 * place + prod(shape)).reshape(shape)
        for place, shape in enumerate(moved.shapes)
    ]
    expected = moved.reference(labels[0], labels[-1])
    arrays: dict[str, Labels] = dict(zip(("%a", "%b"), labels, strict=False))
    found = np.full(expected.shape, PADDED)
    for access in function.accesses:
        assert (access.kind, access.value) == ("read", "%r")
        for dims, _, _, results in _maps(access, moved.sizes).points():
            assert found[tuple(dims)] == PADDED
            found[tuple(dims)] = arrays[access.array][tuple(map(int, results))]
    assert np.array_equal(found, expected)


def test_an_operation_that_is_not_known_takes_away_itself() -> None:
    text = """
    func.func @f(%a: memref<8xf32>, %b: memref<4xf32>) {
      affine.for %i = 0 to 8 {
        %v = affine.vector_load %a[%i] : memref<8xf32>, vector<4xf32>
        affine.for %j = 0 to 4 {
          %0 = affine.load %b[%j] : memref<4xf32>
          affine.store %0, %b[%i] : memref<4xf32>
          memref.load %b[%i, %j] : memref<4xf32>
        }
        affine.store %1, %a[%i] : memref<8xf32>
      }
      return
    }"""
    (function,) = read_accesses(text)
    assert [str(each) for each in function.accesses if each.kind == "unknown"] == [
        "line 4: affine.vector_load: unknown (affine.vector_load is not known)",
        "line 8: memref.load: unknown (there are [1, 2] entries; expected as many of each)",
    ]
    answers = {array: str(answer) for array, answer in function.conflicts("i").items()}
    assert answers == {
        "%a": "unknown (affine.vector_load takes %a)",
        "%b": "unknown (memref.load takes %b)",
    }
