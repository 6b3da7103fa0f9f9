"""Builders, one module a family of operations: from shapes and attributes to maps, both ways."""
