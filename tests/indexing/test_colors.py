"""Colors that mean something differ for the color-blind, too.

Each color is seen as without one kind of cones, by the matrices of Machado, Oliveira and Fernandes
(A Physiologically-based Model for Simulation of Color Vision Deficiency, 2009, severity 1), and
compared in CIELAB, with a white of D65.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import Final

import numpy as np

from indexing.pictures.svg import STYLES
from tests.cases import for_all

VISIONS: Final = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}

XYZ_OF_RGB: Final = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
WHITE: Final = (0.95047, 1.0, 1.08883)

APART: Final = 8
"""A distance of 2 can just be seen, side by side; neighbours on these scales are far from that."""

PICTURES: Final = {
    "layouts": "tile",
    "outlines": "outline",
    "reads": "untouched chosen heat",
    "loads": "wanted shared loaded untouched",
    "graphs": "box source",
}
"""The beginnings of the classes that stand side by side in a picture."""


def lab(color: str, vision: str) -> np.ndarray:
    """A color in CIELAB, as it is seen."""
    given = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(given > 0.04045, ((given + 0.055) / 1.055) ** 2.4, given / 12.92)
    seen = np.clip(np.array(VISIONS[vision]) @ linear, 0, 1)
    ratio = np.array(XYZ_OF_RGB) @ seen / np.array(WHITE)
    root = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * root[1] - 16, 500 * (root[0] - root[1]), 200 * (root[1] - root[2])])


def distance(one: str, other: str, vision: str) -> float:
    """How far apart two colors look."""
    return float(np.linalg.norm(lab(one, vision) - lab(other, vision)))


@for_all([*product(PICTURES, VISIONS)])
def test_colors_that_mean_something_differ(name: str, vision: str) -> None:
    stems = tuple(PICTURES[name].split())
    chosen = [(each.light, each.dark) for key, each in STYLES.items() if key.startswith(stems)]
    assert len(chosen) > 1
    for ground in zip(*chosen, strict=True):
        for one, other in combinations(ground, 2):
            assert distance(one, other, vision) >= APART, (one, other)


def test_red_and_green_are_close_for_some() -> None:
    """The distance sees what such a reader sees."""
    assert distance("#c8102e", "#1a7f37", "all cones") > 100
    assert distance("#c8102e", "#1a7f37", "deuteranopia") < 15
