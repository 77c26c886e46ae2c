from dataclasses import dataclass
from pathlib import Path

import pytest

from cuzkweb.__main__ import main
from kernels.curves import CURVES, Curve
from proving.formats.r1cs import Matrix, R1cs, write_r1cs
from proving.formats.wtns import Witness, write_witness
from tests.node.snarkjs import snarkjs
from tests.unit.groth16.reference import System, product_chain, words

__all__ = ["snarkjs"]


@dataclass(frozen=True)
class Circuit:
    """The files of one small circuit, its key made by the command line."""

    curve: Curve
    folder: Path
    witness: tuple[int, ...]

    @property
    def r1cs(self) -> Path:
        return self.folder / "circuit.r1cs"

    @property
    def zkey(self) -> Path:
        return self.folder / "key.zkey"

    @property
    def vkey(self) -> Path:
        return self.folder / "vkey.json"

    @property
    def wtns(self) -> Path:
        return self.folder / "witness.wtns"


def as_r1cs(system: System) -> R1cs:
    a, b, c = (
        Matrix(matrix.row_ptr.astype("int64"), matrix.columns, matrix.values)
        for matrix in (system.a, system.b, system.c)
    )
    private = system.wires - system.public_count - 1
    return R1cs(
        curve=system.curve,
        wires=system.wires,
        outputs=system.public_count,
        public_inputs=0,
        private_inputs=private,
        labels=system.wires,
        constraints=len(system.rows),
        a=a,
        b=b,
        c=c,
    )


@pytest.fixture(scope="session", params=CURVES, ids=lambda curve: curve.name)
def circuit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Circuit:
    system, witness = product_chain(request.param, 9)
    made = Circuit(request.param, tmp_path_factory.mktemp(request.param.name), tuple(witness))
    write_r1cs(made.r1cs, as_r1cs(system))
    write_witness(made.wtns, Witness(made.curve, words(witness)))
    assert main(["setup", "--r1cs", str(made.r1cs), "--zkey", str(made.zkey), "--vkey", str(made.vkey)]) == 0
    return made


class Call:
    """Runs the command line in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *words: object) -> int:
        self.capsys.readouterr()
        code = main([str(word) for word in words])
        captured = self.capsys.readouterr()
        self.out, self.err = captured.out, captured.err
        return code

    def assert_refused(self, *words: object, because: str) -> None:
        assert self(*words) == 1
        assert because in self.err
        assert self.err.count("\n") == 1
        assert self.out == ""


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    return Call(capsys)
