# SPDX-License-Identifier: Apache-2.0
"""Other libraries, as they are: Arrow, pandas, Hugging Face datasets, JAX, torchdata, Keras, TensorBoard. What is not installed is skipped."""
import gc
import json
import os

import numpy as np
import pytest

import headpond as hp
from headpond._arrow import _decoded


def rows_of(dataset):
    return [{name: value.tolist() if hasattr(value, "tolist") else value for name, value in row.items()} for row in dataset.sequence()]


ROWS = [{"n": 1, "x": 0.5, "text": b"a", "yes": True, "pair": [1, 2], "list": [1.5]},
        {"n": 2, "x": 1.5, "text": b"bb", "yes": False, "pair": [3, 4], "list": []},
        {"n": 3, "x": 2.5, "text": b"", "yes": True, "pair": [5, 6], "list": [2.5, 3.5]}]


def table(pyarrow, *names):
    kinds = {"n": pyarrow.int32(), "x": pyarrow.float32(), "text": pyarrow.string(), "yes": pyarrow.bool_(),
             "pair": pyarrow.list_(pyarrow.int64(), 2), "list": pyarrow.list_(pyarrow.float64())}
    return pyarrow.table({name: pyarrow.array([row[name] for row in ROWS], kinds[name]) for name in names})


def test_an_arrow_table():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    names = ("n", "x", "text", "yes", "pair")
    made = hp.from_arrow(table(pyarrow, *names))
    assert (made.kind, len(made), made.spec["pair"]) == ("indexed", 3, (hp.i64, (2,)))
    assert rows_of(made) == [{name: row[name] for name in names} for row in ROWS]
    assert rows_of(hp.from_arrow(pyarrow.concat_tables([table(pyarrow, *names)] * 2))) == rows_of(made) * 2
    assert rows_of(hp.from_arrow(table(pyarrow, *names).slice(1, 1))) == rows_of(made)[1:2]
    with pytest.raises(hp.InvalidArgumentError, match="timestamp"):
        hp.from_arrow(pyarrow.table({"t": pyarrow.array([1], pyarrow.timestamp("s"))}))


def test_an_arrow_column_is_not_copied_and_stays():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    column = pyarrow.array(np.arange(100_000, dtype=np.float64))
    address = column.buffers()[1].address
    made = hp.from_arrow(pyarrow.table({"x": column.slice(0, 100_000)})).map("x", lambda x: x, output=(hp.f64, ()))
    rows = hp.from_arrow(pyarrow.table({"x": pyarrow.FixedSizeListArray.from_arrays(column, 1000)}))
    first = next(rows.sequence())["x"]
    assert first.ctypes.data == address and not first.flags.writeable
    del column
    gc.collect()
    assert float(sum(one["x"].sum() for one in rows.sequence())) == sum(range(100_000)) and len(made) == 100_000


def test_lists_are_rows_of_their_own_length():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    made = hp.from_arrow(table(pyarrow, "n", "text", "list"))
    assert rows_of(made) == [{name: row[name] for name in ("n", "text", "list")} for row in ROWS]
    padded = next(made.padded_batch(3).sequence())["list"]
    assert padded.tolist() == [[1.5, 0], [0, 0], [2.5, 3.5]]
    other = hp.from_arrow(table(pyarrow, "n", "text", "list").slice(1))
    assert made.plan() != other.plan() and "opaque" not in made.plan()


def test_nulls_are_refused_or_filled():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    holes = pyarrow.table({"n": [1, None, 3], "text": ["a", None, "c"]})
    with pytest.raises(hp.InvalidArgumentError, match="'n' has 1 nulls"):
        hp.from_arrow(holes)
    inside = pyarrow.table({"lists": [[1, None], [], [3]], "pairs": pyarrow.array([[1, 2], [None, 4], [5, 6]], pyarrow.list_(pyarrow.int64(), 2))})
    for name in inside.column_names:
        with pytest.raises(hp.InvalidArgumentError, match=f"'{name}' has 1 nulls"):
            hp.from_arrow(inside.select([name]))
    rows = [{name: list(value) for name, value in row.items()} for row in rows_of(hp.from_arrow(inside, fill=0))]
    assert rows == [{"lists": [1, 0], "pairs": [1, 2]}, {"lists": [], "pairs": [0, 4]}, {"lists": [3], "pairs": [5, 6]}]
    filled = hp.from_arrow(holes, fill={"n": -1, "text": ""})
    assert rows_of(filled) == [{"n": 1, "text": b"a"}, {"n": -1, "text": b""}, {"n": 3, "text": b"c"}]


def test_dictionaries_and_all_kinds_of_texts():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    texts = ["a", "longer than twelve", "a"]
    expected = [{"x": text.encode()} for text in texts]
    kinds = ["string", "large_string", "binary", "large_binary", *(["string_view", "binary_view"] if hasattr(pyarrow, "string_view") else [])]
    for kind in kinds:
        assert rows_of(hp.from_arrow(pyarrow.table({"x": pyarrow.array(texts, kind)}))) == expected, kind
        assert rows_of(hp.from_arrow(pyarrow.table({"x": pyarrow.array([*texts[:2], None], kind)}), fill=texts[2])) == expected, kind
    assert rows_of(hp.from_arrow(pyarrow.table({"x": pyarrow.array([b"ab", b"cd"], pyarrow.binary(2))}))) == [{"x": b"ab"}, {"x": b"cd"}]
    for values in (texts, [5, 3, 5]):
        parts = [pyarrow.array(values[:2]).dictionary_encode(), pyarrow.array([values[2]]).dictionary_encode()]
        table = pyarrow.table({"x": pyarrow.chunked_array(parts)})
        assert rows_of(hp.from_arrow(table)) == [{"x": one.encode() if isinstance(one, str) else one} for one in values]
    if hasattr(pyarrow, "string_view"):  # As polars has categories.
        views = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0, 1], "uint32"), pyarrow.array([texts[1], "a"], "string_view"))
        assert rows_of(hp.from_arrow(pyarrow.table({"x": views}))) == expected
    assert len(hp.from_arrow(pyarrow.table({"x": pyarrow.array(["a"]).dictionary_encode()}).slice(1))) == 0
    for kind in (pyarrow.string(), pyarrow.binary()):  # Of which all rows together may have more than 2 GiB.
        texts = pyarrow.chunked_array([pyarrow.array(["a", "a"], kind).dictionary_encode()])
        assert str(_decoded(texts, pyarrow).type) == f"large_{kind}"
    known = pyarrow.table({"x": pyarrow.array([None, "b"]).dictionary_encode()})
    with pytest.raises(hp.InvalidArgumentError, match="column 'x' has 1 nulls"):
        hp.from_arrow(known)
    assert rows_of(hp.from_arrow(known, fill="a")) == [{"x": b"a"}, {"x": b"b"}], "of which the dictionary has only one"


def test_a_dictionary_of_a_dictionary():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    for values in (["a", "b"], [10, 20]):
        inner = pyarrow.DictionaryArray.from_arrays(pyarrow.array([1, 0]), pyarrow.array(values))
        outer = pyarrow.DictionaryArray.from_arrays(pyarrow.array([0, 1, 0]), inner)
        found = [one["x"] for one in hp.from_arrow(pyarrow.table({"x": outer})).sequence()]
        expected = [values[1], values[0], values[1]]
        assert found == [one.encode() if isinstance(one, str) else one for one in expected]


def test_rows_that_a_part_of_a_table_left_out_do_not_count():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pyarrow.table({"x": [[1, None], [3], [4, 5]]})
    assert [row["x"].tolist() for row in hp.from_arrow(table.slice(1))] == [[3], [4, 5]]
    assert [row["x"].tolist() for row in hp.from_arrow(table.slice(0, 1), fill=9)] == [[1, 9]]
    assert len(hp.from_arrow(table.slice(3))) == 0
    with pytest.raises(hp.InvalidArgumentError, match="column 'x' has 1 nulls"):
        hp.from_arrow(table.slice(0, 2))


def test_parquet_files_by_position(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    from pyarrow import parquet
    for file in range(2):
        numbers = np.arange(file * 50, file * 50 + 50)
        columns = {"n": numbers, "text": [str(n) for n in numbers], "list": [list(range(n % 3)) for n in numbers], "other": numbers}
        parquet.write_table(pyarrow.table(columns), tmp_path / f"{file}.parquet", row_group_size=20)
    data = hp.parquet(tmp_path / "*.parquet", columns=["n", "text", "list"], memory=500)
    assert (data.kind, len(data), list(data.spec)) == ("indexed", 100, ["n", "text", "list"])
    rows = rows_of(data)
    assert rows == [{"n": n, "text": str(n).encode(), "list": list(range(n % 3))} for n in range(100)]
    shuffled = data.shuffle(window=30).map(lambda row: row["n"], output=(hp.i64, ())).batch(8)
    whole = [batch.tolist() for batch in shuffled.sequence(seed=3, epochs=2)]
    loader = hp.Loader(shuffled, seed=3, epochs=2, threads=2)
    first = [loader.next().tolist() for _ in range(5)]
    other = hp.Loader(shuffled, seed=3, epochs=2)
    other.load_state_dict(loader.state_dict())
    assert first + [batch.tolist() for batch in other.flat()] == whole and sorted(sum(whole[:13], [])) == list(range(100))
    assert hp.parquet(tmp_path / "0.parquet").plan() != hp.parquet(tmp_path / "1.parquet").plan()
    with pytest.raises(hp.NotFoundError):
        hp.parquet(tmp_path / "absent*.parquet")
    for columns in (["zz"], ["n", "zz"]):
        with pytest.raises(hp.InvalidArgumentError, match="parquet: no column 'zz' in .*0.parquet: it has 'n'"):
            hp.parquet(tmp_path / "*.parquet", columns=columns)
    with pytest.raises(TypeError, match="columns='n': must be a list of names"):
        hp.parquet(tmp_path / "*.parquet", columns="n")
    with pytest.raises(hp.NotFoundError, match="parquet: .*absent.parquet: no such file"):
        hp.parquet(tmp_path / "absent.parquet")
    (tmp_path / "text.parquet").write_text("no table")
    with pytest.raises(hp.DataLossError, match="parquet: .*text.parquet: "):
        hp.parquet(tmp_path / "text.parquet")


def test_a_parquet_file_of_other_values_is_another_plan(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    def plan(*values, **options):
        parquet.write_table(pyarrow.table({"n": list(values)}), tmp_path / "a.parquet")
        return hp.parquet(tmp_path / "a.parquet", **options).plan()

    assert plan(1, 2, 4) == plan(1, 2, 4) != plan(1, 3, 4)
    assert plan(1, 2, 4, fill=0) != plan(1, 2, 4, fill=1)


def test_a_pandas_frame():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"n": [1, 2, 3], "text": ["a", "b", "c"]})
    assert rows_of(hp.from_arrow(frame[frame.n > 1])) == [{"n": 2, "text": b"b"}, {"n": 3, "text": b"c"}]
    categories = frame.astype({"text": "category"})
    assert rows_of(hp.from_arrow(categories)) == rows_of(hp.from_arrow(frame))


def test_a_hugging_face_dataset():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="datasets is not installed")
    data = datasets.Dataset.from_dict({"n": list(range(6)), "text": list("abcdef")})
    assert rows_of(hp.from_arrow(data.select([4, 1]))) == [{"n": 4, "text": b"e"}, {"n": 1, "text": b"b"}]


def test_jax_arrays():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    data = hp.from_tensor_slices({"x": np.arange(64, dtype=np.float32).reshape(16, 4), "y": np.arange(16, dtype=np.int32),
                                  "text": [str(i) for i in range(16)]}).shuffle().batch(4)

    @jax.jit
    def total(batch):
        return batch["x"].sum() + batch["y"].sum()

    kept = list(hp.Loader(data, epochs=2, format="jax").flat())
    gc.collect()
    expected = [batch["x"].sum() + batch["y"].sum() for batch in data.sequence(epochs=2)]
    assert [float(total({"x": one["x"], "y": one["y"]})) for one in kept] == expected
    assert isinstance(kept[0]["x"], jax.Array) and kept[0]["text"].dtype == object
    grown = jax.tree_util.tree_map(lambda leaf: leaf + 1, {"x": kept[0]["x"], "y": kept[0]["y"]})
    assert isinstance(grown, dict) and grown["x"].shape == (4, 4)
    with pytest.raises(hp.InvalidArgumentError, match="numpy, torch, jax"):
        hp.Loader(data, format="tensorflow")


def test_torchdatas_stateful_loader_goes_on_exactly():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    stateful = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    data = hp.range(100).shuffle().batch(7)
    expected = [one.tolist() for one in data.sequence(seed=3)]

    def made():
        return stateful.StatefulDataLoader(hp.Loader(data, seed=3).to_torch(), batch_size=None, num_workers=0)

    for stop in (1, 5, 14):
        loader = made()
        batches = iter(loader)
        first = [next(batches).tolist() for _ in range(stop)]
        state = json.loads(json.dumps(loader.state_dict()))
        again = made()
        again.load_state_dict(state)
        assert first + [one.tolist() for one in again] == expected


def test_keras_fits_tuples():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    os.environ.setdefault("KERAS_BACKEND", "torch")
    keras = pytest.importorskip("keras", reason="Keras is not installed")
    x = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    y = (x.sum(1) > 0).astype(np.float32)[:, None]
    data = hp.from_tensor_slices({"x": x, "y": y}).shuffle().batch(16)
    model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(optimizer=keras.optimizers.Adam(0.05), loss="binary_crossentropy")
    loader = hp.Loader(data, epochs=6)
    losses = []

    def validate(epoch, logs):
        of_batches = model.evaluate(hp.Loader(data).tuples("x", "y"), steps=len(data), verbose=0)
        losses.append((of_batches, model.evaluate(x, y, verbose=0)))

    history = model.fit(loader.tuples("x", "y"), steps_per_epoch=len(loader), epochs=6, verbose=0,
                        callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=validate)])
    assert history.history["loss"][-1] < history.history["loss"][0]
    assert len(losses) == 6 and all(of_batches == pytest.approx(of_all, rel=1e-4) for of_batches, of_all in losses)


@pytest.mark.parametrize("style, tag", [("queue", "queue/numbers/fraction_of_8_full"), ("tf1", "numbers/fraction_of_8_full")])
def test_tensorboard_reads_what_an_event_writer_wrote(style, tag, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator", reason="TensorBoard is not installed")
    queue = hp.FIFOQueue(8, hp.i64, [()], name="numbers")
    queue.enqueue_many(np.arange(6))
    with hp.EventWriter(tmp_path) as events:
        for step in range(5):
            events.scalar("loss", 1 / (step + 1), step)
        with hp.QueueMonitor(sample_every=0.001, write_every=0.002, events=events, tag_style=style) as monitor:
            watched = monitor.watch(queue)
            while watched.summary().samples < 3:
                pass
    read = accumulator.EventAccumulator(str(tmp_path))
    read.Reload()
    assert {"loss", tag} <= set(read.Tags()["scalars"])
    assert [(one.step, one.value) for one in read.Scalars("loss")] == [(step, np.float32(1 / (step + 1))) for step in range(5)]
    assert {one.value for one in read.Scalars(tag)} == {0.75}
