# SPDX-License-Identifier: Apache-2.0
"""What a program is told that is wrong, or that was written for another library."""
import numpy as np
import pytest

import headpond as hp


def test_integers_divide_as_integers_in_an_expression():
    pixels = hp.from_tensor_slices({"x": np.array([0, 51, 255], np.uint8)})
    assert [int(one) for one in pixels.map(hp.expr("x / 255")).sequence()] == [0, 0, 1]
    assert [float(one) for one in pixels.map(hp.expr("x / 255.0")).sequence()] == [0.0, 0.2, 1.0]


def test_names_of_files_may_be_bytes_as_list_files_gives_them(tmp_path):
    for name in ("a", "b", "ö"):
        (tmp_path / f"{name}.txt").write_text(f"{name}1\n{name}2\n")
    lines = hp.list_files(tmp_path / "*.txt", shuffle=False).flat_map(hp.text_lines)
    expected = [f"{name}{number}".encode() for name in ("a", "b", "ö") for number in (1, 2)]
    assert list(lines.sequence()) == expected
    one = str(tmp_path / "a.txt").encode()
    for paths in (one, np.bytes_(one), [one], np.array([one]), np.array(one), [tmp_path / "a.txt"]):
        assert list(hp.text_lines(paths).sequence()) == [b"a1", b"a2"], paths
    np.save(tmp_path / "x.npy", np.arange(3))
    assert len(hp.npy(str(tmp_path / "x.npy").encode())) == 3
    assert hp.expand_files(one) == [str(tmp_path / "a.txt")]
    hp.write_idx(tmp_path / "x.idx", np.arange(3, dtype=np.uint8))
    assert len(hp.idx(str(tmp_path / "x.idx").encode())) == 3


def test_a_name_of_a_file_need_not_be_utf_8(tmp_path):
    import os
    odd = os.fsencode(tmp_path) + b"/\xff.txt"
    with open(odd, "wb") as file:
        file.write(b"line\n")
    assert list(hp.list_files(tmp_path / "*.txt").flat_map(hp.text_lines).sequence()) == [b"line"]
    assert list(hp.text_lines(odd).sequence()) == [b"line"]


def by_parity(x):
    return x % 2


@pytest.mark.parametrize("build", [
    lambda: hp.range(9).take_while(by_parity), lambda: hp.range(9).take_while(predicate=lambda x: x < 3),
    lambda: hp.range(9).bucket_by_sequence_length(by_parity, bucket_boundaries=[3], bucket_batch_sizes=[2, 2]),
    lambda: hp.range(9).group_by_window(by_parity, window_size=3), lambda: hp.range(9).batch_by_size(9, by_parity),
    lambda: hp.range(9).rejection_resample(by_parity, [0.5, 0.5]),
    lambda: hp.range(8).batch(4).distribute(2, 0, cost_func=by_parity)])
def test_a_function_where_an_expression_or_a_field_is_taken(build):
    with pytest.raises(TypeError, match=r"cannot be a function .* an expression or the name of a field: .* by map\(\)"):
        build()


def test_a_reduction_is_no_function():
    for build in (lambda: hp.range(9).window(3, reduce_func=max), lambda: hp.range(9).group_by_window("x % 2", 3, max)):
        with pytest.raises(TypeError, match='reduce_func is "batch" or "padded_batch"'):
            build()


def test_expressions_dtypes_and_fields_are_no_functions():
    assert len(list(hp.range(9).take_while(hp.expr("x < 3")).sequence())) == 3
    assert hp.from_tensors(b"\1\2").decode_raw(np.uint8).spec == (hp.u8, (None,))
    assert [one.tolist() for one in hp.range(4).group_by_window("x % 2", 2).sequence()] == [[0, 2], [1, 3]]
