#!/usr/bin/env python3
"""Takes the picture of the panel that the README shows.

    docs/pictures/take.py                          from the sample afternoon of the tests
    docs/pictures/take.py http://127.0.0.1:8000/ --login admin:PASSWORD      from a running service

Needs a Chromium on PATH. Run it with the Python of the virtual environment.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from tests.browser.chromium import Page, chromium, find_chromium  # noqa: E402
from tests.browser.documents import BUSY_AT, busy_afternoon  # noqa: E402

SETTLED = "new Promise(resolve => setTimeout(resolve, 1500))"


@contextmanager
def sample() -> Iterator[str]:
    """The address of the panel over a sample document whose time goes on."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
    import django  # noqa: PLC0415 - a running service needs none of it here

    django.setup()
    from tests.browser.stage import Stage  # noqa: PLC0415 - after Django is set up

    began = time.time() - BUSY_AT
    afternoon = busy_afternoon(began)
    with Stage(lambda: afternoon.document(time.time() - began)) as stage:
        yield stage.url


@contextmanager
def running(address: str) -> Iterator[str]:
    """The address of a service that runs already."""
    yield address


def sign_in(page: Page, login: str, address: str) -> None:
    name, _, password = login.partition(":")
    page.evaluate(f"""
        document.querySelector('#id_username').value = {json.dumps(name)};
        document.querySelector('#id_password').value = {json.dumps(password)};
        document.querySelector('#login-form').submit();
    """)
    page.wait("!document.querySelector('#login-form')")
    page.open(address)


def take(address: str, path: Path, options: argparse.Namespace) -> None:
    executable = find_chromium()
    if executable is None:
        sys.exit("no Chromium on PATH")
    with chromium(executable) as browser:
        page = browser.new_page(options.width, options.height, dark=options.dark)
        page.open(address)
        if options.login and page.evaluate("Boolean(document.querySelector('#login-form'))"):
            sign_in(page, options.login, address)
        page.wait("document.body.dataset.ready === ''")
        page.evaluate(SETTLED)
        page.picture(path)


def main() -> None:
    parser = argparse.ArgumentParser(description="Take a picture of the panel.")
    parser.add_argument("address", nargs="?", help="the panel of a running service (default: a sample)")
    parser.add_argument("--login", help="name:password of a member of the staff")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_name("panel.png"))
    parser.add_argument("--width", type=int, default=1440)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--dark", action="store_true")
    options = parser.parse_args()
    with running(options.address) if options.address else sample() as address:
        take(address, options.output, options)


if __name__ == "__main__":
    main()
