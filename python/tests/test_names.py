# SPDX-License-Identifier: Apache-2.0
"""What functions are called in plans."""

import functools
import math
import random

import numpy as np
import pytest

import headpond as hp
from headpond._names import name_of_function


def plain(x):
    return x


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, x):
        return x * self.by

    def method(self, x):
        return x * self.by

    @classmethod
    def of_the_class(cls, x):
        return x

    @staticmethod
    def static(x):
        return x


def scaled(by, **more):
    def function(x, *, shift=more.get("shift", 0)):
        return x * by + shift
    return function


def countdown(text):
    def function(x):
        return function(x - 1) if x else text
    return function


def decorated(function):
    @functools.wraps(function)
    def wrapper(x):
        return function(x)
    return wrapper


def named(text):
    return f"{__name__}.{text}"


@pytest.mark.parametrize(("function", "name"), [
    (plain, named("plain")), (Scale, named("Scale")), (Scale.of_the_class, named("Scale.of_the_class")), (Scale.static, named("Scale.static")),
    (math.sqrt, "math.sqrt"), (np.add, "numpy.add"), (np.multiply, "numpy.multiply"), (bytes.upper, ".bytes.upper"),
    (functools.partial(plain, 1, key=(2, "a")), named("plain(1, key=(2, 'a'))")),
    (scaled(2), named("scaled.<locals>.function(by=2, shift=0)")), (scaled(None, shift=0.5), named("scaled.<locals>.function(by=None, shift=0.5)")),
    (scaled(math), named("scaled.<locals>.function(by=math, shift=0)")),
    (countdown("end"), named("countdown.<locals>.function(function=" + named("countdown.<locals>.function") + ", text='end')")),
    (decorated(plain), named(f"plain(function={named('plain')})"))])
def test_a_name_tells_a_function_from_others(function, name):
    assert name_of_function(function) == name


@pytest.mark.parametrize("function", [
    Scale(2), Scale(2).method, lambda x: x, scaled(np.arange(3)), scaled([1]), scaled(lambda x: x), scaled("long" * 100), "a".join, random.random,
    functools.partial(lambda x: x), functools.partial(plain, Scale(2)), functools.partial(plain, object()), decorated(Scale(2))])
def test_what_cannot_be_told_apart_has_no_name(function):
    assert name_of_function(function) == ""


def test_a_cache_on_disk_never_gives_the_elements_of_another_function(tmp_path):
    def elements(function, **named):
        return [int(one) for one in hp.range(3).map(function, output=(hp.i64, ()), **named).cache(tmp_path).sequence()]

    assert elements(scaled(2)) == [0, 2, 4] and elements(scaled(3)) == [0, 3, 6]
    for function in (Scale(2), Scale(2).method, lambda x: x):
        with pytest.raises(ValueError, match="has no name"):
            elements(function)
    assert elements(Scale(2), name="scale by 2") == [0, 2, 4] and elements(Scale(3), name="scale by 3") == [0, 3, 6]
