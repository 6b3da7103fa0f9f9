"""Hostile texts: what is written in the tables of the tests, cut, spliced, nested and garbled.

A reader gives a value, which is written and read back as the same, or a ``TextError`` that points
into the text. Nothing else is raised, by the reader or by questions about what it has read.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache, partial
from random import Random
from time import process_time
from typing import Any, Final
from warnings import catch_warnings

import ops
from benchmarks.problems import CONFORMANCE, happens
from indexing import MapError, from_affine_map, from_isl, parse_map
from indexing.layout import (
    PaddedLayout,
    Shape,
    ShapeError,
    array_size,
    layout_picture,
    linear_to_logical,
    logical_to_linear,
    logical_to_physical,
    strides,
)
from ops import hlo
from simplifier import (
    IndexingError,
    TextError,
    TextWarning,
    bounds_of,
    cost,
    format_expr,
    parse_expr,
    simplify,
)

MAX_SECONDS: Final = 5.0
"""More processor time than this for a text of a few thousand characters is a failure."""

MAX_LENGTH: Final = 3000
"""Longer texts are not garbled: each takes the time of many short ones."""

MAX_MESSAGE: Final = 2000
"""People do not read longer messages."""


@dataclass(frozen=True, slots=True)
class Language:
    """How texts of one kind are read and written, and what is asked about what was read."""

    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    questions: Mapping[str, Callable[[Any], object]] = field(default_factory=dict[str, Any])
    refusals: tuple[type[IndexingError], ...] = (TextError,)
    """The errors of the reader."""
    read_back: Callable[[str], Any] | None = None
    """The reader of what is written, if it is another."""


_OF_MAPS: Final[Mapping[str, Callable[[Any], object]]] = {
    "simplify": lambda read: read.simplify(),
    "inverse": lambda read: read.inverse(),
    "result_bounds": lambda read: read.result_bounds(),
    "rescale_symbols": lambda read: read.rescale_symbols(),
    "is_empty": lambda read: read.is_empty(),
    "sample": lambda read: read.sample(),
    "to_affine_map": lambda read: read.to_affine_map(),
    "to_affine_set": lambda read: read.to_affine_set(),
    "to_c": lambda read: read.to_c(),
    "to_isl": lambda read: read.to_isl(),
    "to_numpy": lambda read: read.to_numpy(),
    "to_triton": lambda read: read.to_triton(),
    "pickle": lambda read: pickle.loads(pickle.dumps(read)),  # noqa: S301 - our own
}
_OF_EXPRESSIONS: Final[Mapping[str, Callable[[Any], object]]] = {
    "simplify": lambda read: simplify(read, {}),
    "simplify exactly": lambda read: simplify(read, {}, exact=True),
    "bounds_of": lambda read: bounds_of(read, {}),
    "cost": cost,
}
_OF_SHAPES: Final[Mapping[str, Callable[[Any], object]]] = {
    "array_size": array_size,
    "linear_to_logical": linear_to_logical,
    "logical_to_linear": logical_to_linear,
    "logical_to_physical": logical_to_physical,
    "strides": strides,
    "picture": layout_picture,
}


class _Module:
    """A module, which is equal to another if it is written the same."""

    def __init__(self, module: hlo.HloModule) -> None:
        self.module = module

    def __str__(self) -> str:
        return str(self.module)

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def analyze(self) -> None:
        """Ask for all maps."""
        ops.analyze(self.module)


def _read_module(text: str) -> _Module:
    """The module of a text; names in it that nobody knows are kept, and are no news here."""
    with catch_warnings(action="ignore", category=TextWarning):
        return _Module(hlo.parse(text))


LANGUAGES: Final[Mapping[str, Language]] = {
    "maps": Language(parse_map, questions=_OF_MAPS),
    "affine maps": Language(
        from_affine_map, refusals=(TextError, MapError), read_back=parse_map, questions=_OF_MAPS
    ),
    "isl": Language(from_isl, refusals=(IndexingError,), read_back=parse_map),
    "expressions": Language(parse_expr, format_expr, _OF_EXPRESSIONS),
    "shapes": Language(Shape.parse, questions=_OF_SHAPES),
    "padded layouts": Language(PaddedLayout.parse, refusals=(TextError, ShapeError)),
    "modules": Language(_read_module, questions={"analyze": lambda read: read.analyze()}),
}


@dataclass(frozen=True, slots=True)
class TextCase:
    """A text, and the name of the language that it should be in."""

    language: str
    text: str

    @property
    def row(self) -> str:
        """The arguments of a row of a table of tests."""
        return f'"{self.language}", {self.text!a}'

    def without_idle_variables(self) -> TextCase:
        """The case itself: any character may matter."""
        return self

    def neighbours(self) -> Iterator[TextCase]:
        """The text with a part left out, long parts first."""
        size = len(self.text)
        while size:
            for start in range(0, len(self.text), size):
                yield TextCase(self.language, self.text[:start] + self.text[start + size :])
            size //= 2


# What is garbled.


@lru_cache
def _written() -> tuple[str, ...]:
    """All texts in the tables of the tests."""
    tables = sorted(CONFORMANCE.parents[1].glob("*/*.jsonl"))
    rows = [json.loads(line) for path in tables for line in path.read_text("utf-8").splitlines()]
    return tuple(dict.fromkeys(text for row in rows for text in _strings(row)))


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) <= MAX_LENGTH:
            yield value
    elif isinstance(value, dict | list):
        parts: list[object] = [*(value.values() if isinstance(value, dict) else value)]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType] - of JSON
        for part in parts:
            yield from _strings(part)


@lru_cache
def seeds(language: str) -> tuple[str, ...]:
    """The texts that are read, each once."""
    if language == "isl":
        texts = [*_EXAMPLES[language], *filter(None, map(_in_isl, seeds("maps")))]
        return tuple(dict.fromkeys(texts))
    texts = [*_written(), *_EXAMPLES.get(language, ())]
    if language == "shapes":
        texts += sorted({shape for text in texts for shape in re.findall(_SHAPE, text)})
    return tuple(text for text in dict.fromkeys(texts) if _is_read(language, text))


_SHAPE: Final = r"\w+\[[\d,<=]*\](?:\{[^{}\s]*\})?"

_SHORT: Final = 100

_EXAMPLES: Final[Mapping[str, Sequence[str]]] = {
    "affine maps": (
        "affine_map<(i, j)[n] -> (i * 8 + n, j floordiv 4, (i + j) mod 3)>",
        "(d0, d1) -> (d0 ceildiv 2 + d1 * -3, max(d0, 4))",
    ),
    "isl": (
        "[n] -> { [i] -> [floor(i/8), i mod 8] : 0 <= i < 64 and i < n }",
        "{ [i, j] -> [8i + k] : 0 <= i < 4 and 0 <= j <= 3 and 2k <= j < 2k + 2 }",
        "{ A[i] : i >= 0; A[i] : i < -4 }",
    ),
    "padded layouts": (
        "minor_to_major: 0 minor_to_major: 1 padded_dimensions: 8 padded_dimensions: 16",
        "minor_to_major: 1 minor_to_major: 0 padding_value: ZERO_PAD",
    ),
}


def _in_isl(text: str) -> str:
    """A short map as isl writes it: what isl takes long for is no matter of reading."""
    if len(text) < _SHORT:
        with suppress(IndexingError):
            return str(parse_map(text).to_isl())
    return ""


def _is_read(language: str, text: str) -> bool:
    with suppress(IndexingError):
        LANGUAGES[language].read(text)
        return True
    return False


# How it is garbled.


def _span(random: Random, text: str, most: int = 40) -> tuple[int, int]:
    start = random.randint(0, len(text))
    return start, min(len(text), start + random.choice((0, 1, 1, 2, 5, 12, most)))


def _without(random: Random, text: str, _: str) -> str:
    start, stop = _span(random, text)
    return text[:start] + text[stop:]


def _cut(random: Random, text: str, _: str) -> str:
    return text[: random.randint(0, len(text))]


def _doubled(random: Random, text: str, _: str) -> str:
    start, stop = _span(random, text, 300)
    return text[:stop] + text[start:stop] * random.choice((1, 1, 1, 2, 30)) + text[stop:]


def _spliced(random: Random, text: str, other: str) -> str:
    start, stop = _span(random, text)
    first, last = _span(random, other, 300)
    return text[:start] + other[first:last] + text[stop:]


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+|\s+|[^\w\s]", text)


def _swapped(random: Random, text: str, _: str) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    one, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _replaced(random: Random, text: str, other: str) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    tokens[random.randrange(len(tokens))] = random.choice(_tokens(other) or [""])
    return "".join(tokens)


def _renumbered(random: Random, text: str, _: str) -> str:
    found = [*re.finditer(r"\d+", text)]
    if not found:
        return text
    place = random.choice(found)
    return text[: place.start()] + random.choice(_NUMBERS) + text[place.end() :]


def _exchanged(random: Random, text: str, _: str) -> str:
    """Two numbers or two names change places, so that the text may still be read."""
    tokens = re.findall(r"\d+|[^\W\d]\w*|\s+|.", text)
    kind = random.choice((str.isdigit, str.isidentifier))
    places = [place for place, token in enumerate(tokens) if kind(token)]
    if len(places) > 1:
        one, other = random.sample(places, 2)
        tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def _nested(random: Random, text: str, _: str) -> str:
    start, stop = _span(random, text, 300)
    opening, closing = random.choice(_BRACKETS)
    times = random.choice((1, 2, 10, 100, 1000))
    return text[:start] + opening * times + text[start:stop] + closing * times + text[stop:]


def _garbled(random: Random, text: str, _: str) -> str:
    start, stop = _span(random, text, 3)
    return text[:start] + random.choice(_PIECES) + text[stop:]


_NUMBERS: Final = (
    *map(str, (*range(17), 31, 32, 33, 64, 100, 127, 128, 255, 256, 1000, 1024, 4096, 65536)),
    *("0", "-1", "1", "2", "00", "1e9", "0x10", "1.5", "-0", "9" * 40, "-" + "7" * 40, "1" * 5000),
    *(str(2**31), str(2**63 - 1), str(2**63), str(2**64), str(-(2**63)), "inf", "-inf", "nan"),
)
_BRACKETS: Final = (
    *(("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("max(", ")"), ("(0 + ", ")"), ("((", ")")),
    *(("1 + ", ""), ("", " mod 2"), ("{(", ")}"), ('"', '"'), ("/*", "*/")),
)
_PIECES: Final = (
    *"(){}[]<>,:;=+-*/%#@!?&|^~.\"'\\\n\r\t\0\x1b\x7f",
    *("->", "//", "/*", "*/", "==", "<=", " in ", " mod ", " floordiv ", "min(", "max(", "domain:"),
    *"éß²٣\N{ASTERISK OPERATOR}\N{MINUS SIGN}\u202e\u200b\ufeff\U0001f600\ud800\xa0",
    *("ROOT ", "f32[", "token[]", "KNOWN EMPTY", "d0", "s0", "rt0", "None", "__class__", "lambda"),
)
_GARBLERS: Final = (
    *(_without, _cut, _doubled, _spliced, _swapped, _replaced, _renumbered, _nested, _garbled),
)
_GENTLE: Final = (_renumbered, _exchanged)


def drawn(random: Random, *, language: str) -> TextCase:
    """A text of a language, garbled one to four times, half of them gently."""
    known = seeds(language)
    text = random.choice(known)
    garblers = _GENTLE if happens(random, 0.5) else _GARBLERS
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 4))):
        other = random.choice(known if happens(random, 0.8) else _written())
        text = random.choice(garblers)(random, text, other)
    return TextCase(language, text)


# Checks.


def _is_read_or_refused(case: TextCase) -> str | None:
    language, start = LANGUAGES[case.language], process_time()
    try:
        read = language.read(case.text)
    except language.refusals as error:
        return _fault_of(error, case.text)
    finally:
        seconds = process_time() - start
    if seconds > MAX_SECONDS:
        return f"is read in {seconds:.1f} s"
    written = language.write(read)
    again = (language.read_back or language.read)(written)
    return None if again == read else f"is read as {written}, and that as {language.write(again)}"


def _fault_of(error: IndexingError, text: str) -> str | None:
    """What is wrong with an error, if something is."""
    said = str(error)
    if not said or len(said) > MAX_MESSAGE:
        return f"the message has {len(said)} characters"
    if isinstance(error, TextError) and not 0 <= error.span.start <= len(text):
        return f"the error is at {error.span}, which is not in the text"
    return None


def _answers(case: TextCase) -> str | None:
    """Questions about what is read end, with an answer or an error of ours."""
    language = LANGUAGES[case.language]
    try:
        read = language.read(case.text)
    except language.refusals:
        return None
    wrong = (_fault_in(name, ask, read) for name, ask in language.questions.items())
    return next(filter(None, wrong), None)


def _fault_in(name: str, ask: Callable[[Any], object], read: object) -> str | None:
    start = process_time()
    try:
        ask(read)
    except IndexingError as error:
        if len(str(error)) > MAX_MESSAGE:
            return f"{name}: the message has {len(str(error))} characters"
    except TimeoutError:
        raise
    except Exception as error:  # noqa: BLE001 - any other exception is a find
        return f"{name}: {type(error).__name__}: {error}"
    seconds = process_time() - start
    return f"{name} takes {seconds:.1f} s" if seconds > MAX_SECONDS else None


KINDS: Final[Mapping[str, Callable[[Random], TextCase]]] = {
    name: partial(drawn, language=name) for name in LANGUAGES
}
"""The kinds of texts."""

CHECKS: Final[Mapping[str, Callable[[TextCase], str | None]]] = {
    "read or refused": _is_read_or_refused,
    "answers": _answers,
}
"""What is checked of each text."""
