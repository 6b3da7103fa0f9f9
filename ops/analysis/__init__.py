"""What a module's instructions, computations and fusions need, by the maps of its operations."""
