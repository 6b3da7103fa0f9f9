"""The schema as the tests read it, the objects in it, and their lists in docs/json.md.

Run as a program, it writes the lists.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ops.cli.commands import schema_text
from tests.cli.command_line import Json
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "json.md"
FIELDS: Final = "fields"
"""The name of the marks around the lists."""

SCHEMA: Final[Json] = json.loads(schema_text())
OBJECTS: Final[dict[str, Json]] = {
    name: definition for name, definition in SCHEMA["$defs"].items() if "properties" in definition
}
"""The definitions of objects, by name."""


def definition_of(reference: str) -> Json:
    found: Json = SCHEMA["$defs"][reference.removeprefix("#/$defs/")]
    return found


def description_of(field: Json) -> str:
    """What a field means, as it says itself or what it refers to."""
    if "description" not in field and "$ref" in field:
        return description_of(definition_of(field["$ref"]))
    return field.get("description", "")


DOCUMENT: Final = "The document of "
"""How the titles of the documents of commands begin."""


def lists() -> str:
    """The documents of commands, then each object in them, with the names and values of fields."""
    titles = {name: definition["title"] for name, definition in OBJECTS.items()}
    documents = {name: title for name, title in titles.items() if title.startswith(DOCUMENT)}
    entries = {name for name, title in titles.items() if title.endswith("of one module of several")}
    said = {*documents, *entries}
    single = [name for name in documents if not name.endswith("_of_many")]
    shared = Counter(field for name in single for field in _fields(OBJECTS[name]))
    common = [field for field, count in shared.items() if count > len(single) // 2]
    lines = [f"most documents: {', '.join(common)}", ""]
    for name in single:
        what = documents[name].removeprefix(DOCUMENT).removesuffix(" for one file")
        own = [field for field in _fields(OBJECTS[name]) if field not in common]
        lines.append(f"{what}: {', '.join(own)}")
    for name in (name for name in OBJECTS if name not in said):
        lines += ["", f"{_title(OBJECTS[name])}:", f"  {', '.join(_fields(OBJECTS[name]))}"]
    return "\n".join(["```text", *lines, "```", ""])


def _fields(definition: Json) -> Iterator[str]:
    """Each field with its value, ``shape string``; behind a field that may be missing is a mark."""
    if "$ref" in definition:
        yield f"those of {_title(definition_of(definition['$ref']))}"
    for name, field in definition["properties"].items():
        if name != "command":
            yield f"{name}{'' if name in definition['required'] else '?'} {_value(field)}"


def _value(field: Json) -> str:
    if "$ref" in field:
        target = definition_of(field["$ref"])
        return _title(target) if "title" in target else _value(target)
    if "anyOf" in field:
        return " or ".join(_value(choice) for choice in field["anyOf"])
    values = [field["const"]] if "const" in field else field.get("enum")
    if values:
        return " or ".join(json.dumps(value) for value in values)
    kinds: str | list[str] = field["type"]
    several = [kinds] if isinstance(kinds, str) else kinds
    names = {"array": f"[{_value(field['items'])}]"} if "array" in several else {}
    return " or ".join(names.get(kind, kind) for kind in several)


def _title(definition: Json) -> str:
    title: str = definition["title"]
    return f"{title[0].lower()}{title[1:]}"


def with_lists(page: str) -> str:
    return with_generated(page, FIELDS, lists())


if __name__ == "__main__":
    PAGE.write_text(with_lists(PAGE.read_text("utf-8")), "utf-8")
