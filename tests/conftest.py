"""What every test may ask for."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.merkle import NAME
from tests.support.stack import Stack

REPOSITORY = Path(__file__).resolve().parent.parent

# A busy machine is no fault of what is tested: how long an example takes fails nothing.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


def shared_folder() -> Path | None:
    """The folder of foreign artefacts that are read in place and never copied, or None where it is absent."""
    candidates = (
        [Path(os.environ["CUZKWEB_SHARED"])]
        if "CUZKWEB_SHARED" in os.environ
        else [REPOSITORY.parent / "shared"]
    )
    return next((path for path in candidates if (path / "fixtures").is_dir()), None)


@pytest.fixture(scope="session")
def shared_fixtures() -> Path:
    folder = shared_folder()
    if folder is None:
        pytest.skip("the folder of foreign fixtures is not here (set CUZKWEB_SHARED to point at it)")
    return folder / "fixtures"


@pytest.fixture(scope="session")
def merkle(shared_fixtures: Path) -> Path:
    """The folder of the circuit that the tests of the whole service prove."""
    return shared_fixtures / NAME


@pytest.fixture(scope="module")
def circuit(stack: Stack, merkle: Path) -> str:
    """That circuit, registered with the module's own service."""
    return stack.register(merkle, NAME)


LONGEST_FIRST = ("chaos", "acceptance", "browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the files that take long first, so that no worker is left alone with one at the end."""

    def rank(item: pytest.Item) -> int:
        ranks = (rank for rank, mark in enumerate(LONGEST_FIRST) if item.get_closest_marker(mark))
        return next(ranks, len(LONGEST_FIRST))

    items.sort(key=rank)
