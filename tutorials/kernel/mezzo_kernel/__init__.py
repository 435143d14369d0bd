"""A Jupyter kernel for C++17 with mezzo: Cling, out of the PyPI package `root`, in an ipykernel."""

__version__ = "0.2.0"
