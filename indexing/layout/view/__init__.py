"""What people see of a layout: pictures, grids of offsets, words."""
