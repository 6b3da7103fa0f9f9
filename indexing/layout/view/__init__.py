"""Layouts for people: described in words, as pictures and as grids of offsets."""
