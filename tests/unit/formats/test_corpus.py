"""What a coverage-guided fuzzer has found to take different ways through the readers, read again."""

import zipfile

import pytest

from tests.conftest import REPOSITORY
from tests.fuzz.readers import READERS, read_one_input

CORPUS = REPOSITORY / "tests" / "fuzz" / "corpus.zip"


@pytest.fixture(scope="module")
def corpus():
    """Every input by the number of its reader."""
    found: dict[int, list[bytes]] = {number: [] for number in range(len(READERS))}
    with zipfile.ZipFile(CORPUS) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            found[data[0] % len(READERS)].append(data)
    return found


@pytest.mark.parametrize("number", range(len(READERS)))
def test_taken_or_refused_by_place(corpus, number):
    assert corpus[number]
    for data in corpus[number]:
        read_one_input(data)
