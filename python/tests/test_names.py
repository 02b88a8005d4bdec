# SPDX-License-Identifier: Apache-2.0
"""What functions are called in plans, and which names a cache on disk may belong to."""

import functools
import math
import random

import numpy as np
import pytest

import headpond as hp
from headpond._names import is_told_apart, name_of_function


def plain(x):
    return x


class Scale:
    by = 1

    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by

    def method(self, x):
        return x * self.by

    @classmethod
    def of_the_class(cls, x):
        return x * cls.by

    @staticmethod
    def static(x):
        return x


class Twice(Scale):
    by = 2


class Odd(int):
    def __repr__(self):
        raise ValueError("no text")


def scaled(by):
    def function(x):
        return x * by
    return function


def doubled(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2 * function(x)
    return wrapper


@doubled
def decorated(x):
    return x


def named(text):
    return f"{__name__}.{text}"


remembered = functools.lru_cache(plain)
remembered.__qualname__ = remembered.__name__ = "remembered"


@pytest.mark.parametrize(("function", "name"), [
    (plain, named("plain")), (decorated, named("decorated")), (remembered, named("remembered")), (Scale, named("Scale")),
    (Scale.of_the_class, named("Scale.of_the_class")), (Scale.static, named("Scale.static")), (math.sqrt, "math.sqrt"), (np.clip, "numpy.clip"),
    (np.add, "numpy.add"), (np.multiply, "numpy.multiply"), (bytes.upper, ".bytes.upper"), (len, "builtins.len"),
    (functools.partial(plain, 1, key="a"), named("plain(1, key='a')")), (functools.partial(np.clip, a_min=0, a_max=1), "numpy.clip(a_max=1, a_min=0)")])
def test_functions_of_modules_are_told_apart(function, name):
    assert name_of_function(function) == name and is_told_apart(function)


@pytest.mark.parametrize(("function", "name"), [
    (Scale(2), named("Scale")), (Scale(2).method, named("Scale.method")), (Twice.of_the_class, named("Scale.of_the_class")), (lambda x: x, ""),
    (scaled(2), named("scaled.<locals>.function")), (doubled(plain), named("plain")), (np.frompyfunc(plain, 1, 1), "numpy.plain (vectorized)"),
    ("a".join, ".str.join"), (random.random, ".Random.random"), (functools.partial(lambda x: x), ""), (functools.partial(plain, object()), ""),
    (functools.partial(plain, Odd(3)), ""), (functools.partial(plain, "long" * 1000), ""), (functools.partial(plain, 10**5000), ""),
    (functools.partial(scaled(2), 1), named("scaled.<locals>.function(1)"))])
def test_others_are_not(function, name):
    assert name_of_function(function) == name and not is_told_apart(function)


def test_a_cache_on_disk_never_gives_the_elements_of_another_function(tmp_path):
    def elements(function, **named):
        return [int(one) for one in hp.range(3).map(function, output=(hp.i64, ()), **named).cache(tmp_path).sequence()]

    assert elements(plain) == [0, 1, 2] and elements(decorated) == [0, 2, 4]
    for function in (Scale(2), Scale(2).method, scaled(2), doubled(plain), Twice.of_the_class):
        with pytest.raises(hp.InvalidArgumentError, match="cache: other functions may have the name of map"):
            elements(function)
    with pytest.raises(hp.InvalidArgumentError, match="has no name"):
        elements(lambda x: x)
    assert elements(Scale(2), name="scale by 2") == [0, 2, 4] and elements(Scale(3), name="scale by 3") == [0, 3, 6]
    for step in (lambda ds: ds.snapshot(tmp_path / "other"), lambda ds: ds.batch(2).cache(tmp_path), lambda ds: hp.zip(ds, ds).cache(tmp_path)):
        with pytest.raises(hp.InvalidArgumentError, match="other functions may have the name of filter"):
            step(hp.range(3).filter(Scale(2)))
    assert len(list(hp.range(3).map(Scale(2), output=(hp.i64, ())).cache().sequence())) == 3, "in memory"


def test_a_state_of_another_class_is_refused():
    state = hp.Loader(hp.range(9).map(Scale(2))).state_dict()
    hp.Loader(hp.range(9).map(Scale(3))).load_state_dict(state)
    with pytest.raises(hp.FailedPreconditionError):
        hp.Loader(hp.range(9).map(Twice(2))).load_state_dict(state)
