"""Devices, by their former place; `gvoys.walks.backends` has them."""

from gvoys.walks.backends import check_device, empty_for

__all__ = ["check_device", "empty_for"]
