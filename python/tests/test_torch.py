# SPDX-License-Identifier: Apache-2.0
"""Batches as torch's tensors, and the Loader under DataLoader."""
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import headpond as hp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def images():
    return {"image": np.arange(64 * 12, dtype=np.float32).reshape(64, 12), "label": np.arange(64), "name": [str(i) for i in range(64)]}


def test_tensors_share_the_batch():
    data = hp.from_tensor_slices(images()).batch(16)
    for batch, numbers in zip(hp.Loader(data, format="torch"), hp.Loader(data)):
        assert batch["image"].dtype == torch.float32 and batch["label"].dtype == torch.int64
        assert np.array_equal(batch["image"].numpy(), numbers["image"])
        assert batch["name"].tolist() == numbers["name"].tolist()


def test_tensors_of_bfloat16_are_data():
    pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    values = torch.arange(12, dtype=torch.bfloat16).reshape(4, 3)
    data = hp.from_tensor_slices({"x": values, "t": values.T.contiguous().T}).map(lambda e: {"x": torch.from_numpy(np.arange(3)).bfloat16(), "t": e["t"]}).batch(4)
    (batch,) = hp.Loader(data, format="torch")
    assert batch["x"].dtype == torch.bfloat16 and batch["x"].tolist() == [[0, 1, 2]] * 4 and torch.equal(batch["t"], values)


def test_a_tensor_keeps_its_memory():
    data = hp.range(10_000).batch(1000)
    kept = list(hp.Loader(data, format="torch"))
    assert [int(one.sum()) for one in kept] == [int(one.sum()) for one in data.sequence()]
    kept[0][0] = 7
    assert int(kept[0][0]) == 7


def test_scalars_of_all_dtypes():
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    names = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool"]
    names += ["uint64"] * hasattr(torch, "uint64")
    values = {name: np.array([1, 0], name) for name in names} | {"bfloat16": np.array([1, 0], ml_dtypes.bfloat16)}
    first = next(iter(hp.Loader(hp.from_tensor_slices(values), format="torch")))
    assert {name: (str(one.dtype), one.shape, one.item()) for name, one in first.items()} == {name: (f"torch.{name}", (), 1) for name in values}


def test_a_dataset_to_torch_is_that_of_its_loader():
    data = hp.range(40).shuffle().batch(8)
    wrapped = data.to_torch(epochs=3, seed=5)
    assert isinstance(wrapped, torch.utils.data.IterableDataset) and len(wrapped) == 5
    batches = torch.utils.data.DataLoader(wrapped, batch_size=None)
    given = [[one.tolist() for one in batches] for _ in range(3)]
    assert given == [[one.tolist() for one in epoch] for epoch in hp.Loader(data, epochs=3, seed=5).epochs()]
    assert (wrapped.loader.epoch, wrapped.loader.index) == (2, 4)
    wrapped.set_epoch(1)
    assert [one.tolist() for one in batches] == given[1]
    with pytest.raises(TypeError, match=r"Loader\(\) has no num_workers="):
        data.to_torch(num_workers=2)


def test_what_cannot_be_written_is_copied():
    rows = np.zeros((3, 100), np.uint8)
    first = next(hp.Loader(hp.from_tensor_slices(rows), format="torch").flat())
    first[0] = 9
    assert rows.sum() == 0


def test_under_a_data_loader_with_its_state():
    data = hp.range(100).shuffle().batch(10)
    loader = hp.Loader(data, epochs=2, seed=3)
    wrapped = loader.to_torch()
    batches = [one.tolist() for one in torch.utils.data.DataLoader(wrapped, batch_size=None)]
    assert batches == [one.tolist() for one in data.sequence(seed=3)]
    assert len(wrapped) == 10
    state = loader.state_dict()
    other = hp.Loader(data, epochs=2, seed=3)
    other.load_state_dict(state)
    expected = [one.tolist() for one in data.sequence(seed=3, epochs=2)][10:]
    assert [one.tolist() for one in other.to_torch()] == expected


def test_a_network_learns_and_goes_on_from_a_checkpoint(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(256, 8)).astype(np.float32)
    data = hp.from_tensor_slices({"x": x, "y": (x.sum(1) > 0).astype(np.int64)}).shuffle().batch(32)

    def made():
        torch.manual_seed(0)
        net = torch.nn.Linear(8, 2)
        return net, torch.optim.SGD(net.parameters(), 0.1), hp.Loader(data, epochs=4, seed=1, format="torch")

    def steps(net, optimizer, loader, count):
        for _ in range(count):
            batch = loader.next()
            loss = torch.nn.functional.cross_entropy(net(batch["x"]), batch["y"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    net, optimizer, loader = made()
    first = steps(net, optimizer, loader, 1)
    steps(net, optimizer, loader, 10)
    torch.save({"net": net.state_dict(), "data": loader.state_dict()}, tmp_path / "checkpoint")
    last = steps(net, optimizer, loader, 21)
    assert last < first and loader.next() is None
    net, optimizer, loader = made()
    saved = torch.load(tmp_path / "checkpoint")
    net.load_state_dict(saved["net"])
    loader.load_state_dict(saved["data"])
    assert steps(net, optimizer, loader, 21) == last


# A process of two: a checkpoint after each batch, until it is killed.
RANK = """
import os, pathlib, signal, sys
import torch.distributed as group
import torch.distributed.checkpoint as dcp
import headpond as hp

rank, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
group.init_process_group("gloo", init_method=f"file://{folder}/meeting", world_size=2, rank=rank)
loader = hp.Loader(hp.range(1000).shuffle().batch(10), seed=3, epochs=2, format="torch", **hp.torch.ranks())
with open(folder / f"rows{rank}", "w") as rows:
    for step in range(30):
        print(*loader.next().tolist(), file=rows, flush=True)
        dcp.save({"data": loader}, checkpoint_id=folder / str(step))
group.barrier()
os.kill(os.getpid(), signal.SIGKILL)
"""


def run_ranks(program, folder, limit=200):
    """Runs the program twice, as ranks 0 and 1. When one fails or `limit` seconds have passed, it ends what still runs. Returns the exit
    codes (None for a rank that it ended) and what each printed."""
    said = [folder / f"said{rank}" for rank in range(2)]
    ranks = []
    try:
        for rank, path in enumerate(said):
            with open(path, "w") as file:
                ranks.append(subprocess.Popen([sys.executable, "-c", program, str(rank), str(folder)], env={**os.environ, "OMP_NUM_THREADS": "1"}, stderr=file))
        end = time.monotonic() + limit
        while None in (codes := [process.poll() for process in ranks]) and set(codes) <= {None, 0, -signal.SIGKILL} and time.monotonic() < end:
            time.sleep(0.02)
    finally:
        for process in ranks:
            process.kill()
            process.wait()
    return codes, [path.read_text() for path in said]


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    pytest.importorskip("torch.distributed.checkpoint", reason="this PyTorch has no distributed checkpoints")
    folder = tmp_path_factory.mktemp("ranks")
    codes, said = run_ranks(RANK, folder)
    assert codes == [-signal.SIGKILL] * 2, said
    return folder


WAITS = """
import os, pathlib, sys, time
rank, started = sys.argv[1], pathlib.Path(sys.argv[2], "started")
if rank == "0":
    started.write_text(str(os.getpid()))
    time.sleep(60)
while not started.exists() or not started.read_text():
    time.sleep(0.01)
sys.exit("rank 1 fails")
"""


def test_a_rank_that_fails_leaves_no_other_behind(tmp_path):
    codes, said = run_ranks(WAITS, tmp_path)
    assert codes == [None, 1] and "rank 1 fails" in said[1]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "started").read_text()), 0)


def load(loader, folder):
    torch.distributed.checkpoint.load({"data": loader}, checkpoint_id=folder)


class Ahead:
    """Has taken a batch more than it gave: its state is that of whoever prepares batches."""

    def __init__(self, loader):
        self.loader, self.ready = loader, loader.next()

    def next(self):
        given, self.ready = self.ready, self.loader.next()
        return given

    def state_dict(self):
        return self.loader.state_dict()

    def load_state_dict(self, state):
        self.loader.load_state_dict(state)


def test_a_checkpoint_of_two_processes_goes_on_in_one(two_processes, tmp_path):
    data = hp.range(1000).shuffle().batch(10)
    whole = [batch.tolist() for batch in data.sequence(seed=3, epochs=2)]
    rows = [(two_processes / f"rows{rank}").read_text().splitlines() for rank in range(2)]
    assert [[int(word) for half in halves for word in half.split()] for halves in zip(*rows)] == whole[:30]

    def goes_on(folder, step):
        loader = hp.Loader(data, seed=3, epochs=2)
        load(loader, folder / str(step))
        return [loader.next().tolist() for _ in range(3)] == whole[step + 1:step + 4]

    assert all(goes_on(two_processes, step) for step in range(30))
    control = Ahead(hp.Loader(data, seed=3, epochs=2))
    for step in range(3):
        assert control.next().tolist() == whole[step]
        torch.distributed.checkpoint.save({"data": control}, checkpoint_id=tmp_path / str(step))
        assert not goes_on(tmp_path, step), "the state of whoever prepares batches"


def test_a_checkpoint_of_another_plan_is_refused(two_processes):
    other = hp.Loader(hp.range(1000).shuffle().batch(20), seed=3, epochs=2)
    with pytest.raises(hp.FailedPreconditionError, match="batch"):
        load(other, two_processes / "9")
    assert other.next().shape == (20,)
