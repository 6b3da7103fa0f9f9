"""What HLO programs do on several devices, seen by running them with JAX in a process of its own.

JAX pretends that the CPU is several devices, but only if it is told so before it starts.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.ops.labelled_elements import Array
from tests.ops.replicas import Element


class Program(NamedTuple):
    """The text of a program with one operand of type ``f32``, and what it runs on."""

    text: str
    sizes: tuple[int, ...]
    replicas: int
    partitions: int


def relations(programs: Sequence[Program]) -> list[set[tuple[Element, Element]]]:
    """Which element on which device is not 0 if only one element on one device is not 0."""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=8"}
    command, given = [sys.executable, __file__], json.dumps(programs)
    ran = subprocess.run(
        command, input=given, capture_output=True, text=True, env=environment, check=False
    )
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return [
        {((device, tuple(index)), (source, tuple(place))) for device, index, source, place in pairs}
        for pairs in json.loads(ran.stdout)
    ]


def _relation(program: Program) -> list[tuple[int, list[int], int, list[int]]]:
    run, devices = _compiled(program), program.replicas * program.partitions
    pairs: list[tuple[int, list[int], int, list[int]]] = []
    for source in range(devices):
        for place in np.ndindex(*program.sizes):
            operands = [np.zeros(program.sizes, dtype=np.float32) for _ in range(devices)]
            operands[source][place] = 1
            for device, result in enumerate(run(operands)):
                felt = np.argwhere(result).tolist()
                pairs += [(device, index, source, list(place)) for index in felt]
    return pairs


def _compiled(program: Program) -> Callable[[Sequence[Array]], list[Array]]:
    """From an operand for each device to the result on each device."""
    jax: Any = importlib.import_module("jax")
    xla: Any = importlib.import_module("jaxlib._hlo")
    client: Any = importlib.import_module("jaxlib.xla_client")
    extension: Any = importlib.import_module("jaxlib._jax")
    parsed = xla.hlo_module_from_text(program.text)
    computation = client.XlaComputation(parsed.as_serialized_hlo_module_proto())
    module = extension.mlir.xla_computation_to_mlir_module(computation)
    count = program.replicas * program.partitions
    devices = jax.devices("cpu")[:count]
    options = client.CompileOptions()
    for each in (options, options.executable_build_options):
        each.num_replicas, each.num_partitions = program.replicas, program.partitions
    options.executable_build_options.use_spmd_partitioning = program.partitions > 1
    places = np.arange(count).reshape(program.replicas, program.partitions)
    options.device_assignment = client.DeviceAssignment.create(places)
    listed = extension.DeviceList(tuple(devices))
    compiled = devices[0].client.compile_and_load(module, listed, options)
    mesh = jax.sharding.Mesh(np.array(devices), ("device",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("device"))
    whole = (count * program.sizes[0], *program.sizes[1:])

    def run(operands: Sequence[Array]) -> list[Array]:
        shards = [jax.device_put(*pair) for pair in zip(operands, devices, strict=True)]
        given = jax.make_array_from_single_device_arrays(whole, sharding, shards)
        (results,) = compiled.execute_sharded([given]).disassemble_into_single_device_arrays()
        return [np.asarray(result) for result in results]

    return run


if __name__ == "__main__":
    asked = [Program(*listed) for listed in json.load(sys.stdin)]
    json.dump([_relation(program) for program in asked], sys.stdout)
