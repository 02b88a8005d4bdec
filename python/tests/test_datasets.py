# SPDX-License-Identifier: Apache-2.0
"""What datasets say of themselves, sources, operators by name, and errors where they are built."""
import json
import pathlib

import numpy as np
import pytest

import headpond as hp


def values(dataset, **options):
    return [element.tolist() if isinstance(element, (np.ndarray, np.generic)) else element for element in dataset.sequence(**options)]


def test_a_range_says_what_it_is():
    numbers = hp.range(10)
    assert numbers.spec == hp.FieldSpec(hp.i64, ())
    assert (numbers.kind, len(numbers), values(numbers)) == ("indexed", 10, list(range(10)))
    assert values(hp.range(2, 9, 3, output_type=hp.f32)) == [2.0, 5.0, 8.0]
    assert "range(" in repr(numbers) and "10 elements" in repr(numbers)


def test_len_needs_a_number_that_is_known():
    assert len(hp.range(10).batch(3)) == 4
    with pytest.raises(TypeError, match="not known"):
        len(hp.range(10).filter("x > 3"))
    with pytest.raises(TypeError, match="no end"):
        len(hp.range(10).repeat())
    assert hp.range(10).repeat().cardinality() == -1
    assert hp.range(10).filter("x > 3").cardinality() is None


def test_operators_have_the_arguments_of_pipeline_files_by_position_and_by_name():
    assert values(hp.range(10).skip(2).take(count=3)) == [2, 3, 4]
    assert values(hp.range(10).batch(4, drop_remainder=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert values(hp.range(6).shard(3, 1)) == [1, 4]
    assert values(hp.range(5).filter(hp.expr("x % 2 == 0"))) == [0, 2, 4]
    assert values(hp.range(3).map(hp.expr("x * 2 + 1"))) == [1, 3, 5]
    assert sorted(values(hp.range(50).shuffle(), seed=3)) == list(range(50))
    assert values(hp.range(50).shuffle(), seed=3) != values(hp.range(50).shuffle(), seed=4)
    assert list(hp.range(2).enumerate(5).sequence()) == [{"index": 5, "x": 0}, {"index": 6, "x": 1}]


def test_every_operator_of_pipeline_files_is_there():
    from headpond import _core
    for op, takes, _ in _core.operators():
        if op != "element":
            assert hasattr(hp if takes <= 1 else hp.Dataset, op), op
    for kernel, _ in _core.kernels():
        assert callable(getattr(hp, kernel)), kernel


@pytest.mark.parametrize("build, text", [
    (lambda: hp.range(3).batch(0), "batch"),
    (lambda: hp.range(3).take(cuont=3), "did you mean 'count'"),
    (lambda: hp.range(3).shuffle(window=0), "window is 0"),
    (lambda: hp.range(3).map(hp.expr("y + 1")), "y"),
])
def test_what_cannot_be_is_refused_where_it_is_built(build, text):
    with pytest.raises(hp.InvalidArgumentError, match=text) as caught:
        build()
    assert isinstance(caught.value, ValueError) and caught.value.kind == "InvalidArgument"


def test_wrong_calls_are_type_errors():
    with pytest.raises(TypeError, match="at most 2"):
        hp.range(3).batch(1, True, 5)
    with pytest.raises(TypeError, match="two values"):
        hp.range(3).take(1, count=2)
    with pytest.raises(TypeError, match="no option 'size'"):
        hp.decode_png(size=3)


def test_sources_join():
    a, b = hp.range(3), hp.range(10, 13)
    assert list(hp.zip(a=a, b=b).sequence()) == [{"a": i, "b": 10 + i} for i in range(3)]
    assert values(hp.zip(a, b)) == [(0, 10), (1, 11), (2, 12)]
    assert values(a.concatenate(b)) == [0, 1, 2, 10, 11, 12]
    mixed = values(hp.mix([a, b], [1, 2]))[:3]
    assert sum(value >= 10 for value in mixed) == 2
    assert values(hp.choose_from_datasets([a, b], hp.from_tensor_slices(np.array([1, 0, 1])))) == [10, 0, 11]


def test_datasets_nest():
    assert values(hp.range(1, 4).flat_map(lambda n: hp.range(int(n)))) == [0, 0, 1, 0, 1, 2]
    assert values(hp.range(0, 20, 10).interleave(lambda n: hp.range(int(n), int(n) + 3), cycle_length=2)) == [0, 10, 1, 11, 2, 12]


def test_files(tmp_path):
    with hp.RecordWriter(tmp_path / "a.tfrecord") as writer:
        for text in (b"one", b"two", b""):
            writer.append(text)
    assert list(hp.RecordReader(tmp_path / "a.tfrecord")) == [b"one", b"two", b""]
    assert values(hp.tfrecord(tmp_path / "a.tfrecord")) == [b"one", b"two", b""]
    assert values(hp.tfrecord([str(tmp_path / "*.tfrecord")]).take(1)) == [b"one"]
    (tmp_path / "t.txt").write_text("x\ny\n")
    assert values(hp.text_lines(tmp_path / "t.txt", skip_header_lines=1)) == [b"y"]
    (tmp_path / "t.csv").write_text("a,b\n1,2.5\n3,4.5\n")
    assert [(row["a"], row["b"]) for row in hp.csv(tmp_path / "t.csv").sequence()] == [(1, 2.5), (3, 4.5)]
    np.save(tmp_path / "t.npy", np.arange(6, dtype=np.int32).reshape(3, 2))
    assert values(hp.npy(tmp_path / "t.npy")) == [[0, 1], [2, 3], [4, 5]]
    for label in ("cat", "dog"):
        (tmp_path / "photos" / label).mkdir(parents=True)
        (tmp_path / "photos" / label / "1.bin").write_bytes(label.encode())
    assert [(one["file"], one["label"]) for one in hp.folder(tmp_path / "photos").sequence()] == [(b"cat", 0), (b"dog", 1)]
    assert values(hp.fixed_length(tmp_path / "photos/cat/1.bin", 1)) == [[ord("c")], [ord("a")], [ord("t")]]


def test_a_missing_file_is_not_found(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        len(hp.tfrecord(tmp_path / "none.tfrecord"))
    assert isinstance(caught.value, hp.NotFoundError) and "none.tfrecord" in str(caught.value)


def test_a_damaged_record_names_file_record_and_offset(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hp.RecordWriter(path) as writer:
        for text in (b"first", b"second", b"third"):
            writer.append(text)
    damaged = bytearray(path.read_bytes())
    damaged[12 + 5 + 4 + 12] ^= 1
    path.write_bytes(bytes(damaged))
    reading = hp.tfrecord(path).sequence()
    assert next(reading) == b"first"
    with pytest.raises(hp.DataLossError) as caught:
        next(reading)
    assert (caught.value.file, caught.value.record, caught.value.offset) == (str(path), 1, 21)
    assert next(reading) == b"third"


def test_write_shards_and_save(tmp_path):
    texts = hp.from_tensor_slices([b"a", b"b", b"c"])
    report = texts.write_shards(tmp_path / "out", name="t", shards=2)
    assert report["records"] == 3 and all(pathlib.Path(path).is_file() for path in report["paths"])
    assert values(hp.tfrecord(tmp_path / "out" / "t-*.tfrecord")) == [b"a", b"b", b"c"]
    assert hp.range(5).save(tmp_path / "saved") == 5
    assert values(hp.load(path=tmp_path / "saved")) == [0, 1, 2, 3, 4]


def test_explain():
    dataset = hp.range(100).shuffle().batch(10)
    assert "batch" in dataset.explain()
    assert "plan" in json.loads(dataset.explain(format="json"))
    assert dataset.explain(format="dot").startswith("digraph")
    assert "<html" in dataset._repr_html_()
    with pytest.raises(hp.InvalidArgumentError, match="no format"):
        dataset.explain(format="pdf")


def test_a_pipeline_file(tmp_path):
    (tmp_path / "p.toml").write_text("seed = 9\n[[step]]\nop = 'range'\nargs = { stop = 4 }\n")
    dataset, seed = hp.read_plan(tmp_path / "p.toml")
    assert (values(dataset), seed) == ([0, 1, 2, 3], 9)


def test_kernels_are_functions_too():
    data = hp.from_tensors({"image": np.arange(12, dtype=np.uint8).reshape(2, 2, 3)})
    flipped = next(iter(data.map("image", hp.random_horizontal_flip(p=1.0)).sequence()))["image"]
    assert flipped[:, :, 0].tolist() == [[3, 0], [9, 6]]
    assert hp.random_horizontal_flip(1.0)(np.arange(12, dtype=np.uint8).reshape(2, 2, 3)).tolist() == flipped.tolist()
    assert repr(hp.random_crop(128)) == "hp.random_crop(size=128)"


def test_a_step_of_your_own():
    assert values(hp.range(6).apply(lambda dataset: dataset.skip(4))) == [4, 5]
