# SPDX-License-Identifier: Apache-2.0
"""Random numbers for a function's parameter `rng`: a function of seed, operator, epoch and element, like those of C++."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy


def generator(words: bytes) -> numpy.random.Generator:
    """A numpy.random.Generator from 16 bytes that C++ drew for the element."""
    import numpy
    return numpy.random.Generator(numpy.random.Philox(key=numpy.frombuffer(words, numpy.uint64)))
