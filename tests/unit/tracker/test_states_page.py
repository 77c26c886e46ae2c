from pathlib import Path

from proving.tracker.diagram import render

PAGE = Path(__file__).resolve().parents[3] / "docs" / "states.md"


def test_page_is_the_table():
    assert PAGE.read_text() == render(), "run: python -m proving.tracker.diagram > docs/states.md"
