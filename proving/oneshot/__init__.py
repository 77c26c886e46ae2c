"""One proof from two files in one process, with as little as possible around the arithmetic."""
