"""The canonical form of an expression within a scope, by the laws of each kind of atom."""
