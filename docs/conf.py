"""How `make docs` builds the pages."""

import logging
import re
import sys
import warnings
from importlib import metadata
from pathlib import Path

from gvoys.errors import InputWarning

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "gvoys"
author = "the gvoys authors"
copyright = author
version = release = metadata.version("gvoys")
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "commands",
    "offline_math",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_extensions", "tutorials"]
templates_path = ["_templates"]
default_role = "literal"  # `name` in a docstring is code
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "pydata_sphinx_theme"
html_title = "gvoys"
html_static_path = ["_static"]
html_css_files = ["gvoys.css"]
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_math_renderer = "offline"
html_theme_options = {
    "logo": {"text": "gvoys", "image_light": "_static/logo.svg", "image_dark": "_static/logo.svg"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "github-dark",
    "back_to_top_button": True,
}
html_sidebars = {"index": [], "comparison": []}

autodoc_typehints = "none"  # the docstrings say it
autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "tutorials",
    "gallery_dirs": "gallery",
    "filename_pattern": "/",  # run them all
    "within_subsection_order": "FileNameSortKey",
    "image_srcset": ["2x"],
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
}
suppress_warnings = ["config.cache"]
warnings.simplefilter("ignore", InputWarning)  # of atoms that few molecules have
logging.getLogger("gvoys").setLevel(logging.ERROR)  # that kernels are compiled


def _without_last_line(app, name, source) -> None:
    """Doctest wants an empty line after its output, readers do not."""
    source[0] = re.sub(r"(```python\n(?:(?!```).*\n)*?)\n```\n", r"\1```\n", source[0])


def setup(app) -> None:
    """Makes Sphinx clean the pages."""
    app.connect("source-read", _without_last_line)
