"""Operations on tensors: the element that each element of a result is, as NumPy moves labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from indexing import IndexingMap, MapError
from ops.affine import ArrayAccess, MlirTextError, read_accesses

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
        "%a": "unknown (affine.vector_load may change %a)",
        "%b": "unknown (memref.load may change %b)",
    }


ODD: Final = {
    "tensor.insert_slice %a into %b[] [] [] : tensor<f32> into tensor<f32>": ["() -> ()", "EMPTY"],
    "memref.reinterpret_cast %a to offset: [0], sizes: [2], strides: [1]"
    " : memref<4xf32, strided<[2]>> to memref<2xf32>": ["unknown (the memory of %a is not known)"],
    "memref.transpose %a (i, j) -> (i, i) : memref<2x3xf32> to memref<2x2xf32>": [
        "the axes are no permutation"
    ],
    "memref.subview %a[0] [1] [1] : memref<2x3xf32> to memref<1xf32>": ["[2, 1] entries"],
    "memref.alloc() : memref<?xf32>": ["[1, 0] entries"],
    "affine.apply affine_map<(d0) -> (d0)>()": ["[1, 0] entries"],
    "affine.min affine_map<() -> ()>()": ["a map has no results"],
    "tensor.collapse_shape %a [[0]] : tensor<2x3xf32> into tensor<6xf32>": ["expected 1 groups"],
    "tensor.cast %a : tensor<*xf32> to tensor<2xf32>": ["[1, 0] entries"],
    "memref.load %a[%i] : none": ["an array has a type without sizes"],
}
"""Operations of odd forms, and a part of what each access is."""


@pytest.mark.parametrize("text", ODD)
def test_odd_operations_say_what_they_are(text: str) -> None:
    (function,) = read_accesses(f"%r = {text}")
    texts = [str(each) for each in function.accesses]
    assert len(texts) == len(ODD[text])
    assert all(part in found for part, found in zip(ODD[text], texts, strict=True)), texts


WRONG: Final = {
    "affine.for %i = 0 until 4 {}": "expected 'to', but found 'until'",
    "affine.for %i = #low(%j) to 4 {}": "expected an affine_map",
    "affine.if affine_set<(d0) : (d0 > 0)>(%i) {}": "expected",
    "affine.load %a[%i * %j mod 0] : memref<4xf32>": "mod",
    "memref.store %x %a[%i] : memref<4xf32>": "expected ','",
    "tensor.concat dim 1 %a : (tensor<4xf32>) -> tensor<4xf32>": "'[' before indices",
}


@pytest.mark.parametrize("text", WRONG)
def test_errors_point_at_their_place(text: str) -> None:
    with pytest.raises(MlirTextError) as caught:
        read_accesses(f"func.func @f() {{\n  {text}\n}}", "f.mlir")
    assert WRONG[text] in caught.value.message
    assert str(caught.value).startswith("f.mlir:2:")
    assert "^" in str(caught.value)


def test_a_call_takes_arrays() -> None:
    text = """
    affine.for %i = 0 to 4 {
      affine.store %x, %a[0] : memref<4xf32>
      call @print(%a) : (memref<4xf32>) -> ()
    }"""
    (function,) = read_accesses(text)
    assert str(function.conflicts("i")["%a"]) == "unknown (call may change %a)"
    with pytest.raises(MapError, match="there is no loop 'j'"):
        function.conflicts("j")
    (function,) = read_accesses(text.replace("affine.store %x,", "affine.load"))
    with pytest.raises(MapError, match="the access is no write"):
        function.reads(function.accesses[0])


def test_what_may_happen_less_often_says_why() -> None:
    text = """
    func.func @f(%a: memref<9xf32>, %i: memref<9xindex>, %c: i1, %s: index) {
      %c0 = arith.constant 0 : index
      scf.for %k = %c0 to %n step %s {
        %at = memref.load %i[%k] : memref<9xindex>
        scf.if %c { memref.store %x, %a[%at] : memref<9xf32> } else { }
      }
      cf.br ^bb1(%c0 : index)
    ^bb1(%m: index):
      memref.store %x, %a[%m] : memref<9xf32>
      return
    }"""
    (function,) = read_accesses(text)
    load, store, last = function.accesses
    assert load.approximation == "the step of %k is not known to be a positive number"
    assert str(store.map).startswith("(k){at}<n> -> (at), domain: k in [0, n - 1]")
    assert last.approximation == "a block may run any number of times"
    assert str(last.map) == "(){m} -> (m), domain: m in [-inf, inf]"


def test_an_array_may_have_another_name() -> None:
    text = """
    %g = memref.get_global @g : memref<4xf32>
    %v = memref.view %a[%o][] : memref<16xi8> to memref<4xf32>
    %w = affine.for %i = 0 to 4 iter_args(%u = %b) -> (memref<4xf32>) {
      affine.store %x, %g[0] : memref<4xf32>
      affine.store %x, %v[0] : memref<4xf32>
      affine.store %x, %b[0] : memref<4xf32>
      affine.store %x, %c[%i] : memref<4xf32>
      affine.yield %u : memref<4xf32>
    }"""
    (function,) = read_accesses(text)
    assert {array: str(answer) for array, answer in function.conflicts("i").items()} == {
        "%g": "unknown (memref.get_global may change %g)",
        "%v": "unknown (memref.view may change %v)",
        "%b": "unknown (affine.for may change %b)",
    }


def test_older_texts_leave_dialects_out() -> None:
    text = """
    func @f(%n: index) {
      %c0 = constant 0 : index
      %a = alloc(%n) : memref<?x4xf32>
      affine.for %i = 0 to %n {
        %m = dim %a, 1 : memref<?x4xf32>
        affine.for %j = 0 to %m {
          %x = load %a[%i, %j] : memref<?x4xf32>
          store %x, %a[%i, %c0] : memref<?x4xf32>
        }
      }
      return
    }"""
    (function,) = read_accesses(text)
    load, store = function.accesses
    domain = "domain: i in [0, n - 1], j in [0, 3], n in [1, inf]"
    assert str(load.map) == f"(i, j)<n> -> (i, j), {domain}"
    assert str(store.map) == f"(i, j)<n> -> (i, 0), {domain}"
    assert [*function.conflicts("j")] == ["%a"]
    assert not function.conflicts("i")
