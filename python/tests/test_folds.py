# SPDX-License-Identifier: Apache-2.0
"""Operators that look at elements one after the other, and calls that give one value of a dataset."""

import numpy as np
import pytest

import headpond as hp


def running_sum(total, x):
    return total + x, {"sum": total + x, "x": x}


def test_scan_carries_a_state_and_begins_anew_in_each_epoch():
    data = hp.range(1, 6).scan(np.int64(10), running_sum)
    assert data.kind == "stream" and data.spec == {"sum": (hp.i64, ()), "x": (hp.i64, ())}
    sums = [int(one["sum"]) for one in data.sequence(epochs=2)]
    assert sums == [11, 13, 16, 20, 25] * 2
    loader = hp.Loader(data, epochs=2, threads=2)
    assert [int(one["sum"]) for one in loader.flat()] == sums


def test_a_scans_function_may_change_the_state_in_place():
    def add(state, x):
        state += x + 1
        return state, state.sum()

    start = np.zeros(2, np.int64)
    for output in (None, (hp.i64, ())):
        assert [int(one) for one in hp.range(5).scan(start, add, output=output).sequence()] == [2, 6, 12, 20, 30]
    assert start.tolist() == [0, 0]


def test_a_scans_state_is_saved():
    def mean(state, x):
        count, total = state["count"] + 1, state["total"] + x
        return {"count": count, "total": total}, (total / count).astype(np.float64)

    data = hp.range(20).scan({"count": np.int64(0), "total": np.zeros(2)}, lambda s, x: mean(s, np.array([x, -x])), output=(hp.f64, (2,)))
    whole = [one.tolist() for one in data.sequence()]
    assert whole[4] == [2.0, -2.0]
    loader = hp.Loader(data)
    first = [loader.next().tolist() for _ in range(7)]
    other = hp.Loader(data)
    other.load_state_dict(loader.state_dict())
    assert first + [one.tolist() for one in other.flat()] == whole


def test_what_scan_refuses():
    with pytest.raises(TypeError, match="a tuple of the next state and an element"):
        hp.range(3).scan(np.int64(0), lambda state, x: state)
    with pytest.raises(hp.InvalidArgumentError, match="a tuple of the next state and an element"):
        next(hp.range(3).scan(np.int64(0), lambda state, x: state, output=(hp.i64, ())).sequence())
    with pytest.raises(hp.InvalidArgumentError, match="scan: the state"):
        next(hp.range(3).scan(np.int64(0), lambda state, x: (0.5, x), output=(hp.i64, ())).sequence())
    with pytest.raises(ValueError, match="scan.*the dataset is empty"):
        hp.range(0).scan(np.int64(0), running_sum)

    def fails(state, x):
        if x == 1:
            raise KeyError("one")
        return running_sum(state, x)

    reading = hp.range(3).scan(np.int64(0), fails, output={"sum": (hp.i64, ()), "x": (hp.i64, ())}).sequence()
    assert int(next(reading)["sum"]) == 0
    with pytest.raises(KeyError, match="one"):
        next(reading)
    assert int(next(reading)["sum"]) == 2, "the state stays as it was before the error"


def test_windows_of_a_key_become_what_a_function_makes_of_them():
    def parity(x):
        return int(x) % 2

    def pairs(key, window):
        return window.batch(2) if key == 0 else window.map(lambda x: -x, output=(hp.i64, ())).batch(3)

    data = hp.range(11).group_by_window(parity, window_size=4, reduce_func=pairs)
    whole = [batch.tolist() for batch in data.sequence()]
    assert whole == [[0, 2], [4, 6], [-1, -3, -5], [-7], [8, 10], [-9]]
    assert [batch.tolist() for batch in hp.range(11).group_by_window(parity, pairs, 4).sequence()] == whole, "tf.data's order"
    for threads in (0, 2):
        loader = hp.Loader(data, threads=threads)
        first = [loader.next().tolist() for _ in range(3)]
        other = hp.Loader(data)
        other.load_state_dict(loader.state_dict())
        assert first + [batch.tolist() for batch in other.flat()] == whole
    by_text = hp.range(11).group_by_window("x % 2", 4, "batch")
    assert [batch.tolist() for batch in by_text.sequence()] == [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10], [9]]


def test_what_group_by_window_refuses():
    def key(x):
        return int(x)

    with pytest.raises(TypeError, match="reduce_func must be a function, too"):
        hp.range(3).group_by_window(key, 2, "batch")
    with pytest.raises(TypeError, match="key_func must be a function, too"):
        hp.range(3).group_by_window("x", 2, lambda k, window: window.batch(2))
    with pytest.raises(hp.InvalidArgumentError, match="the function returned int, not a headpond.Dataset"):
        hp.range(3).group_by_window(key, 2, lambda k, window: 3)
    with pytest.raises(TypeError, match="window_size=None: must be an integer"):
        hp.range(3).group_by_window(key, reduce_func=lambda k, window: window.batch(2))
    reading = hp.range(3).group_by_window(lambda x: 0.5, 2, lambda k, window: window.batch(2)).sequence()
    with pytest.raises(TypeError):
        next(reading)


def test_reduce_and_the_only_element():
    assert hp.range(5).reduce(0, lambda state, x: state + int(x)) == 10
    assert hp.range(0).reduce("none", lambda state, x: "some") == "none"
    assert hp.range(5).batch(5).get_single_element().tolist() == [0, 1, 2, 3, 4]
    for data in (hp.range(0), hp.range(2)):
        with pytest.raises(hp.InvalidArgumentError):
            data.get_single_element()


def test_the_element_at_a_position():
    data = hp.range(50).shuffle().map(lambda x: {"x": x}, output={"x": (hp.i64, ())}).batch(4)
    whole = [one["x"].tolist() for one in data.sequence(seed=3, epochs=2)]
    assert data.at(2, seed=3)["x"].tolist() == whole[2] and data.at(0, seed=3, epoch=1)["x"].tolist() == whole[13]
    for position in (-1, 13):
        with pytest.raises(hp.InvalidArgumentError):
            data.at(position)
    with pytest.raises(hp.InvalidArgumentError):
        hp.from_generator(lambda epoch: iter([1]), (hp.i64, ())).at(0)
    with pytest.raises(hp.NotFoundError):
        hp.range(4).filter("x % 2 == 0").at(1)
    with pytest.raises(ZeroDivisionError):
        hp.range(4).map(lambda x: 1 // int(x), output=(hp.i64, ())).at(0)
