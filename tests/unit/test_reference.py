"""The generated pages of the reference are current."""

import importlib.util

import pytest

from tests.conftest import REPOSITORY

FOLDER = REPOSITORY / "docs" / "reference"


@pytest.mark.parametrize("name", ["settings.md", "api.md", "metrics.md"])
def test_a_generated_page_is_current(name: str) -> None:
    spec = importlib.util.spec_from_file_location("generate", FOLDER / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert (FOLDER / name).read_text() == generate.PAGES[name](), "run: python docs/reference/generate.py"
