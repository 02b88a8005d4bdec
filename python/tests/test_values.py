# SPDX-License-Identifier: Apache-2.0
"""Python's numbers, texts and lists as tensors: what cannot be kept is refused."""
import gc
import time
import weakref

import numpy as np
import pytest

import headpond as hp


def only(dataset):
    return next(dataset.sequence())


@pytest.mark.parametrize("dtype, value", [("uint64", -1), ("int64", 2**63), ("uint32", -1), ("int8", 200), ("uint64", [1, -5]), ("int64", [2**63, 2**64 - 1])])
def test_integers_that_do_not_fit_are_refused(dtype, value):
    shape = (None,) if isinstance(value, list) else ()
    text = f"a number that {dtype} cannot hold"
    with pytest.raises(hp.InvalidArgumentError, match=text):
        only(hp.from_generator(lambda epoch: iter([value]), (dtype, shape)))
    with pytest.raises(hp.InvalidArgumentError, match=text):
        only(hp.range(1).map(lambda x: value, output=(dtype, shape)))
    with pytest.raises(hp.InvalidArgumentError, match=text):
        hp.FIFOQueue(5, [dtype], [shape] if shape == () else None).enqueue(value)


def test_integers_that_fit_are_kept():
    for dtype, value in (("uint64", 2**64 - 1), ("uint64", 7), ("int64", -1), ("int64", 2**63 - 1), ("float32", 2**24)):
        assert int(only(hp.range(1).map(lambda x, value=value: value, output=(dtype, ())))) == value


def test_a_function_that_gives_another_sign_later():
    reading = hp.range(2).map(lambda x: [2**63, -1][int(x)]).sequence()
    assert next(reading) == 2**63
    with pytest.raises(hp.InvalidArgumentError, match="a number that uint64 cannot hold"):
        next(reading)


def test_an_integer_beyond_64_bits_is_told_so():
    for value in (2**64, -2**63 - 1, [1, 2**70]):
        with pytest.raises(hp.InvalidArgumentError, match="an integer that 64 bits cannot hold"):
            hp.from_tensors([value] if isinstance(value, int) else value)


@pytest.mark.parametrize("dtype, largest, beyond", [("float16", 65504, 65520), ("float32", 3.4028235e38, 3.4028236e38), ("bfloat16", 3.38e38, 3.4e38)])
def test_floats_that_would_become_infinite_are_refused(dtype, largest, beyond):
    pytest.importorskip("ml_dtypes")
    for value in (float(beyond), -float(beyond)):
        with pytest.raises(hp.InvalidArgumentError, match=f"a number that {dtype} cannot hold"):
            only(hp.range(1).map(lambda x, value=value: [0.0, value], output=(dtype, (2,))))
    kept = only(hp.range(1).map(lambda x: [float(largest), float("inf"), float("nan")], output=(dtype, (3,)))).astype("float64")
    assert np.isfinite(kept[0]) and np.isinf(kept[1]) and np.isnan(kept[2])


def test_texts_keep_zeros_at_the_end():
    for value in ([b"a\0", b"b"], [[b"a\0", b"b"]], [[["a\0"]]], ((b"\0",),)):
        kept = only(hp.from_tensors(list(value)))
        assert kept.tolist() == np.array([[one.encode() if isinstance(one, str) else one for one in np.array(value, object).flat]], object).reshape(kept.shape).tolist()
    assert only(hp.range(1).map(lambda x: [[b"a\0"]])).tolist() == [[b"a\0"]]
    made = hp.parse_example({"v": {"dtype": "bytes", "shape": [1]}})(hp.make_example({"v": [[b"a\0"]]}))
    assert list(made.values() if isinstance(made, dict) else [made])[0].tolist() == [b"a\0"]


@pytest.mark.parametrize("mixed", [[1, "a"], [1.5, b"a"], ["a", 1], [[1, "a"]], [True, "b"]])
def test_numbers_among_texts_are_refused(mixed):
    for make in (hp.from_tensor_slices, hp.from_tensors, lambda value: hp.make_example({"v": value})):
        with pytest.raises(hp.InvalidArgumentError, match="objects must be bytes or str"):
            make(mixed)


@pytest.mark.parametrize("dtype, value", [("uint32", [np.int32(-1)]), ("uint64", [np.int32(-1)]), ("uint8", [np.int8(-1)]),
                                          ("int32", [np.uint32(2**31)]), ("float16", [-2**63]), ("float16", [70_000])])
def test_numbers_of_another_sign_or_size_are_refused(dtype, value):
    with pytest.raises(hp.InvalidArgumentError, match=f"a number that {dtype} cannot hold"):
        only(hp.range(1).map(lambda x: value, output=(dtype, (1,))))


@pytest.mark.parametrize("wrap", [lambda big: big, lambda big: {"x": big}, lambda big: (big,)], ids=["value", "dict", "tuple"])
def test_an_array_that_is_the_functions_own_is_not_copied(wrap):
    made = []

    def function(x):
        big = np.ones(100_000, np.float32)
        made.append(weakref.ref(big))
        return wrap(big)

    field = ("float32", (None,))
    kept = next(iter(hp.Loader(hp.range(1).map(function, output={"x": field} if isinstance(wrap(0), dict) else field))))
    assert kept is not None and made[-1]() is not None, "the element has its memory"
    del kept
    until = time.monotonic() + 20
    while made[-1]() is not None and time.monotonic() < until:  # Its memory may be let go by another thread.
        time.sleep(0.01)
        gc.collect()
    assert made[-1]() is None


def test_an_empty_list_is_a_field_of_texts():
    words = hp.from_tensor_slices([b"a b", b""]).map(lambda line: {"words": line.split()})
    assert [one["words"].tolist() for one in words.sequence()] == [[b"a", b"b"], []]
    given = only(hp.from_generator(lambda epoch: iter([[]]), ("bytes", (None,))))
    assert given.dtype == object and given.shape == (0,)
    with pytest.raises(hp.InvalidArgumentError):
        only(hp.from_generator(lambda epoch: iter([np.empty(0, np.float32)]), ("bytes", (None,))))


def test_an_empty_list_is_a_feature_without_values():
    message = hp.make_example({"words": [], "more": [[]], "x": np.empty(0, np.float32)})
    for dtype in ("bytes", "int64", "float32"):
        fields = {name: {"kind": "VarLen", "dtype": dtype} for name in ("words", "more")}
        assert [len(one) for one in hp.parse_example(fields)(message).values()][:2] == [0, 0]
    with pytest.raises(hp.Error):
        hp.parse_example({"x": {"kind": "VarLen", "dtype": "int64"}})(message)
    assert hp.make_sequence_example({}, {"s": [[], ["a"]]}) != hp.make_sequence_example({}, {"s": [[""], ["a"]]})


def test_names_of_fields_in_any_encoding(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"caf\xe9,b\n1,2\n")
    rows = hp.csv(tmp_path / "a.csv")
    assert list(rows.spec) == ["caf\udce9", "b"] and "caf" in repr(rows)
    assert only(rows) == {"caf\udce9": 1, "b": 2}
    assert only(rows.map(lambda row: row)) == {"caf\udce9": 1, "b": 2}
    assert next(iter(hp.Loader(rows.batch(1))))["caf\udce9"].tolist() == [1]
    assert only(hp.range(1).map(lambda x: {"a\0b": 1, "a": 2})) == {"a\0b": 1, "a": 2}


def test_a_value_may_leave_its_dict_while_it_becomes_an_array():
    given = {}

    class Leaving:
        def __init__(self):
            self.values = np.arange(3.0)

        def __array__(self, dtype=None, copy=None):
            given.clear()
            return self.values

    def function(x):
        given["a"] = Leaving()
        return given

    rows = [one["a"].tolist() for one in hp.range(3).map(function, output={"a": (hp.f64, (3,))}).sequence()]
    assert rows == [[0.0, 1.0, 2.0]] * 3
