"""Runtime variables that are no variables: their values are known before the program runs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from indexing import IndexingMap, Variable
from ops.analysis.dependences import dependence_of, device_of, devices_in
from ops.devices.numbering import is_asking_device
from ops.rules.constant_folding import clamped, value_of
from simplifier import Interval
from simplifier.expr import form as forms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ops.analysis.answers import OperandIndexing, RuntimeOrigin
    from ops.devices.numbering import Devices
    from simplifier.expr.form import Form


def with_known_values(way: OperandIndexing) -> OperandIndexing:
    """The same with the values that are known in place of their runtime variables, simplified.

    A value is clamped as the operation does it, and what the map says of the variable holds for
    the value. What is computed from the number of the device is known as well, if the program says
    that it runs on several. Where none is known, the dependence stays as it is.

    >>> from ops import hlo, output_to_input
    >>> text = "ENTRY e { x = f32[9] parameter(0) i = s32[4] iota(), iota_dimension=0 ROOT r = "
    >>> text += "f32[4,7] gather(x, i), offset_dims={1}, collapsed_slice_dims={}, "
    >>> text += "start_index_map={0}, index_vector_dim=1, slice_sizes={7} }"
    >>> ((way,), _) = output_to_input(hlo.parse(text).entry.root).indexing
    >>> print(way)
    (d0, d1) -> (min(2, d0) + d1), domain: d0 in [0, 3], d1 in [0, 6]
    """
    devices = devices_in(way)
    while way.runtime and (known := dict(_known_values(way, devices))):
        way = dependence_of(way, devices, known).simplified(way.element)
    return way


def _known_values(way: OperandIndexing, devices: Devices | None) -> Iterator[tuple[int, Form]]:
    """The numbers and values of the runtime variables of which the values are known.

    None of them depends on another one of these.
    """
    found = {
        number: None if is_asking_device(origin.instruction) else _value(origin, way, devices)
        for number, origin in enumerate(way.runtime)
    }
    known = {f"rt{number}" for number, value in found.items() if value is not None}
    for number, value in found.items():
        if value is not None and known.isdisjoint(forms.variables_of([value])):
            yield number, value


def _value(origin: RuntimeOrigin, way: OperandIndexing, devices: Devices | None) -> Form | None:
    place, device = origin.map, None
    if devices and devices.total > 1:
        place = _with_device(place, devices)
        device = origin.replica_id.forms[0] if origin.replica_id else device_of(way)
    value = value_of(origin.instruction, place, device)
    if value is None or origin.clamp is None:
        return value
    return clamped(value, origin.clamp, place)


def _with_device(place: IndexingMap, devices: Devices) -> IndexingMap:
    """The map with the device that asks as its last dimension."""
    every = Variable(Interval(0, devices.total - 1))
    domain = replace(place.domain, dims=(*place.dims, every))
    return IndexingMap.from_forms(place.forms, domain)
