#!/usr/bin/env python3
"""Takes the pictures of the panel that the README and the pages here show.

    docs/pictures/take.py                          from the sample afternoon of the tests
    docs/pictures/take.py http://127.0.0.1:8000/ --login admin:PASSWORD      from a running service
    docs/pictures/take.py --only panel-phone

Needs a Chromium on PATH. Run it with the Python of the virtual environment.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY))

from tests.browser.chromium import Browser, Page, chromium, find_chromium  # noqa: E402
from tests.browser.documents import BUSY_AT, busy_afternoon  # noqa: E402
from tests.browser.past import afternoon_before  # noqa: E402

SETTLED = "new Promise(resolve => setTimeout(resolve, 1500))"
TALLEST = 6000


@dataclass(frozen=True)
class Picture:
    """One look at the panel. `height` 0 is the whole page; `open_first` opens the first job."""

    name: str
    width: int = 1440
    height: int = 900
    dark: bool = False
    scale: float = 1
    query: str = ""
    open_first: bool = False


PICTURES = (
    Picture("panel"),
    Picture("panel-dark", dark=True, open_first=True),
    Picture("panel-hosts", height=700, query="?view=hosts"),
    Picture("panel-devices", height=700, dark=True, query="?view=devices"),
    Picture("panel-phone", width=390, height=844, scale=2),
)


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
        stage.history = afternoon_before(time.time())
        yield stage.url


@contextmanager
def running(address: str) -> Iterator[str]:
    """The address of a service that runs already."""
    yield address.rstrip("/") + "/"


def sign_in(page: Page, login: str) -> None:
    name, _, password = login.partition(":")
    page.evaluate(f"""
        document.querySelector('#id_username').value = {json.dumps(name)};
        document.querySelector('#id_password').value = {json.dumps(password)};
        document.querySelector('#login-form').submit();
    """)
    page.wait("!document.querySelector('#login-form')")


def take(browser: Browser, address: str, picture: Picture, folder: Path, login: str | None) -> None:
    page = browser.new_page(picture.width, picture.height or TALLEST, dark=picture.dark, scale=picture.scale)
    page.open(address + picture.query)
    if login and page.evaluate("Boolean(document.querySelector('#login-form'))"):
        sign_in(page, login)
        page.open(address + picture.query)
    page.wait("document.body.dataset.ready === ''")
    page.wait(
        "document.querySelector('#past-jobs li') || document.querySelector('#past .none:not([hidden])')"
    )
    if picture.open_first:
        page.evaluate("document.querySelector('.toggle')?.click()")
    page.evaluate(SETTLED)
    page.picture(folder / f"{picture.name}.png")
    page.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Take the pictures of the panel.")
    parser.add_argument("address", nargs="?", help="the panel of a running service (default: a sample)")
    parser.add_argument("--login", help="name:password of a member of the staff")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent)
    parser.add_argument("--only", help="the name of one picture")
    options = parser.parse_args()
    executable = find_chromium()
    if executable is None:
        sys.exit("no Chromium on PATH")
    wanted = [picture for picture in PICTURES if options.only in (None, picture.name)]
    with (
        running(options.address) if options.address else sample() as address,
        chromium(executable) as browser,
    ):
        for picture in wanted:
            take(browser, address, picture, options.folder, options.login)


if __name__ == "__main__":
    main()
