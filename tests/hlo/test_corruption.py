"""Damaged texts: each is read as a module, or refused with one clear message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ops import hlo
from simplifier.errors import IndexingError
from tests.cases import for_all
from tests.hlo.modules import NAMES, module_text

pytestmark = pytest.mark.filterwarnings("ignore::simplifier.TextWarning")

SMALL = [name for name in NAMES if len(module_text(name)) < 12_000]

PIECES = st.sampled_from(
    [*'{}()[]",=%:_x-.?<>*#\\/\n\0é', "ROOT ", "f32", "1e9", "9" * 40, "/*", "//", "-start", "nan"]
)


@st.composite
def corrupted(draw: st.DrawFn) -> str:
    """A real module with some characters lost, doubled or replaced."""
    text = module_text(draw(st.sampled_from(SMALL)))
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 80)))
        middle = draw(st.sampled_from(["", text[start:stop] * 2]) | PIECES)
        text = text[:start] + middle + text[stop:]
    return text


def outcome(text: str) -> hlo.HloModule | IndexingError:
    """The module, or the error; anything else that is raised fails the test."""
    try:
        return hlo.parse(text)
    except IndexingError as error:
        return error


@given(text=corrupted())
def test_a_corrupted_module_is_read_or_refused(text: str) -> None:
    result = outcome(text)
    assert len(str(result)) > 0
    if isinstance(result, hlo.HloModule):
        assert str(hlo.parse(str(result))) == str(result)


@given(name=st.sampled_from(SMALL), data=st.data())
def test_a_module_that_is_cut_off_is_refused(name: str, data: st.DataObject) -> None:
    text = module_text(name).rstrip()
    assert "entry_computation_layout" in text  # without it, a text may end between computations
    stop = data.draw(st.integers(1, len(text) - 1))
    result = outcome(text[:stop])
    assert isinstance(result, hlo.HloTextError)
    assert result.span.start <= stop


@given(text=st.lists(PIECES, max_size=200).map("".join))
def test_noise_is_refused(text: str) -> None:
    assert isinstance(outcome(text), hlo.HloTextError)


@for_all(range(1, 300, 3))
def test_every_prefix_of_a_module_is_refused(stop: int) -> None:
    text = "ENTRY e { a = (f32[2]{0:T(2)S(1)}, pred[]) parameter(0), sharding={{replicated}, {m}} "
    text += (
        "b = f32[2] get-tuple-element(a), index=0, metadata={op_name='x' source_line=3} /* b */ "
    )
    text += 'ROOT c = f32[2] slice(b), slice={[0:2:1]}, frontend_attributes={k={a = [1]},l="\\""} }'
    if stop < len(text):
        assert isinstance(outcome(text[:stop]), hlo.HloTextError)
    assert isinstance(outcome(text), hlo.HloModule)
