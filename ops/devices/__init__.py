"""The devices that a program runs on, and which of them hold the elements that others need.

:mod:`~ops.devices.numbering` numbers them, :mod:`~ops.devices.modes` says which of them the
numbers in an instruction mean, :mod:`~ops.devices.groups` how a device sees its group, and
:mod:`~ops.rules.replica_maps` makes maps between elements on different devices.
"""
