"""Formulas as MathML, which browsers render by themselves: the pages need neither a script nor a network for them."""

from docutils import nodes
from latex2mathml.converter import convert


def _show(self, node: nodes.Element) -> None:
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _show_block(self, node: nodes.Element) -> None:
    lines = node.astext().split("\n\n")
    shown = "".join(convert(" ".join(line.split()), display="block") for line in lines)
    self.body.append(self.starttag(node, "div", CLASS="math") + shown + "</div>\n")
    raise nodes.SkipNode


def setup(app) -> dict[str, bool]:
    """Makes this the way in which formulas are written."""
    app.add_html_math_renderer("offline", inline_renderers=(_show, None), block_renderers=(_show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
