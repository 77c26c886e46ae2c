"""Coverage-guided fuzzing of every reader of files, with atheris (not among the locked packages).

    python -m tests.fuzz.make_corpus CORPUS
    python -m tests.fuzz.fuzz_parsers CORPUS -max_total_time=1200

What a reader neither takes nor refuses with a typed error ends the run, with the input that did it.
`corpus.zip` beside this file is what earlier runs have found; the tests replay it.
"""

import sys

import atheris

with atheris.instrument_imports(include=["proving"]):
    from tests.fuzz.readers import read_one_input

if __name__ == "__main__":
    atheris.Setup(sys.argv, read_one_input)
    atheris.Fuzz()
