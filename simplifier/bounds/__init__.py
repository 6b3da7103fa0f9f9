"""Bounds: the interval of the values of an expression, and consequences of constraints."""
