# SPDX-License-Identifier: Apache-2.0
"""A Loader in the worker processes of DataLoader and of torchdata's StatefulDataLoader."""
import copy
import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import headpond as hp
from counts import FULL
from headpond._workers import SharedEpochs

pytestmark = [pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"), pytest.mark.filterwarnings("ignore:headpond. num_workers"),
              pytest.mark.filterwarnings("ignore:This DataLoader will create")]


def data_loader(loader, workers, **options):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    return torch.utils.data.DataLoader(loader.to_torch(), batch_size=None, num_workers=workers, **options)


def stateful_loader(loader, workers, **options):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    module = pytest.importorskip("torchdata.stateful_dataloader", reason="torchdata is not installed")
    return module.StatefulDataLoader(loader.to_torch(), batch_size=None, num_workers=workers, **options)


def noisy(x, rng):
    return x + rng.integers(1000)


def generated(epoch):
    return iter(range(100 * epoch, 100 * epoch + 23))


PLANS = {
    "by position": lambda: hp.range(100).shuffle().map(noisy, output=(hp.i64, ())).batch(9),
    "stream": lambda: hp.range(100).shuffle().filter("x > 30").batch(7),
    "generator": lambda: hp.from_generator(generated, (hp.i64, ())).shuffle(window=5).batch(4),
    "fewer batches than workers": lambda: hp.range(20).shuffle().batch(10),
}


def epochs_of(data, count, seed=3):
    """The batches of each epoch, as the package delivers them without PyTorch."""
    loader = hp.Loader(data, seed=seed, epochs=count)
    return [[batch.tolist() for batch in epoch] for epoch in loader.epochs()]


def taken(batches):
    return [batch.tolist() for batch in batches]


@pytest.mark.parametrize("of_program, of_dataset", [(None, None), (90_000_000, None), (None, 60_000_000)])
def test_workers_share_the_memory_of_the_loader(of_program, of_dataset):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    data = hp.range(100).batch(10)
    loader = hp.Loader(data if of_dataset is None else data.with_options(memory=of_dataset), memory=of_program)
    whole = loader.stats()["memory_limit"]
    assert whole == (of_program or of_dataset or whole)
    loader.to_torch()
    with loader._of_worker(0, 3) as worker:
        assert worker.stats()["memory_limit"] == whole // 3


@pytest.mark.parametrize("workers, persistent", [(1, False), (3, False), (3, True)])
@pytest.mark.parametrize("plan", PLANS)
def test_workers_share_the_batches_and_keep_their_order(plan, workers, persistent):
    data = PLANS[plan]()
    expected = epochs_of(data, 3)
    batches = data_loader(hp.Loader(data, seed=3, epochs=None), workers, persistent_workers=persistent)
    assert [taken(batches) for _ in range(3)] == expected


def test_each_worker_prepares_its_part_alone():
    """Of functions' calls, which are counted by process."""
    data = hp.range(60).map(lambda x: np.array([x, os.getpid()]), output=(hp.i64, (2,))).batch(10)
    batches = list(data_loader(hp.Loader(data), 2))
    made_by = [set(batch[:, 1].tolist()) for batch in batches]
    assert [len(one) for one in made_by] == [1] * 6 and os.getpid() not in set.union(*made_by)
    assert made_by[0::2] == made_by[:1] * 3 and made_by[1::2] == made_by[1:2] * 3 and made_by[0] != made_by[1]


@pytest.mark.parametrize("persistent", [False, True])
def test_after_a_break_comes_the_next_epoch(persistent):
    data = hp.range(100).shuffle().batch(5)
    expected = epochs_of(data, 5)
    batches = data_loader(hp.Loader(data, seed=3, epochs=5), 2, persistent_workers=persistent)
    for epoch in range(4):
        assert next(iter(batches)).tolist() == expected[epoch][0]
    assert taken(batches) == expected[4]
    with pytest.raises(hp.OutOfRangeError, match="epochs="):
        taken(batches)


def test_the_seed_of_pytorch_says_nothing():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    data = hp.range(40).shuffle().batch(5)
    batches = data_loader(hp.Loader(data, seed=3, epochs=3), 2)
    given = []
    for _ in range(3):
        torch.manual_seed(1)  # Workers of each iteration get equal seeds.
        given.append(taken(batches))
    assert given == epochs_of(data, 3)


@pytest.mark.parametrize("persistent", [False, True])
def test_set_epoch_and_loops_here_move_the_workers(persistent):
    data = hp.range(40).shuffle().batch(5)
    expected = epochs_of(data, 8)
    loader = hp.Loader(data, seed=3, epochs=8)
    batches = data_loader(loader, 2, persistent_workers=persistent)
    assert taken(batches) == expected[0]
    loader.set_epoch(4)
    assert taken(batches) == expected[4]
    loader.set_epoch(4)
    assert [taken(batches), taken(batches)] == expected[4:6]
    assert taken(loader) == expected[6]
    assert taken(batches) == expected[7]
    with pytest.raises(hp.OutOfRangeError):
        iter(loader)
    loader.set_epoch(2)
    assert taken(data_loader(loader, 0)) == expected[2]
    assert taken(batches) == expected[3]


def test_reading_on_here_moves_the_workers():
    data = hp.range(40).shuffle().batch(5)
    expected = epochs_of(data, 8)
    loader = hp.Loader(data, seed=3, epochs=8)
    batches = data_loader(loader, 2)
    loader.set_epoch(3)
    for epoch, _ in zip(loader.epochs(), range(2), strict=False):
        taken(epoch)
    assert loader.epoch == 4
    loader.set_epoch(5)
    assert taken(batches) == expected[5]
    loader.set_epoch(6)
    loader.next()
    with pytest.raises(hp.FailedPreconditionError, match="in the middle of an epoch"):
        taken(batches)
    loader.set_epoch(2)
    assert len(taken(loader.flat())) == 6 * len(expected[0])
    with pytest.raises(hp.FailedPreconditionError, match=r"flat\(\)"):
        taken(batches)


@pytest.mark.parametrize("read_on", [hp.Loader.next, lambda loader: next(loader.flat()), lambda loader: next(loader.tuples("x"))])
def test_calls_after_a_loop_count_before_there_are_workers(read_on):
    data = hp.from_tensor_slices({"x": np.arange(40)}).batch(5)
    loader = hp.Loader(data, epochs=4)
    assert len(list(loader)) == 8
    read_on(loader)
    with pytest.raises(hp.FailedPreconditionError, match="in the middle of an epoch"):
        list(data_loader(loader, 2))


def test_the_parent_may_look_while_workers_begin():
    table = SharedEpochs()
    child = os.fork()
    if child == 0:
        for seed in range(2000):
            table.begin(seed, 2, seed % 2)
        os._exit(0)
    looks = 0
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        assert (table.after_workers() or 0) >= 0
        looks += 1
    assert looks > 0 and table.after_workers() == 2000


def test_a_loop_that_was_left_before_counts():
    data = hp.range(40).shuffle().batch(5)
    loader = hp.Loader(data, seed=3, epochs=2)
    next(iter(loader))
    assert taken(data_loader(loader, 2)) == epochs_of(data, 2)[1]


def test_ranks_and_fields():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    data = hp.from_tensor_slices({"n": np.arange(48), "text": [str(i) for i in range(48)]}).shuffle().batch(8)
    for rank in range(2):
        expected = list(hp.Loader(data, world_size=2, rank=rank, seed=3))
        given = list(data_loader(hp.Loader(data, world_size=2, rank=rank, seed=3), 2))
        assert [one["n"].tolist() for one in given] == [one["n"].tolist() for one in expected]
        assert [one["text"].tolist() for one in given] == [one["text"].tolist() for one in expected]


def test_the_length_is_that_of_all():
    batches = data_loader(hp.Loader(hp.range(45).batch(5)), 2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Length of IterableDataset")  # Of more batches than its length says.
        assert len(batches) == 9 == len(list(batches))


WARNS = """
import torch
import headpond as hp
loader = hp.Loader(hp.range(40).batch(5), epochs=4)
for workers in (2, 2, 1, 0):
    print(len(list(torch.utils.data.DataLoader(loader.to_torch(), batch_size=None, num_workers=workers))))
"""


def test_it_warns_once():
    pytest.importorskip("torch", reason="PyTorch is not installed")
    done = subprocess.run([sys.executable, "-c", WARNS], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout, done.returncode) == ("8\n" * 4, 0), done.stderr
    assert done.stderr.count("RuntimeWarning") == done.stderr.count("with num_workers=0 the Loader's threads") == 1


def test_an_exception_comes_from_each_worker_and_leaves_the_batches_as_they_are():
    def fails(x):
        if x == 12:
            raise KeyError("twelve")
        return x

    batches, given, failed = iter(data_loader(hp.Loader(hp.range(30).map(fails, output=(hp.i64, ())).batch(5)), 2)), [], 0
    while True:
        try:
            given.append(next(batches).tolist())
        except KeyError as error:
            assert "record 12" in str(error)
            failed += 1
        except StopIteration:
            break
    numbers = [number for number in range(30) if number != 12]
    assert given == [numbers[at:at + 5] for at in range(0, 29, 5)] and failed == 2


def test_the_position_is_not_here():
    data = hp.range(40).batch(5)
    loader = hp.Loader(data, epochs=3)
    batches = data_loader(loader, 2)
    start = loader.state_dict()
    next(iter(batches))
    with pytest.raises(hp.FailedPreconditionError, match="StatefulDataLoader"):
        loader.state_dict()
    loader.load_state_dict(start)
    assert loader.state_dict() == start
    assert taken(batches) == epochs_of(data, 1)[0]


def test_what_workers_cannot_do_is_refused(tmp_path):
    data = hp.range(40).batch(5)
    loader = hp.Loader(data, epochs=2)
    loader.next()
    state = loader.state_dict()
    restored = hp.Loader(data, epochs=2)
    restored.load_state_dict(state)
    with pytest.raises(hp.FailedPreconditionError, match="middle of an epoch"):
        taken(data_loader(restored, 2))
    restored.set_epoch(1)
    assert len(taken(data_loader(restored, 2))) == 8
    with pytest.raises(hp.FailedPreconditionError, match="quarantine"):
        taken(data_loader(hp.Loader(data, quarantine=tmp_path / "bad"), 2))
    with pytest.raises(TypeError, match="multiprocessing_context='fork'"):
        taken(data_loader(hp.Loader(data), 2, multiprocessing_context="spawn"))


def goes_on(data, workers, stop, epochs, **options):
    """Batches before a checkpoint that is taken after `stop` of them, and those after it."""
    def made():
        return stateful_loader(hp.Loader(data, seed=3, epochs=epochs), workers, **options)

    before, state = [], None
    loader = made()
    for _ in range(epochs):
        for batch in loader:
            before.append(batch.tolist())
            if len(before) == stop:
                state = json.loads(json.dumps(loader.state_dict()))
                break
        if state is not None:
            break
    after = []
    loader = made()
    loader.load_state_dict(state)
    while True:
        try:
            after += taken(loader)
        except hp.OutOfRangeError:
            return before + after


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("plan", PLANS)
def test_a_stateful_data_loader_goes_on_exactly(plan, persistent):
    data = PLANS[plan]()
    expected = sum(epochs_of(data, 2), [])
    each = len(expected) // 2
    stops = [(1, 1), (2, 2), (2, each), (3, each + 1), (2, 2 * each - 1)]
    for workers, stop in stops if FULL else stops[2:4]:
        assert goes_on(data, workers, stop, 2, persistent_workers=persistent) == expected, (workers, stop)


def test_a_stateful_data_loader_that_saves_seldom():
    data = PLANS["by position"]()
    expected = sum(epochs_of(data, 2), [])
    for stop in (2, 7, 15) if FULL else (7,):
        assert goes_on(data, 2, stop, 2, snapshot_every_n_steps=3) == expected, stop


def test_a_stateful_data_loader_between_epochs():
    data = PLANS["stream"]()
    expected = epochs_of(data, 3)
    loader = stateful_loader(hp.Loader(data, seed=3, epochs=3), 2)
    start = loader.state_dict()
    assert taken(loader) == expected[0]
    end = loader.state_dict()
    again = stateful_loader(hp.Loader(data, seed=3, epochs=3), 2)
    again.load_state_dict(end)
    assert [taken(again), taken(again)] == expected[1:]
    again.load_state_dict(start)
    assert [taken(again) for _ in range(3)] == expected


def test_control_without_the_state_of_workers_it_does_not_go_on(monkeypatch):
    torch_part = pytest.importorskip("headpond.torch", reason="PyTorch is not installed")
    data = PLANS["by position"]()
    monkeypatch.setattr(torch_part.WorkerBatches, "load_state_dict", lambda self, state: None)
    assert goes_on(data, 2, 5, 2)[:12] != sum(epochs_of(data, 2), [])[:12]


def test_a_state_of_other_workers_is_refused():
    torch_part = pytest.importorskip("headpond.torch", reason="PyTorch is not installed")
    dataset = hp.Loader(hp.range(40).batch(5), epochs=9).to_torch()
    second = torch_part.WorkerBatches(dataset, 1, 2, 7)
    assert [next(second).tolist() for _ in range(2)] == [list(range(5, 10)), list(range(15, 20))]
    state = second.state_dict()
    for worker, workers in ((0, 2), (1, 3)):
        with pytest.raises(hp.FailedPreconditionError, match=f"worker {worker} of {workers}"):
            torch_part.WorkerBatches(dataset, worker, workers, 8).load_state_dict(state)
    with pytest.raises(hp.InvalidArgumentError, match="not a state"):
        torch_part.WorkerBatches(dataset, 1, 2, 9).load_state_dict(hp.Loader(hp.range(40).batch(5)).state_dict())
    other = torch_part.WorkerBatches(hp.Loader(hp.range(40).batch(4)).to_torch(), 1, 2, 7)
    with pytest.raises(hp.FailedPreconditionError, match="batch"):
        other.load_state_dict(state)


def test_only_iterators_are_stateful_and_start_no_thread():
    dataset = hp.Loader(hp.range(10**6).batch(5), threads=2)
    torch_part = pytest.importorskip("headpond.torch", reason="PyTorch is not installed")
    wrapped = dataset.to_torch()
    assert not hasattr(wrapped, "state_dict") and hasattr(iter(wrapped), "load_state_dict")
    before = set(os.listdir("/proc/self/task"))
    iterators = [iter(wrapped), iter(wrapped), torch_part.WorkerBatches(wrapped, 0, 2, 7), torch_part.WorkerBatches(wrapped, 0, 2, 7)]
    assert set(os.listdir("/proc/self/task")) <= before and len(iterators) == 4


# ---- Which epoch the workers read.

def test_workers_of_an_iteration_read_one_epoch():
    table = SharedEpochs()
    assert [table.begin(11, 2, worker) for worker in (1, 0)] == [(0, True), (0, False)]
    assert [table.begin(22, 2, worker)[0] for worker in (0, 1)] == [1, 1]
    assert table.after_workers() == 2


def test_a_worker_that_is_late_reads_the_epoch_of_its_iteration():
    table = SharedEpochs()
    assert table.begin(11, 3, 0)[0] == 0
    assert [table.begin(22, 3, worker)[0] for worker in (2, 0)] == [1, 1]
    assert [table.begin(11, 3, worker)[0] for worker in (2, 1)] == [0, 0]
    assert table.begin(22, 3, 1)[0] == 1


def test_iterations_with_one_seed_are_told_by_their_workers():
    """Those of persistent workers, and of a program that seeds PyTorch before each epoch."""
    table = SharedEpochs()
    assert [table.begin(11, 2, worker)[0] for worker in (0, 0, 1, 1, 0, 1)] == [0, 1, 0, 1, 2, 2]
    assert table.begin(11, 4, 3)[0] == 3, "another DataLoader"


def test_what_moves_them():
    table = SharedEpochs()
    table.begin(11, 2, 0)
    table.move(7)
    assert table.after_workers() is None and table.begin(22, 2, 0) == (7, False)
    table.restored(3)
    assert table.begin(33, 2, 0)[0] == 4
    table.move(7, is_begin=False)
    with pytest.raises(hp.FailedPreconditionError):
        table.begin(44, 2, 0)


def worker_of(table):
    """As a worker that is forked now has it."""
    return copy.copy(table)


def test_a_worker_that_begins_after_a_move_reads_what_its_others_read():
    table = SharedEpochs()
    early, late = worker_of(table), worker_of(table)
    assert early.begin(11, 2, 0)[0] == 0
    table.move(5)
    assert late.begin(11, 2, 1)[0] == 0
    assert [worker_of(table).begin(11, 2, worker)[0] for worker in (1, 0)] == [5, 5], "forked since then, with the same seed"
    assert late.begin(22, 2, 1)[0] == 6, "a persistent worker goes on with all"
    alone = worker_of(table)
    table.move(8)
    assert alone.begin(33, 2, 0)[0] == 8, "control: none has begun its iteration"


def test_a_worker_of_a_refused_iteration_is_refused_after_a_move_too():
    table = SharedEpochs()
    table.move(0, is_begin=False)
    early, late = worker_of(table), worker_of(table)
    with pytest.raises(hp.FailedPreconditionError, match="middle of an epoch"):
        early.begin(11, 2, 0)
    assert table.after_workers() is None
    table.move(1)
    with pytest.raises(hp.FailedPreconditionError, match="middle of an epoch"):
        late.begin(11, 2, 1)
    assert [worker_of(table).begin(22, 2, worker) for worker in (0, 1)] == [(1, True), (1, False)]
    assert table.after_workers() == 2


def test_the_table_stays_small():
    table = SharedEpochs()
    for epoch in range(80):
        if epoch == 40:
            table.move(epoch)
        assert {table.begin(2**63 + epoch, 1000, worker)[0] for worker in range(1000)} == {epoch}
