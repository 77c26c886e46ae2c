"""Flags that several commands share."""

import argparse


def add_threads(parser: argparse.ArgumentParser) -> None:
    """--threads N."""
    text = "CPU threads, 0 for all (the default)"
    parser.add_argument("--threads", type=non_negative, default=0, metavar="N", help=text)


def non_negative(text: str) -> int:
    """An integer from 0 on, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def positive(text: str) -> int:
    """An integer from 1 on, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)
