"""Expressions: linear forms over interned atoms, their text, and sympy at the border."""
