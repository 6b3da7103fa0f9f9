"""Maps that code is made of, and programs that are made of this code."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.indexing.tables import texts

Array = np.ndarray[Any, Any]

MAPS = texts("""
no variables: () -> (3, -2)
no results: (d0 < 4) -> ()
identity: (d0 < 4, d1 in [-2, 2]) -> (d1, d0)
natural quotients: (d0 < 10, d1 < 7) -> ((d0 * 7 + d1) floordiv 5, (d0 * 7 + d1) mod 5 * 3, d1
        floordiv 2 + d0)
negative numerators and divisors: (d0 in [-13, 13]) -> (d0 floordiv 4, d0 mod 4, d0 floordiv -4, d0
        % -4, -(d0 floordiv 3), d0 ceildiv 3, d0 ceildiv -3, (d0 floordiv 2) * -3)
divided by variables: (d0 in [-9, 9])[s0 in [1, 5]] -> (d0 floordiv s0, d0 mod s0, d0 ceildiv s0)
by negative variables: (d0 in [-9, 9])[s0 in [-5, -1]] -> (d0 floordiv s0, d0 mod s0, d0 ceildiv s0)
extrema: (d0 in [-4, 4])[s0 < 4]{rt0 in [-1, 1]} -> (min(d0, s0, rt0) * 2, max(d0 + 1, -s0),
        -min(d0, 3) floordiv 2)
products: (d0 in [-4, 4])[s0 in [-3, 3]] -> (d0 * s0 * 3, -(d0 * s0), (d0 * s0) floordiv 2)
constraints: (d0 in [-5, 5])[s0 < 4] -> (d0 * 4 + s0), domain: (d0 * 4 + s0) mod 3 in [1, 1], d0 +
        s0 in [0, 5], d0 floordiv 3 in [0, 1]
one-sided constraints: (d0 < 6)[s0 < 6] -> (d0 - s0), domain: d0 - s0 in [-inf, 2], d0 * 3 - s0 in
        [1, inf]
shared parts: (d0 in [-20, 20]) -> ((d0 floordiv 3) * 2 + (d0 floordiv 3) mod 4, min(d0 floordiv 3,
        2))
names of the languages: (float < 4, t0 < 4)[minimum in [-3, 3]] -> (float floordiv 2 + t0, minimum
        mod 2)
names that say something: (row in [-3, 3], t0 < 4) -> ((row + t0) floordiv 3 * 2, (row + t0)
        floordiv 3)
choices in functions of bits and comparisons: (d0 in [-7, 7], d1 in [-3, 3]) -> (bitor(d0, select(d1
        != 0, d0 floordiv d1, 5)), (select(d1 > 0, d0 mod d1, d0) >= 2) * 8)
choices where no point is: (d0 in [-5, 6], d1 < 5) -> (select(d0 < 9, -3, d1) mod 3), domain:
        bitor(max(d1, 9), 0) in [-9, 2]
empty: (d0) -> (d0), domain: KNOWN EMPTY
""")


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"there is no {program}")


def shared_library(text: str, folder: Path) -> ctypes.CDLL:
    """The compiled C of a text, where a warning and what C does not define are errors."""
    strict = ["-Wall", "-Wextra", "-Werror"]
    unused = [f"-Wno-unused-{what}" for what in ("function", "parameter", "variable")]
    checked = ["-fsanitize=undefined", "-fno-sanitize-recover"]
    source, made = folder / "map.c", folder / "map.so"
    source.write_text(text)
    command = ["cc", "-std=c11", *strict, *unused, *checked, "-shared", "-fPIC", "-o", str(made)]
    subprocess.run([*command, str(source)], check=True)
    return ctypes.CDLL(str(made))


def run_node(text: str, script: Path) -> str:
    """What a text of JavaScript prints."""
    script.write_text(text)
    command = ["node", str(script)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
