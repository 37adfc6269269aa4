"""Plots of results, and how they were measured."""
