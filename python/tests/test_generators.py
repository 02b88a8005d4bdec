# SPDX-License-Identifier: Apache-2.0
"""What hp.from_generator calls."""
import functools
import inspect
from unittest.mock import MagicMock

import pytest

import headpond as hp


def iter_of(epoch, of=7):
    return iter([of])


class Static:
    @staticmethod
    def __call__(epoch):
        return [7]


class OfPartial:
    __call__ = functools.partial(iter_of, of=3)


def says(signature):
    def make(epoch):
        return [7]

    make.__signature__ = signature
    return make


@functools.wraps(says(inspect.Signature()))
def wrapped(epoch):
    return [7]


class Unknown:
    @property
    def __signature__(self):
        raise KeyError("signature")

    def __call__(self, epoch):
        return [7]


CALLED_OTHERWISE = (Static(), OfPartial(), says(inspect.Signature()), says("no signature"), wrapped, functools.partial(wrapped), Unknown())


def test_a_generator_gets_the_epochs_number():
    with pytest.raises(TypeError, match=r"^from_generator\(\): make gets only the epoch's number \(too many .*\): lambda epoch: gen\(\)$"):
        hp.from_generator(lambda: iter([1]), (hp.i64, ()))
    for make in (lambda epoch, path: [], functools.partial(lambda epoch, path, more: [], 0), lambda epoch, *, path: []):
        with pytest.raises(TypeError, match=r"only the epoch's number \(missing a required .*'(path|more)'\)"):
            hp.from_generator(make, (hp.i64, ()))
    with pytest.raises(TypeError, match="^from_generator.*: seek gets the epoch's number and a position"):
        hp.from_generator(iter_of, (hp.i64, ()), seek=lambda epoch: [])
    for make in (iter_of, functools.partial(iter_of, of=3), lambda *any_number: iter([7]), MagicMock(return_value=[7]), *CALLED_OTHERWISE):
        assert len(list(hp.from_generator(make, (hp.i64, ()), name="x").sequence())) == 1
