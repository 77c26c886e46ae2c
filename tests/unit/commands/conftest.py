from tests.node.snarkjs import snarkjs

__all__ = ["snarkjs"]
