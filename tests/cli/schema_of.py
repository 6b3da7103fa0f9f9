"""The schema as the tests read it, the objects in it, and their tables in docs/json.md.

Run as a program, it writes the tables.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from ops.cli.commands import schema_text
from tests.cli.command_line import Json
from tests.pages import with_generated

PAGE: Final = Path(__file__).parents[2] / "docs" / "json.md"
FIELDS: Final = "fields"
"""The name of the marks around the tables."""

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


def tables() -> str:
    """The documents of commands as one table, and each object in them."""
    titles = {name: definition["title"] for name, definition in OBJECTS.items()}
    documents = {name: title for name, title in titles.items() if title.startswith(DOCUMENT)}
    entries = {name for name, title in titles.items() if title.endswith("of one module of several")}
    said = [*documents, *entries, *(f"{name}_of_many" for name in documents)]
    single = [name for name in documents if not name.endswith("_of_many")]
    shared = Counter(field for name in single for field in _fields(OBJECTS[name]).items())
    common = {field for (field, _), count in shared.items() if count > len(single) // 2}
    rest = [OBJECTS[name] for name in OBJECTS if name not in said]
    first = OBJECTS[next(iter(documents))]
    lines = [
        *_table("Fields of most documents", first, only=common),
        "### Documents of commands",
        "",
    ]
    lines += ["| command | fields besides |", "| --- | --- |"]
    for name in single:
        fields = _fields(OBJECTS[name], besides=common).values()
        what = documents[name].removeprefix(DOCUMENT).removesuffix(" for one file")
        lines.append(f"| {what} | {'<br>'.join(fields)} |")
    lines.append("")
    return "\n".join(chain(lines, *(_table(each["title"], each) for each in rest)))


def _fields(definition: Json, besides: Collection[str] = ()) -> dict[str, str]:
    """Each field and what it means, in one line."""
    return {
        name: f"`{name}` ({_value(field)}): {description_of(field)}"
        for name, field in definition["properties"].items()
        if name not in {"command", *besides}
    }


def _table(title: str, definition: Json, only: Collection[str] = ()) -> Iterator[str]:
    yield from (f"### {title}", "")
    if "$ref" in definition:
        yield from (f"What {_link(definition['$ref'])} has, and:", "")
    yield from ("| field | value | meaning |", "| --- | --- | --- |")
    for name, field in definition["properties"].items():
        if not only or name in only:
            needed = name in definition["required"]
            value = _value(field) if needed else f"{_value(field)}, or missing"
            yield f"| `{name}` | {value} | {description_of(field)} |"
    yield ""


def _value(field: Json) -> str:
    if "$ref" in field:
        target = definition_of(field["$ref"])
        return _link(field["$ref"]) if "title" in target else _value(target)
    if "anyOf" in field:
        return " or ".join(_value(choice) for choice in field["anyOf"])
    values = [field["const"]] if "const" in field else field.get("enum")
    if values:
        return " or ".join(f"`{json.dumps(value)}`" for value in values)
    kinds: str | list[str] = field["type"]
    several = [kinds] if isinstance(kinds, str) else kinds
    names = {"array": f"list of {_value(field['items'])}"} if "array" in several else {}
    return " or ".join(names.get(kind, kind) for kind in several)


def _link(reference: str) -> str:
    title: str = definition_of(reference)["title"]
    shown = f"{title[0].lower()}{title[1:]}"
    return f"[{shown}](#{shown.replace(' ', '-')})"


def with_tables(page: str) -> str:
    return with_generated(page, FIELDS, tables())


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text("utf-8")), "utf-8")
