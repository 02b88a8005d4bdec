# SPDX-License-Identifier: Apache-2.0
"""Loaders that share threads and memory."""
import os
import threading

import numpy as np
import pytest

import headpond as hp

TRAIN = hp.range(400).shuffle().map(lambda x: {"x": np.full(50, x), "y": x}, output={"x": (hp.i64, (50,)), "y": (hp.i64, ())}, name="row").batch(8)
TEST = hp.range(90).map(hp.expr("x * 2")).batch(10)


def text_of(batches):
    return [batch["y"].tolist() if isinstance(batch, dict) else batch.tolist() for batch in batches]


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_batches_are_those_of_loaders_with_threads_of_their_own(threads):
    both = hp.Resources(threads=threads, memory=64 << 20)
    assert (both.threads, both.memory, both.running) == (threads, 64 << 20, 0)
    train, test = hp.Loader(TRAIN, epochs=2, seed=3, resources=both), hp.Loader(TEST, epochs=None, resources=both)
    given, tested = [], []
    for epoch in train.epochs():
        given += text_of(epoch)
        tested.append(text_of(test))
    assert given == text_of(hp.Loader(TRAIN, epochs=2, seed=3).flat())
    assert tested == [text_of(hp.Loader(TEST))] * 2
    train.close(), test.close()


def test_what_one_holds_counts_for_both():
    both = hp.Resources(memory=64 << 20)
    rows = hp.from_tensor_slices(np.zeros((64, 1 << 18), np.uint8)).batch(8)
    one, other = (hp.Loader(rows, run_ahead=0, resources=both) for _ in range(2))
    kept = [one.next(), one.next(), other.next()]
    assert both.memory_in_use >= sum(batch.nbytes for batch in kept) > 0
    assert one.stats()["memory_limit"] == other.stats()["memory_limit"] == both.memory
    alone = hp.Loader(rows, run_ahead=0, memory=64 << 20)
    alone.next()
    assert both.memory_in_use < sum(batch.nbytes for batch in kept) + (2 << 20), "control: a Loader of its own does not"


def test_two_threads_read_two_loaders():
    both, found = hp.Resources(threads=2), {}

    def read(name, data):
        found[name] = text_of(hp.Loader(data, epochs=3, resources=both).flat())

    threads = [threading.Thread(target=read, args=one) for one in (("train", TRAIN), ("test", TEST))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == {"train": text_of(hp.Loader(TRAIN, epochs=3).flat()), "test": text_of(hp.Loader(TEST, epochs=3).flat())}


def test_a_child_of_fork_has_none_of_them():
    both = hp.Resources(threads=2, memory=1 << 30)
    loader = hp.Loader(TEST, resources=both)
    loader.next()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            hp.Loader(TEST, resources=both)
        except hp.FailedPreconditionError:
            code = 0 if repr(both) == "<headpond.Resources, 2 threads, 1073741824 bytes>" and text_of(hp.Loader(TEST, resources=hp.Resources(threads=2))) == text_of(TEST) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(loader)) == len(list(hp.Loader(TEST))) - 1 and both.threads == 2


def test_workers_of_a_dataloader_have_their_own():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    batches = torch.utils.data.DataLoader(TEST.to_torch(resources=hp.Resources()), batch_size=None, num_workers=1, multiprocessing_context="fork")
    with pytest.raises(hp.FailedPreconditionError, match="resources=.* is for DataLoader"):
        list(batches)
