# SPDX-License-Identifier: Apache-2.0
"""hp.from_torch: data sets with len() and [], torch's and others."""
import threading

import numpy as np
import pytest

import headpond as hp
from headpond import _map_style


class Squares:
    """No torch is needed."""

    def __len__(self):
        return 50

    def __getitem__(self, i):
        if not 0 <= i < 50:
            raise IndexError(i)
        return np.full((2, 3), i, np.float32), i * i


class Texts(Squares):
    def __getitem__(self, i):
        return {"text": f"number {i}", "row": np.arange(i)}


def rows_of(dataset, **options):
    return [(float(one["x"][0, 0]), int(one["y"])) for one in dataset.sequence(**options)]


def test_its_elements_by_position():
    data = hp.from_torch(Squares(), names=("x", "y"))
    assert (len(data), data.kind) == (50, "indexed")
    assert data.spec == {"x": (hp.f32, (None, None)), "y": (hp.i64, ())}
    assert rows_of(data) == [(i, i * i) for i in range(50)]
    unnamed = next(hp.from_torch(Squares()).sequence())
    assert isinstance(unnamed, tuple) and unnamed[0].shape == (2, 3)
    texts = list(hp.from_torch(Texts()).sequence())
    assert texts[3]["text"] == b"number 3" and texts[3]["row"].tolist() == [0, 1, 2]


def test_shuffle_batch_and_resume_are_ours():
    data = hp.from_torch(Squares(), names=("x", "y"), output={"x": (hp.f32, (2, 3)), "y": (hp.i64, ())}).shuffle().batch(8)
    whole = [batch["y"].tolist() for batch in data.sequence(seed=3, epochs=2)]
    loader = hp.Loader(data, seed=3, epochs=2, threads=2)
    first = [loader.next()["y"].tolist() for _ in range(4)]
    other = hp.Loader(data, seed=3, epochs=2)
    other.load_state_dict(loader.state_dict())
    assert first + [batch["y"].tolist() for batch in other.flat()] == whole and sorted(sum(whole[:7], [])) == [i * i for i in range(50)]


def test_threads_of_the_loader_ask_for_the_items():
    seen = set()

    class Seen(Squares):
        def __getitem__(self, i):
            seen.add(threading.get_ident())
            return super().__getitem__(i)

    list(hp.Loader(hp.from_torch(Seen(), output=((hp.f32, (2, 3)), (hp.i64, ()))), threads=2, consumer_helps=False))
    assert seen and threading.get_ident() not in seen


def test_the_class_is_part_of_the_plan():
    state = hp.Loader(hp.from_torch(Squares(), names=("x", "y")).batch(4)).state_dict()
    hp.Loader(hp.from_torch(Squares(), names=("x", "y")).batch(4)).load_state_dict(state)

    class Cubes(Squares):
        pass

    for other in (hp.from_torch(Cubes(), names=("x", "y")), hp.from_torch(Squares(), names=("x", "y"), version=1)):
        with pytest.raises(hp.FailedPreconditionError):
            hp.Loader(other.batch(4)).load_state_dict(state)


def test_a_cache_on_disk_needs_a_name(tmp_path):
    with pytest.raises(hp.InvalidArgumentError, match="other functions may have the name of map"):
        hp.from_torch(Squares()).cache(tmp_path / "kept")
    assert len(list(hp.from_torch(Squares(), name="squares").cache(tmp_path / "kept").sequence())) == len(Squares())


def test_an_items_error_is_its_own_and_names_it():
    class Broken(Squares):
        def __getitem__(self, i):
            if i == 7:
                raise OSError("seven")
            return super().__getitem__(i)

    loader = hp.Loader(hp.from_torch(Broken(), names=("x", "y")))
    got = [int(loader.next()["y"]) for _ in range(7)]
    with pytest.raises(OSError, match="seven") as caught:
        loader.next()
    where = hp.details(caught.value)
    assert (got, where.key, "Broken" in where.stage) == ([i * i for i in range(7)], 7, True)
    assert int(loader.next()["y"]) == 64


@pytest.mark.parametrize("item, where", [(None, ""), ((1, None), "value 1 of "), ({"x": 1, "y": None}, "value 'y' of ")])
def test_an_item_that_is_none_is_named(item, where):
    class Holes(Squares):
        def __getitem__(self, i):
            return item if i == 7 else (1, 2) if isinstance(item, tuple) else {"x": 1, "y": 2}

    loader = hp.Loader(hp.from_torch(Holes()))
    for _ in range(7):
        loader.next()
    with pytest.raises(hp.InvalidArgumentError, match=rf"^from_torch\(\): {where}item 7 of .*Holes is None: .* on_error\(\)"):
        loader.next()
    assert len(list(loader.flat())) == 42
    assert len(list(hp.from_torch(Holes()).ignore_errors().sequence())) == 49
    with pytest.raises(hp.InvalidArgumentError, match=f"^from_torch.*: {where}item 0 of builtins.list is None: "):
        hp.from_torch([item])


def test_a_list_of_arrays_is_several_values_as_for_pytorch():
    class Pairs(Squares):
        def __getitem__(self, i):
            return [np.full(2, i), np.full(self.width, -i)]

    for width in (2, 3):
        Pairs.width = width
        pair = hp.from_torch(Pairs()).at(4)
        assert isinstance(pair, tuple) and [one.tolist() for one in pair] == [[4] * 2, [-4] * width]
        batch = next(hp.from_torch(Pairs(), names=("a", "b")).batch(2).sequence())
        assert {name: one.shape for name, one in batch.items()} == {"a": (2, 2), "b": (2, width)}
    assert hp.from_torch([[1, 2], [3, 4]]).at(1).tolist() == [3, 4] and hp.from_torch([[1, 2], [3, 4]], names=["a"]).at(1)["a"].tolist() == [3, 4]
    assert hp.from_torch([[1, b"x"]], names=["a", "b"]).at(0) == {"a": 1, "b": b"x"}
    assert hp.from_torch([[np.float32(1), np.float32(2)]]).at(0).tolist() == [1, 2]
    with pytest.raises(ValueError, match="value 1 of item 0 of .* is None"):
        hp.from_torch([[np.ones(2), None]])
    with pytest.raises(ValueError, match="an item has 2 values"):
        hp.from_torch(Pairs(), names=["a", "b", "c", "d"])
    assert hp.from_torch([[3, np.ones(2)]]).at(0)[0] == 3, "an array need not be the first one"


def test_a_list_of_arrays_is_one_value_where_that_is_said():
    lists = [[np.full(4, i)] * (2 + i % 2) for i in range(4)]
    with pytest.raises(hp.InvalidArgumentError, match=r"^from_torch\(\): item 1 of .* is a list of 3 arrays, another one of 2: .* say output=, as \(hp.f32, \(None, 4\)\)\n"):
        list(hp.from_torch(lists).sequence())
    for options, of in (({"output": (hp.f64, (None, 4))}, lambda one: one), ({"names": ["x"]}, lambda one: one["x"])):
        assert [of(one).shape for one in hp.from_torch(lists, **options).sequence()] == [(2, 4), (3, 4)] * 2
    assert hp.from_torch([[np.array(1.0), np.array(2.0)]], names=("x",)).at(0)["x"].tolist() == [1, 2]


def test_values_of_a_list_are_not_asked_one_by_one():
    asked = []

    class Number(float):
        def __getattr__(self, name):
            asked.append(name)
            raise AttributeError(name)

    assert not _map_style._has_arrays([Number(1)] * 512)
    assert sorted(asked) == ["__array__", "__array_interface__"]


def test_what_has_no_positions_is_refused():
    for one in (iter([1, 2]), 5, object(), (x for x in [1])):
        with pytest.raises(TypeError, match=r"with len\(\) and \[\]"):
            hp.from_torch(one)
    for names in (("x",), ("x", "y", "z")):
        with pytest.raises(ValueError, match="an item has 2 values"):
            hp.from_torch(Squares(), names=names)


def test_data_sets_of_torch():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Own(torch.utils.data.Dataset):
        def __len__(self):
            return 20

        def __getitem__(self, i):
            return {"x": torch.full((3,), float(i), requires_grad=True), "label": i}

    class Endless(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([])

    tensors = torch.utils.data.TensorDataset(torch.arange(40.0).reshape(20, 2), torch.arange(20))
    batches = list(hp.Loader(hp.from_torch(tensors, names=("x", "y")).shuffle().batch(5), format="torch"))
    expected = torch.utils.data.DataLoader(tensors, batch_size=20)
    x, y = next(iter(expected))
    order = torch.cat([batch["y"] for batch in batches])
    assert torch.equal(torch.cat([batch["x"] for batch in batches]), x[order]) and torch.equal(order.sort().values, y)
    assert [float(one["x"][0]) for one in hp.from_torch(Own()).sequence()] == list(range(20))
    subset = torch.utils.data.Subset(Own(), [5, 3])
    assert [int(one["label"]) for one in hp.from_torch(subset).sequence()] == [5, 3]
    for one, advice in ((Endless(), r"hp.from_generator\(lambda epoch: iter\(dataset\), spec\)"), (hp.range(3).to_torch(), "the headpond.Dataset")):
        with pytest.raises(TypeError, match=f"is an IterableDataset, whose items have no positions: use {advice}"):
            hp.from_torch(one)

    lists = hp.from_torch([[torch.ones(2), torch.tensor(3)]]).at(0)
    assert [one.tolist() for one in lists] == [[1, 1], 3]


def test_an_iterable_data_set_of_torch_that_has_positions():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")

    class Endless(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter([])

    class Both(Squares, Endless):
        pass

    class Mixed(Endless, torch.utils.data.TensorDataset):
        pass

    class WithLoader(Endless):
        loader = None

    assert len(hp.from_torch(Both())) == 50 and len(hp.from_torch(Mixed(torch.arange(3)))) == 3
    with pytest.raises(TypeError, match="use hp.from_generator"):
        hp.from_torch(WithLoader())


def test_images_of_pillow():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

    class Photos(Squares):
        def __getitem__(self, i):
            return image.new("RGB", (4, 3), (i, 0, 1)), i % 3

    one = list(hp.from_torch(Photos(), names=("image", "label")).sequence())[9]
    assert one["image"].shape == (3, 4, 3) and one["image"].dtype == np.uint8 and one["image"][0, 0].tolist() == [9, 0, 1]
