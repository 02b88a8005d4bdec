# SPDX-License-Identifier: Apache-2.0
"""Batches as torch's tensors, and the Loader under DataLoader."""
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import headpond as hp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torch.distributed.checkpoint", reason="this PyTorch has no distributed checkpoints")


def images():
    return {"image": np.arange(64 * 12, dtype=np.float32).reshape(64, 12), "label": np.arange(64), "name": [str(i) for i in range(64)]}


def test_tensors_share_the_batch():
    data = hp.from_tensor_slices(images()).batch(16)
    for batch, numbers in zip(hp.Loader(data, format="torch"), hp.Loader(data)):
        assert batch["image"].dtype == torch.float32 and batch["label"].dtype == torch.int64
        assert np.array_equal(batch["image"].numpy(), numbers["image"])
        assert batch["name"].tolist() == numbers["name"].tolist()


def test_a_tensor_keeps_its_memory():
    data = hp.range(10_000).batch(1000)
    kept = list(hp.Loader(data, format="torch"))
    assert [int(one.sum()) for one in kept] == [int(one.sum()) for one in data.sequence()]
    kept[0][0] = 7
    assert int(kept[0][0]) == 7


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
    state = wrapped.state_dict()
    other = hp.Loader(data, epochs=2, seed=3).to_torch()
    other.load_state_dict(state)
    expected = [one.tolist() for one in data.sequence(seed=3, epochs=2)][10:]
    assert [one.tolist() for one in other] == expected


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


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    words = {**os.environ, "OMP_NUM_THREADS": "1"}
    ranks = [subprocess.Popen([sys.executable, "-c", RANK, str(rank), str(folder)], env=words, stderr=subprocess.PIPE, text=True) for rank in range(2)]
    for process in ranks:
        said = process.communicate(timeout=200)[1]
        assert process.returncode == -signal.SIGKILL, said
    return folder


def load(loader, folder):
    torch.distributed.checkpoint.load({"data": loader}, checkpoint_id=folder)


def test_a_checkpoint_of_two_processes_goes_on_in_one(two_processes):
    data = hp.range(1000).shuffle().batch(10)
    whole = [batch.tolist() for batch in data.sequence(seed=3, epochs=2)]
    rows = [(two_processes / f"rows{rank}").read_text().splitlines() for rank in range(2)]
    assert [[int(word) for half in halves for word in half.split()] for halves in zip(*rows)] == whole[:30]

    def next_three(step):
        loader = hp.Loader(data, seed=3, epochs=2)
        load(loader, two_processes / str(step))
        return [loader.next().tolist() for _ in range(3)]

    assert [next_three(step) for step in range(30)] == [whole[step + 1:step + 4] for step in range(30)]
    assert next_three(10) != whole[10:13], "the control: the state of whoever prepares batches, one ahead"


def test_a_checkpoint_of_another_plan_is_refused(two_processes):
    other = hp.Loader(hp.range(1000).shuffle().batch(20), seed=3, epochs=2)
    with pytest.raises(hp.FailedPreconditionError, match="batch"):
        load(other, two_processes / "9")
    assert other.next().shape == (20,)
