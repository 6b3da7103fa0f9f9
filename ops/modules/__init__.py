"""Whole modules: what is found out about their instructions, kept and shared between equal ones."""
