"""The series mu of a walk kernel K = sum_i mu_i K_i: its coefficients, where to truncate it, and its modulation f."""

from gvoys.series.base import Series, check_number, check_series
from gvoys.series.coefficients import Coefficients
from gvoys.series.decaying import Exponential, Geometric, series_named

__all__ = ["Coefficients", "Exponential", "Geometric", "Series", "check_number", "check_series", "series_named"]
