"""The smallest form of a map: results, constraints and bounds together."""
