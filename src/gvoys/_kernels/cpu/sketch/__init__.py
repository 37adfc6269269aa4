"""Loops of the sketch: rows in registers, the plain walk, and every option."""
