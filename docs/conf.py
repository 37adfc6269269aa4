"""How `make docs` builds the pages."""

from importlib import metadata

project = "gvoys"
author = "the gvoys authors"
version = release = metadata.version("gvoys")
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "gvoys"
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": True}
html_show_sourcelink = False
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
autodoc_typehints = "none"  # the docstrings say it
autosummary_generate = True
templates_path = ["_templates"]
numpydoc_show_class_members = False
default_role = "literal"  # `name` in a docstring is code
