"""The devices that a program runs on, and which of them hold the elements that others need.

:mod:`~ops.devices.devices` numbers them, and says which of them the numbers in an instruction
mean. :mod:`~ops.devices.devices` says how a device sees its group.
"""

from __future__ import annotations
