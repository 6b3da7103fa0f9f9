"""Random questions to the simplifier, and what must hold of every answer."""
