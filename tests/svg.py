"""SVG as tests read it: whole, alone, and with all texts inside."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from typing import Final

SVG: Final = "{http://www.w3.org/2000/svg}"


def parsed(svg: str) -> ET.Element:
    return ET.fromstring(svg)  # noqa: S314 - we wrote it


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def path_of(root: ET.Element, class_: str) -> str:
    return "".join(
        path.get("d", "") for path in root.iter(f"{SVG}path") if path.get("class") == class_
    )


def check_is_alone(svg: str) -> None:
    """The picture loads nothing and runs nothing."""
    assert not re.findall(r"href|url\(|@import|<script|https?:", svg.replace(SVG[1:-1], ""))


def check_nothing_lies_outside(root: ET.Element) -> None:
    """The picture has room for all its texts."""
    width, height = float(root.get("width", 0)), float(root.get("height", 0))
    assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
    for x, y, content, anchor in written(root, 0, 0):
        length = 6.5 * len(content)
        start = x - {"start": 0, "middle": length / 2, "end": length}[anchor]
        assert 0 <= start <= start + length <= width, content
        assert 0 < y < height, content


def cells_of(root: ET.Element, class_: str) -> int:
    """How many rectangles have a class, without those of the legend."""
    commands = path_of(root, class_)
    return commands.count("z") - commands.count("M1 1h24v14h-24z")


def written(element: ET.Element, x: float, y: float) -> list[tuple[float, float, str, str]]:
    """All texts with their places in the picture."""
    moved = re.match(r"translate\((\S+) (\S+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    found = [each for child in element for each in written(child, x, y)]
    if element.tag == f"{SVG}text":
        place = (x + float(element.get("x", 0)), y + float(element.get("y", 0)))
        found.append((*place, element.text or "", element.get("text-anchor", "start")))
    return found
