"""NVIDIA GPUs as prover devices. Not run on a GPU: tests run the launch code against stand-ins.

Importing this package touches neither CuPy nor CUDA: `cupy_driver` does, when a device is opened.
"""
