"""The pages of `docs/` as HTML.

The texts lie beside this module in an installed package and in the repository's `docs/` otherwise. Links
between pages become addresses of the service; a link to what is not here becomes plain text.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

INSTALLED = Path(__file__).with_name("text")
REPOSITORY = Path(__file__).resolve().parents[2] / "docs"
FILE_TYPES = {".json": "application/json", ".yaml": "application/yaml", ".png": "image/png"}
SECTIONS = (
    ("Start", ("quickstart",)),
    (
        "How to",
        (
            "how-to/register-a-circuit",
            "how-to/prove-faster",
            "how-to/run-a-worker-host",
            "how-to/run-a-gpu-host",
            "how-to/observe",
            "how-to/back-up",
            "how-to/upgrade",
        ),
    ),
    ("Reference", ("reference/settings", "reference/api", "reference/metrics", "formats", "retention")),
    ("Explanation", ("status", "states", "scale", "chaos", "THREAT_MODEL")),
)


@dataclass(frozen=True, slots=True)
class Page:
    """One page: its name is its path below `docs/` without the ending."""

    name: str
    title: str
    body: str


def folder() -> Path:
    """Where the texts are."""
    return INSTALLED if INSTALLED.is_dir() else REPOSITORY


@cache
def names() -> frozenset[str]:
    """All pages that there are."""
    return frozenset(path.relative_to(folder()).with_suffix("").as_posix() for path in folder().rglob("*.md"))


@cache
def files() -> frozenset[str]:
    """The other files that pages link to or show."""
    found = (path for path in folder().rglob("*") if path.suffix in FILE_TYPES)
    return frozenset(path.relative_to(folder()).as_posix() for path in found)


@cache
def read_page(name: str, root: str) -> Page:
    """A page with its links below the address `root`. Raises KeyError for a page that is not here."""
    if name not in names():
        raise KeyError(name)
    source = (folder() / f"{name}.md").read_text(encoding="utf-8")
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = parser.parse(source)
    name_headings(tokens)
    for token in tokens:
        if token.children is not None:
            token.children = list(relinked(token.children, posixpath.dirname(name), root))
    return Page(name, title_of(tokens, name), parser.renderer.render(tokens, parser.options, {}))


def title_of(tokens: Sequence[Token], name: str) -> str:
    """The text of the first heading."""
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            return following.content.replace("`", "")
    return name


def name_headings(tokens: Sequence[Token]) -> None:
    """Give every heading the identifier that links use: its words in lower case, joined by hyphens."""
    for token, following in pairwise(tokens):
        if token.type == "heading_open":
            words = re.sub(r"[^\w\s-]", "", following.content.lower())
            token.attrSet("id", re.sub(r"\s+", "-", words.strip()))


def relinked(tokens: Sequence[Token], base: str, root: str) -> Iterator[Token]:
    """The tokens with links and pictures as addresses; links that lead nowhere are left out."""
    dropped = 0
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", address(str(token.attrGet("src")), base, root) or "")
        if token.type == "link_open":
            target = address(str(token.attrGet("href")), base, root)
            if target is None:
                dropped += 1
                continue
            token.attrSet("href", target)
        if token.type == "link_close" and dropped:
            dropped -= 1
            continue
        yield token


def address(link: str, base: str, root: str) -> str | None:
    """Where a link of a page in the folder `base` leads, None where that is not served."""
    parts = urlsplit(link)
    if parts.scheme or not parts.path:
        return link
    if parts.path.startswith("/"):
        return link
    path = posixpath.normpath(posixpath.join(base, parts.path))
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    if path.endswith(".md") and path.removesuffix(".md") in names():
        return f"{root}{path.removesuffix('.md')}/{fragment}"
    return f"{root}{path}" if path in files() else None
