"""The tests; helpers that several of them share are modules of this package."""
