"""A real browser for page tests: Chromium or Chrome where one is installed."""

import os
import shutil
from contextlib import contextmanager, nullcontext
from functools import partial

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_browser():
    """The browser's path; tests that need one are skipped, and say so, where there is none."""
    found = os.environ.get("GVOYS_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium or Chrome is installed (apt-get install chromium), so that no page can be opened")
    return found


_shared = []  # the browser of all tabs, where there is one


@contextmanager
def browser():
    """A browser, from here on."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=find_browser(), args=["--no-sandbox"])
        yield running
        running.close()


@contextmanager
def shared():
    """One browser for all tabs that are opened meanwhile."""
    with browser() as running:
        _shared.append(running)
        yield
        _shared.clear()


def watch(tab, errors):
    """Collect errors of scripts and what the page's policy forbids, such as the eval by which Playwright waits."""
    tab.on("pageerror", lambda error: errors.append(str(error)))
    tab.on("console", lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None)
    tab.expose_function("forbidden", lambda what: errors.append(f"the policy forbids {what}"))
    tab.add_init_script(
        "addEventListener('securitypolicyviolation', e => forbidden(e.violatedDirective + e.blockedURI))"
    )
    tab.wait_for_function = partial(_wait, tab)


def _wait(tab, expression, arg=None):
    for _ in range(600):
        if tab.evaluate(expression, arg):
            return
        tab.wait_for_timeout(50)
    raise AssertionError(f"{expression} does not become true")


@contextmanager
def opened(path, width=1400, height=900, **how):
    """A tab that shows a file, with the network cut off; errors of its scripts fail the test, and what is forbidden."""
    with nullcontext(_shared[0]) if _shared else browser() as running:
        context = running.new_context(viewport={"width": width, "height": height}, offline=True, **how)
        tab, errors = context.new_page(), []
        watch(tab, errors)
        tab.goto(f"file://{path}")
        tab.wait_for_selector("body[data-ready=yes]", timeout=60_000)
        yield tab
        context.close()
    assert errors == [], errors
