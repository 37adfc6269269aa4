"""Find broken links in built pages: python docs/check_links.py docs/_build/html prints each and exits with 1.

A link to a page, a picture or an anchor of the pages themselves must lead somewhere. One that leads out must be a
well-formed https address; it is not opened.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Written by Sphinx, with an index that its own script reads.
SCRIPTED = {"genindex.html", "search.html", "py-modindex.html"}


class Page(HTMLParser):
    """The links and the anchors of one page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps what the tag names and where it leads."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif (name == "href" and tag in ("a", "link", "area")) or (name == "src" and tag in ("img", "script")):
                self.links.append(value)


def outer_fault(link: str) -> str:
    """What is wrong with a link that leads out of the pages, or nothing."""
    parts = urlsplit(link)
    if parts.scheme in ("mailto", "data"):
        return ""
    host = parts.hostname or ""
    if parts.scheme != "https":
        return f"{parts.scheme} instead of https"
    well_formed = "." in host and not any(each.isspace() for each in link)
    return "" if well_formed else "no well-formed address"


def faults(folder: Path) -> list[str]:
    """Lines "page: link: what is wrong"."""
    folder = folder.resolve()
    files = (path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts)  # those are templates
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = []
    for path, page in pages.items():
        for link in dict.fromkeys(page.links):
            wrong = outer_fault(link) if urlsplit(link).scheme else _inner_fault(link, path, folder, pages)
            if wrong:
                found.append(f"{path.relative_to(folder)}: {link}: {wrong}")
    return found


def _inner_fault(link: str, path: Path, folder: Path, pages: dict[Path, Page]) -> str:
    parts = urlsplit(link)
    if parts.netloc:
        return "no scheme"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_relative_to(folder) or not target.exists():
        return "no such file"
    anchor = unquote(parts.fragment)
    is_there = not anchor or target.name in SCRIPTED or target not in pages or anchor in pages[target].anchors
    return "" if is_there else "no such anchor"


if __name__ == "__main__":
    broken = faults(Path(sys.argv[1]))
    print("\n".join([*broken, f"{len(broken)} broken links"]))
    sys.exit(bool(broken))
