"""A browser for tests: the system's Chromium, which may speak to one service and must have nothing to complain of."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from programs import find

PATIENCE = 20_000  # milliseconds until something must be on a page
# no faults, though a browser tells them: a refusal, a full queue, and what was asked for a page that was left
HARMLESS = ("status of 409", "status of 503", "htmx:sendAbort", "htmx:afterRequest")
PHONE = {"width": 390, "height": 800}


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=sandbox)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def looking(browser: Browser, address: str, **how: Any) -> Iterator[Page]:
    """A page of the service at this address. What goes wrong in it, or leaves the machine, fails the test."""
    context = browser.new_context(base_url=address, **how)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    wrong: list[str] = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    allowed = (address, "data:", "blob:", "about:")
    page.on("request", lambda made: None if made.url.startswith(allowed) else wrong.append(made.url))
    try:
        yield page
        wrong = [each for each in wrong if not any(word in each for word in HARMLESS)]
        assert wrong == [], wrong
    finally:
        page.close()
        context.close()
