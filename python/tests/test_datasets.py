# SPDX-License-Identifier: Apache-2.0
"""What datasets say of themselves, sources, operators by name, and errors where they are built."""
import functools
import json
import pathlib
import threading
import wave

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


def test_options_are_those_that_with_options_set():
    assert hp.range(3).options() == {}
    hinted = hp.range(3).with_options(threads=0, deterministic=False).batch(2)
    assert hinted.options() == {"threads": 0, "deterministic": False}
    assert hinted.with_options(memory=1 << 30, threads=2).options() == {"deterministic": False, "threads": 2, "memory": 1 << 30}
    with pytest.raises(hp.InvalidArgumentError, match="threads"):
        hp.zip(hp.range(3).with_options(threads=1), hp.range(3).with_options(threads=2)).options()


def test_a_dataset_is_refused_before_it_is_too_deep_to_run():
    deep = one = hp.range(2)
    with pytest.raises(hp.InvalidArgumentError, match="1025 steps deep.*give all inputs to one concatenate"):
        for _ in range(5000):
            deep = deep.concatenate(one)
    for threads in (0, 2):
        assert sum(1 for _ in hp.Loader(deep, threads=threads)) == 2 * 1024


def test_no_names_of_files_are_no_elements():
    assert values(hp.tfrecord([])) == []


def test_operators_have_the_arguments_of_pipeline_files_by_position_and_by_name():
    assert values(hp.range(10).skip(2).take(count=3)) == [2, 3, 4]
    assert values(hp.range(10).batch(4, drop_remainder=True)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert values(hp.range(6).shard(3, 1)) == [1, 4]
    assert values(hp.range(5).filter(hp.expr("x % 2 == 0"))) == [0, 2, 4]
    assert values(hp.range(3).map(hp.expr("x * 2 + 1"))) == [1, 3, 5]
    converted = hp.from_tensor_slices({"image": np.arange(4, dtype=np.uint8).reshape(2, 2)}).map(hp.expr("image / 2.0", dtype=hp.f32), into="image")
    assert converted.spec == {"image": (hp.f32, (2,))}
    assert [row["image"].tolist() for row in converted.sequence()] == [[0, 0.5], [1, 1.5]]
    with pytest.raises(hp.InvalidArgumentError, match="256 does not fit uint8"):
        values(hp.range(3).map(hp.expr("x * 128", dtype=np.uint8)))
    with pytest.raises(TypeError, match="other steps take no dtype"):
        hp.range(3).filter(hp.expr("x", dtype=hp.u8))
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


@pytest.mark.parametrize("indices", [range(8, 2, -2), [8, 6, 4], (8, 6, 4), np.array([8, 6, 4]), {8: 0, 6: 0, 4: 0}.keys(), iter([8, 6, 4])])
def test_positions_may_be_what_can_be_iterated(indices):
    assert values(hp.range(9).select(indices)) == [8, 6, 4]


def test_fields_of_a_tuple_have_no_names_or_those_of_their_positions():
    x, y = np.arange(3.0), np.arange(5, 8)
    pairs = hp.from_tensor_slices((x, y))
    for numbered in (pairs.enumerate(3), pairs.shuffle().enumerate(3), pairs.filter(lambda pair: True).enumerate(3)):
        assert isinstance(numbered.spec, tuple) and [row[0] for row in numbered.sequence()] == [3, 4, 5]
    assert list(pairs.enumerate(3).sequence()) == [(3, 0, 5), (4, 1, 6), (5, 2, 7)]
    first, last = pairs.enumerate().batch(2).sequence()
    assert [one.tolist() for one in first] == [[0, 1], [0, 1], [5, 6]] and last[2].tolist() == [7]
    assert list(hp.zip(a=pairs, b=hp.range(2)).sequence()) == [{"a.0": 0, "a.1": 5, "b": 0}, {"a.0": 1, "a.1": 6, "b": 1}]
    assert list(hp.zip(pairs, hp.range(1)).sequence()) == [(0, 5, 0)]
    assert values(pairs.map(hp.expr("`0` + `1`"))) == [5, 7, 9] and len(values(pairs.filter("`1` > 5"))) == 2
    with pytest.raises(hp.InvalidArgumentError, match="no field 'x'; known: 0, 1"):
        pairs.filter("x > 1")
    assert [row["valid"] for row in pairs.pad_to_cardinality(4).sequence()] == [True] * 3 + [False]
    assert next(pairs.ragged_batch(3).sequence())["1"].tolist() == [5, 6, 7]


def test_each_field_beside_one_with_a_name_has_one():
    named = hp.from_tensor_slices({"a": np.arange(2), "x": np.arange(2)})
    assert next(hp.zip(named.map("x", lambda x: x), hp.range(7, 9), hp.range(8, 10)).sequence()) == {"a": 0, "x": 0, "2": 7, "3": 8}
    assert next(hp.zip(hp.range(2).map(lambda n: {"a": n}), hp.range(7, 9)).sequence()) == {"a": 0, "x": 7}


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


def test_examples_are_written_and_read(tmp_path):
    image = np.arange(6, dtype=np.uint8).reshape(2, 3)
    made = hp.make_example({"label": 3, "image": image, "text": "a", "texts": [b"b", b""], "weights": np.array([0.5, 2]), "flag": True, "kind": np.uint8(7)})
    assert made == hp.make_example({"kind": 7, "weights": [0.5, 2], "texts": ["b", ""], "image": image.tobytes(), "text": b"a", "label": np.int32(3), "flag": 1})
    with hp.RecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.append(made)
    types = {"label": "int64", "image": "uint8", "text": "bytes", "weights": "float32", "flag": "int64", "kind": "int64", "texts": "bytes"}
    shapes = {"image": [2, 3], "weights": [2], "texts": [2]}
    read = next(hp.tfrecord(tmp_path / "a.tfrecord").parse_example({key: {"dtype": dtype, "shape": shapes.get(key, [])} for key, dtype in types.items()}).sequence())
    assert np.array_equal(read["image"], image) and read["weights"].tolist() == [0.5, 2] and read["texts"].tolist() == [b"b", b""]
    assert (read["label"], read["text"], read["flag"], read["kind"]) == (3, b"a", 1, 7)
    assert hp.make_example({"x": [np.uint8(1), np.uint8(2)]}) == hp.make_example({"x": b"\1\2"})
    assert hp.make_example({"x": [1, 0.5, -2**63]}) == hp.make_example({"x": np.array([1, 0.5, -2**63], np.float32)})
    for wrong in ({"x": 2**63}, {"x": [1, 2**63]}, {"x": [-1, 2**70]}, {"x": None}, {"x": 1j}):
        with pytest.raises(hp.InvalidArgumentError):
            hp.make_example(wrong)


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


CHECKED = ["bytes_forecast", "cardinality", "element_ns", "endless", "errors", "failed", "fill_s_forecast", "findings", "first_batch_s_forecast",
           "label", "left_out", "mapped_bytes", "memory", "orders", "prepared", "seed", "shuffle", "spec", "text", "tried"]


def test_check_has_the_names_of_the_command_line():
    found = hp.range(1000).shuffle(window=20).batch(10).check(seed=3)
    assert sorted(found) == CHECKED
    assert (found["seed"], found["spec"], found["cardinality"], found["endless"]) == (3, "{0: int64[?]}", 100, False)
    assert found["shuffle"] == found["orders"][0] and sorted(found["shuffle"]) == ["displacement", "mix", "op", "reach", "rows", "span"]
    assert found["tried"] == 64 and str(found) == found["text"]
    endless = hp.range(10).repeat().check()
    assert (endless["cardinality"], endless["endless"], endless["shuffle"]) == (-1, True, None)


def test_check_makes_no_more_than_was_asked_for():
    made = []
    dataset = hp.range(1000).map(lambda x: made.append(int(x)) or x, name="f", output=(hp.i64, ())).batch(10)
    assert dataset.check(elements=0)["tried"] == 0 and made == []
    assert "no element was made" in str(dataset.check(elements=0))
    assert dataset.check(elements=4)["tried"] == 4 and [one // 250 for one in made] == [0, 1, 2, 3]


def test_check_sees_data_with_a_period_as_it_is():
    found = hp.range(10_000).filter("x % 20 == 0").batch(8).check()
    assert abs(found["left_out"] - 64 * 0.95) < 5 and any("made in vain" in one for one in found["findings"])
    assert found["prepared"]["bytes"] == round(80_000 * (64 - found["left_out"]) / 64)
    assert abs(hp.range(10_000).filter("x % 2 == 0").check()["left_out"] - 32) < 10


def test_explain():
    dataset = hp.range(100).shuffle().batch(10)
    assert "batch" in dataset.explain()
    assert "plan" in json.loads(dataset.explain(format="json"))
    assert dataset.explain(format="dot").startswith("digraph")
    with pytest.raises(hp.InvalidArgumentError, match="no format"):
        dataset.explain(format="pdf")


def test_a_pipeline_file(tmp_path):
    (tmp_path / "p.toml").write_text("seed = 9\n[[step]]\nop = 'range'\nargs = { stop = 4 }\n")
    dataset, seed = hp.read_plan(tmp_path / "p.toml")
    with pytest.raises(hp.NotFoundError, match="read_plan: .*absent.toml: no such file"):
        hp.read_plan(tmp_path / "absent.toml")
    with pytest.raises(hp.NotFoundError, match="no such file") as raised:
        hp.read_plan(bytes(tmp_path / "absent.toml"))
    assert raised.value.file == str(tmp_path / "absent.toml")
    with pytest.raises(hp.InvalidArgumentError, match="is a folder"):
        hp.read_plan(tmp_path)
    with pytest.raises(hp.InvalidArgumentError, match="a text is needed, not 3"):
        hp._core.read_plan(3)
    assert hp.read_plan(bytes(tmp_path / "p.toml"))[1] == 9
    assert (values(dataset), seed) == ([0, 1, 2, 3], 9)


def test_kernels_are_functions_too():
    data = hp.from_tensors({"image": np.arange(12, dtype=np.uint8).reshape(2, 2, 3)})
    flipped = next(iter(data.map("image", hp.random_horizontal_flip(p=1.0)).sequence()))["image"]
    assert flipped[:, :, 0].tolist() == [[3, 0], [9, 6]]
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    assert hp.random_horizontal_flip(1.0)(image, rng=np.random.default_rng(1)).tolist() == flipped.tolist()
    assert hp.invert()(image).tolist() == (255 - image).tolist()


def write_sound(path, rate):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.sin(np.arange(rate // 10) * 0.05) * 20000).astype("<i2").tobytes())


def test_sounds_of_several_rates_come_at_one(tmp_path):
    def resampled(rate, stated):
        return hp.resample(from_=stated, to=16000)(hp.decode_wav()((tmp_path / "clips" / f"{rate}.wav").read_bytes()))

    (tmp_path / "clips").mkdir()
    for rate in (8000, 16000, 44100):
        write_sound(tmp_path / "clips" / f"{rate}.wav", rate)
    for decoder, threads in [(hp.decode_sound, 0), (hp.decode_sound, 2), (hp.decode_wav, 2)]:
        clips = hp.folder(tmp_path, extensions=["wav"]).map("file", decoder(sample_rate=16000))
        found = {int(pathlib.Path(one["path"].decode()).stem): one["file"] for one in hp.Loader(clips, threads=threads)}
        assert {rate: clip.shape for rate, clip in found.items()} == dict.fromkeys((8000, 16000, 44100), (1600, 1))
        for rate, clip in found.items():
            assert np.array_equal(clip, resampled(rate, rate))
            assert not np.array_equal(clip, resampled(rate, rate + 5)), "control"
    with pytest.raises(hp.InvalidArgumentError, match="sample_rate must be 0, or 1 to 768000"):
        hp.folder(tmp_path, extensions=["wav"]).map("file", hp.decode_sound(sample_rate=-1))


def test_a_random_kernel_as_a_function_draws_from_the_generator_that_it_is_given():
    image = np.arange(300, dtype=np.uint16).astype(np.uint8).reshape(10, 10, 3)
    rng = np.random.default_rng(1)
    assert len({hp.random_crop(2)(image, rng=rng).tobytes() for _ in range(50)}) > 10
    with pytest.raises(TypeError, match="rng="):
        hp.random_crop(2)(image)


def test_slices_of_a_tuple_are_unnamed_fields_and_of_a_list_one_array():
    x, y = np.arange(6).reshape(3, 2), np.arange(3)
    pairs = list(hp.from_tensor_slices((x, y)).sequence())
    assert [(a.tolist(), int(b)) for a, b in pairs] == [([0, 1], 0), ([2, 3], 1), ([4, 5], 2)]
    assert len(hp.from_tensor_slices((y, y))) == 3
    assert len(hp.from_tensor_slices([y, y])) == 2
    assert [one.tolist() for one in next(hp.from_tensors((x, y)).sequence())] == [x.tolist(), y.tolist()]


def test_features_by_name_or_as_files_have_them():
    features = {"image": {"dtype": "uint8", "shape": [28, 28]}, "label": (hp.i64, ()), "text": bytes}
    spec = hp.from_tensors(b"").parse_example(features).spec
    assert spec == {"image": (hp.u8, (28, 28)), "label": (hp.i64, ()), "text": (hp.bytes, ())}
    listed = [{"key": "image", "dtype": "uint8", "shape": [28, 28]}, {"key": "label", "dtype": "int64"}, {"key": "text", "dtype": "bytes"}]
    assert hp.from_tensors(b"").parse_example(listed).spec == spec


def test_parsers_are_for_map_and_for_a_value():
    parse = hp.parse_example({"image": (hp.u8, (2, 2)), "label": hp.i64, "text": {"dtype": "bytes", "default_value": "none"}})
    messages = [hp.make_example({"image": np.full((2, 2), label, np.uint8), "label": label}) for label in range(3)]
    one = parse(messages[2])
    assert (one["image"].tolist(), int(one["label"]), one["text"]) == ([[2, 2], [2, 2]], 2, b"none")
    data = hp.from_tensor_slices(messages)
    assert data.map(parse).plan() == data.parse_example(parse.options["features"]).plan()
    assert [int(each["label"]) for each in data.map(parse, name="parsed").sequence()] == [0, 1, 2]
    with pytest.raises(hp.InvalidArgumentError, match="label"):
        parse(hp.make_example({"image": np.zeros((2, 2), np.uint8)}))
    line = hp.parse_json({"a": hp.i64, "b": (hp.f32, (2,))})
    assert int(line('{"a": 5, "b": [1, 2.5]}')["a"]) == 5 and line(b'{"a": 5, "b": [1, 2.5]}')["b"].tolist() == [1, 2.5]
    assert repr(hp.parse_json({"a": hp.i64})).startswith("hp.parse_json(fields=")
    for wrong in (lambda: data.map(parse, abs), lambda: data.map(parse, parse), lambda: data.map(parse, into="x"),
                  lambda: data.map(parse, output=hp.i64)):
        with pytest.raises(TypeError):
            wrong()


def test_a_parser_of_a_field_keeps_the_others():
    records = [hp.make_example({"label": label, "x": np.full(3, label, np.float32)}) for label in range(40)]
    parse = hp.parse_example({"label": hp.i64, "x": (hp.f32, (3,))})
    data = hp.from_tensor_slices({"i": np.arange(40), "record": records, "name": [str(i) for i in range(40)]}).map("record", parse)
    assert data.spec == {"i": (hp.i64, ()), "label": (hp.i64, ()), "x": (hp.f32, (3,)), "name": (hp.bytes, ())}
    assert data.plan() == hp.from_tensor_slices({"i": np.arange(40), "record": records, "name": [str(i) for i in range(40)]}).parse_example(
        parse.options["features"], field="record").plan()
    for batch in hp.Loader(data.shuffle().batch(8), threads=2):
        assert (batch["i"] == batch["label"]).all() and (batch["x"] == batch["i"][:, None]).all()
        assert batch["name"].tolist() == [str(i).encode() for i in batch["i"]]
    lines = hp.from_tensor_slices({"text": ['{"a": 5}', '{"a": 6}'], "i": [0, 1]})
    assert [dict(one) for one in lines.map("text", hp.parse_json({"a": hp.i64})).sequence()] == [{"a": 5, "i": 0}, {"a": 6, "i": 1}]
    read = lines.map("text", lambda text: text.replace(b"a", b"b"), hp.parse_json({"b": hp.i64}))
    assert [int(one["b"]) for one in read.sequence()] == [5, 6]
    with pytest.raises(hp.InvalidArgumentError, match="two fields named 'i'"):
        lines.map("text", hp.parse_json({"i": hp.i64}))
    with pytest.raises(hp.InvalidArgumentError, match="no field 'none'"):
        lines.map("none", hp.parse_json({"a": hp.i64}))


def test_sequence_examples_are_written_as_they_are_read():
    words, steps = [b"a", b"bc", b""], np.arange(6, dtype=np.float64).reshape(3, 2)
    message = hp.make_sequence_example({"n": 3, "text": "whole"}, {"words": words, "steps": steps, "none": []})
    assert message == hp.make_sequence_example({"text": b"whole", "n": np.uint8(3)}, {"none": (), "steps": steps.tolist(), "words": words})
    parse = hp.parse_sequence_example({"n": hp.i64, "text": bytes}, {
        "words": {"dtype": "bytes", "kind": "FixedLenSequence"}, "steps": {"dtype": "float32", "shape": [2], "kind": "FixedLenSequence"}})
    read = parse(message)
    assert (int(read["n"]), read["text"], list(read["words"]), read["steps"].tolist()) == (3, b"whole", words, steps.tolist())
    for context, lists in (({"n": 2**63}, {}), ({}, {"n": [1, 2**63]}), ({"n": 1j}, {}), ({}, {"a": "text"}), ({}, {"a": b"text"})):
        with pytest.raises(hp.InvalidArgumentError):
            hp.make_sequence_example(context, lists)


def test_datasets_of_files_for_each_element(tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"n,text\n1,{name}\n2,{name}{name}\n")
    paths = hp.from_tensor_slices([str(tmp_path / f"{name}.csv") for name in "ab"])
    rows = list(paths.interleave(lambda path: hp.csv(path.decode()), cycle_length=2).sequence())
    assert [(int(row["n"]), row["text"]) for row in rows] == [(1, b"a"), (1, b"b"), (2, b"aa"), (2, b"bb")]
    lines = paths.flat_map(lambda path: hp.text_lines(path.decode()), output=(bytes, ()))
    assert [len(list(each)) for each in (lines.sequence(), hp.Loader(lines))] == [6, 6]


def test_arguments_that_do_not_apply_are_refused():
    image = hp.from_tensors({"image": np.zeros((4, 4, 3), np.uint8)})
    for call, word in ((lambda: hp.range(3).map(abs, into="y"), "into"), (lambda: hp.range(3).map(abs, fields={}), "fields"),
                       (lambda: image.map("image", hp.invert(), output=(hp.u8, ())), "output"),
                       (lambda: hp.range(3).map(hp.expr("x"), version=2), "version"),
                       (lambda: image.map("image", abs, hp.invert(), output=(hp.u8, ())), "output")):
        with pytest.raises(TypeError, match=word):
            call()


def test_output_is_of_the_last_function():
    made = hp.range(3).map(lambda x: np.uint8(x), lambda x: x.astype(np.float32), output=(hp.f32, ()))
    assert [one.dtype.name for one in made.sequence()] == ["float32"] * 3


def test_the_plan_is_made_once_as_each_state_has_it():
    dataset = hp.range(10).shuffle().batch(2)
    assert dataset.plan() is dataset.plan()
    assert dataset.plan() != dataset.batch(3).plan()
    assert hp.Loader(dataset).state_dict()["plan"] is dataset.plan()


def test_the_field_and_a_partials_arguments_are_a_part_of_the_plan():
    both = hp.from_tensors({"a": np.arange(3), "b": np.arange(3)})
    plans = {both.map(field, functools.partial(np.add, amount)).plan() for field in "ab" for amount in (1, 2)}
    assert len(plans) == 4 and not any("opaque" in plan for plan in plans)
    assert "opaque" in both.map("a", functools.partial(np.add, np.arange(3))).plan()


def test_odd_values_are_named():
    for call in (lambda: hp.range(2**64), lambda: hp.range(3).map(lambda x: {1: x}), lambda: hp.Loader(hp.range(3), seed=-1),
                 lambda: hp.range(3).sequence(seed=2**64), lambda: hp.range(3, output_type="i8"),
                 lambda: hp.from_generator(lambda epoch: iter([0]), ("i8", ()))):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(FileNotFoundError):
        len(hp.text_lines("/tmp/\udcff.txt"))
    with pytest.raises(TypeError):
        hp.from_generator(lambda epoch: iter([0]), None)


@pytest.mark.filterwarnings("ignore:.*encountered in cast")  # NumPy's, before the error.
def test_numbers_become_the_dtype_that_is_said_only_if_it_holds_them():
    def first(value, dtype, shape=()):
        return next(hp.from_generator(lambda epoch: iter([value]), (dtype, shape)).sequence())

    assert first([], hp.i64, (None,)).dtype == np.int64
    assert first(2**24, hp.f32) == 2.0**24
    for value, dtype in ((2**24 + 1, hp.f32), (70000, hp.f16), (300, hp.u8), (0.5, hp.i64)):
        with pytest.raises(hp.Error, match="hold|needed"):
            first(value, dtype)


def test_a_dataset_and_a_loader_are_true():
    unknown = hp.range(10).filter("x > 3")
    assert unknown and hp.Loader(unknown) and hp.range(0)


def test_one_thread_at_a_time_reads_a_sequence():
    began, go_on = threading.Event(), threading.Event()

    def waits(x):
        began.set()
        go_on.wait()
        return x

    sequence = hp.range(3).map(waits, output=(hp.i64, ())).sequence()
    other = threading.Thread(target=next, args=(sequence,))
    other.start()
    began.wait()
    for call in (lambda: next(sequence), sequence.state):
        with pytest.raises(hp.FailedPreconditionError, match="another thread"):
            call()
    go_on.set()
    other.join()
    assert next(sequence) == 1


def test_a_sequence_has_the_state_of_a_loader():
    data = hp.range(20).shuffle().batch(4)
    sequence, loader = data.sequence(seed=3, epochs=2), hp.Loader(data, seed=3, epochs=2)
    assert repr(sequence).startswith("<headpond.Sequence, before the first element, of <headpond.Dataset ")
    for _ in range(7):
        assert next(sequence).tolist() == loader.next().tolist()
    state = sequence.state_dict()
    assert state == loader.state_dict() and (state["epoch"], state["index"]) == (1, 1)
    assert repr(sequence).startswith("<headpond.Sequence, epoch 1, element 1, of ")
    rest = [one.tolist() for one in sequence]
    again, other = data.sequence(seed=3, epochs=2), hp.Loader(data, seed=3, epochs=2)
    again.load_state_dict(loader.state_dict())
    other.load_state_dict(state)
    assert (again.epoch, again.index) == (1, 1) and again.get_state() == state
    assert [one.tolist() for one in again] == [one.tolist() for one in other.flat()] == rest and len(rest) == 3
    place = again.get_state()
    with pytest.raises(hp.FailedPreconditionError):
        again.set_state(data.sequence(seed=4).state_dict())
    with pytest.raises(hp.FailedPreconditionError, match="version"):
        again.set_state({**state, "version": 0})
    assert again.get_state() == place, "a state that is refused changes nothing"


def test_the_parts_of_a_sequences_state_are_of_one_moment():
    data = hp.range(20).batch(4)

    class Moves(type(data.sequence())):
        def state(self):  # As if another thread went on meanwhile.
            saved = super().state()
            next(self)
            return saved

    sequence, other = Moves(data, 0, 1, None), data.sequence()
    next(sequence)
    state = sequence.state_dict()
    assert sequence.index == 1
    other.load_state_dict(state)
    assert (state["epoch"], state["index"]) == (other.epoch, other.index) == (0, 0)


def test_a_writer_left_by_an_exception_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.tfrecord"
    with hp.RecordWriter(path) as writer:
        writer.append(b"old")
    with pytest.raises(KeyError):
        with hp.RecordWriter(path) as writer:
            writer.append(b"new")
            raise KeyError
    assert list(hp.RecordReader(path)) == [b"old"]
    with pytest.raises(hp.FailedPreconditionError):
        writer.append(b"more")
    assert repr(hp.random_crop(128)) == "hp.random_crop(size=128)"


def test_a_step_of_your_own():
    assert values(hp.range(6).apply(lambda dataset: dataset.skip(4))) == [4, 5]
