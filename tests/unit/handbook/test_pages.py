"""The documentation as the service shows it: every page reachable, every link alive."""

import re
from pathlib import Path

import pytest
from django.test import Client

from proving.handbook.pages import SECTIONS, address, files, folder, names, read_page

ROOT = "/docs/"


@pytest.fixture
def client() -> Client:
    return Client()


def test_every_page_is_in_the_navigation() -> None:
    assert {name for _, pages in SECTIONS for name in pages} == names()


@pytest.mark.parametrize("name", sorted(names()))
def test_a_page_is_shown_and_its_links_are_answered(name: str, client: Client) -> None:
    answer = client.get(f"{ROOT}{name}/")
    body = answer.content.decode()
    assert answer.status_code == 200
    assert re.search(r"<h1[ >]", body)
    assert "<script>" not in body
    for target in set(re.findall(r'(?:href|src)="(/docs/[^"#]*)', body)):
        assert client.get(target).status_code in {200, 302}, target


@pytest.mark.parametrize("name", sorted(names()))
def test_links_of_the_texts_lead_somewhere(name: str) -> None:
    source = (folder() / f"{name}.md").read_text()
    for link in re.findall(r"\]\(([^)\s]+)\)", source):
        if "://" not in link and not link.startswith(("#", "/")):
            assert ((folder() / f"{name}.md").parent / link.split("#")[0]).exists(), link


def test_anchors_exist_where_links_name_them() -> None:
    pages = {name: read_page(name, ROOT).body for name in names()}
    for name, body in pages.items():
        for page, anchor in re.findall(r'href="/docs/([^"#]*)/#([^"]+)"', body):
            assert f'id="{anchor}"' in pages[page], (name, page, anchor)


def test_a_link_to_what_is_not_served_becomes_text() -> None:
    assert address("../../README.md", "how-to", ROOT) is None
    assert address("../formats.md#witnesses", "how-to", ROOT) == "/docs/formats/#witnesses"
    assert address("https://example.org/x", "", ROOT) == "https://example.org/x"
    assert "README.md" not in read_page("how-to/prove-faster", ROOT).body


@pytest.mark.parametrize(
    "path", ["../README.md", "..%2f..%2fpyproject.toml", "absent/", "formats.md", "reference/generate.py"]
)
def test_nothing_else_is_served(path: str, client: Client) -> None:
    assert client.get(ROOT + path).status_code == 404


def test_files_come_with_their_type(client: Client) -> None:
    assert "pictures/panel.png" in files()
    answer = client.get("/docs/pictures/panel.png")
    assert answer["Content-Type"] == "image/png"
    assert answer.content == (Path(folder()) / "pictures/panel.png").read_bytes()


def test_the_beginning_is_the_quickstart(client: Client) -> None:
    assert client.get(ROOT)["Location"] == "/docs/quickstart/"
