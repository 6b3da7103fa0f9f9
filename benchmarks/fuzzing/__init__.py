"""Random questions to the simplifier, and properties that every answer must have."""
