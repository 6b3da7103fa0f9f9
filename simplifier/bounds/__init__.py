"""Between which values an expression lies, and what constraints say of that."""
