"""Measurements, side by side with peers and baselines, ratios within one run: python -m studies"""
