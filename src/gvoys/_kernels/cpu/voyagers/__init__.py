"""Loops of sampled walks: steps, signs, and what walkers leave behind."""
