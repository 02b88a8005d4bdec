# SPDX-License-Identifier: Apache-2.0
"""The Loader: epochs, options, its end."""
import gc
import os
import pathlib
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import headpond as hp
from loaders import DATA, ITERATORS, flat


def threads():
    """Of Loaders."""
    return len([name for name in thread_names() if name.startswith("headpond/")])


def thread_names():
    for one in os.listdir("/proc/self/task"):
        try:
            yield pathlib.Path(f"/proc/self/task/{one}/comm").read_text()
        except OSError:  # It has ended.
            pass


def test_a_loop_is_one_epoch():
    loader = hp.Loader(DATA, epochs=3, seed=4)
    epochs = [flat(loader) for _ in range(3)]
    assert [len(one) for one in epochs] == [len(loader)] * 3 == [13] * 3
    assert sum(epochs, []) == flat(DATA.sequence(seed=4, epochs=3))
    with pytest.raises(hp.OutOfRangeError, match="epochs="):
        iter(loader)


def test_what_a_loop_leaves_is_dropped():
    loader = hp.Loader(DATA, epochs=2, seed=4)
    for index, _ in enumerate(loader):
        if index == 3:
            break
    assert flat(loader) == flat(DATA.sequence(seed=4, epochs=2))[13:]


def test_epochs_none_has_no_end():
    loader = hp.Loader(DATA, epochs=None)
    for _ in range(5):
        assert sum(1 for _ in loader) == 13


def test_next_flat_and_epochs():
    expected = flat(DATA.sequence(seed=1, epochs=2))
    loader = hp.Loader(DATA, epochs=2, seed=1)
    assert loader.next().tolist() == expected[0]
    assert (loader.epoch, loader.index) == (0, 0)
    assert flat(loader.flat()) == expected[1:]
    assert loader.next() is None and loader.next() is None
    loader = hp.Loader(DATA, epochs=2, seed=1)
    assert [flat(epoch) for epoch in loader.epochs()] == [expected[:13], expected[13:]]
    assert flat(DATA) == flat(DATA.sequence())


def test_try_next_does_not_wait():
    hold = threading.Event()

    def wait(x):
        hold.wait()
        return x

    loader = hp.Loader(hp.range(4).map(wait, output=(hp.i64, ())), threads=1, consumer_helps=False)
    with pytest.raises(TimeoutError):
        loader.try_next()
    hold.set()
    assert loader.next() == 0


def test_a_loop_goes_on_after_an_exception():
    def function(x):
        if x == 3:
            raise KeyError(3)
        return x

    data = hp.range(10).map(function, output=(hp.i64, ()))

    def caught(batches):
        got = []
        while True:
            try:
                got.append(int(next(batches)))
            except KeyError:
                continue
            except StopIteration:
                return got

    expected = [0, 1, 2, 4, 5, 6, 7, 8, 9]
    for batches in (iter(hp.Loader(data)), hp.Loader(data).flat(), iter(data), next(hp.Loader(data).epochs()), data.sequence()):
        assert caught(batches) == expected
    loader = hp.Loader(data, epochs=2)
    with pytest.raises(KeyError):
        list(loader)
    assert caught(iter(loader)) == [4, 5, 6, 7, 8, 9], "the rest of the epoch"
    for batch in loader:
        break
    with pytest.raises(hp.OutOfRangeError):  # A loop that was left drops the rest.
        iter(loader)


def test_close_ends_threads_and_keeps_the_state():
    with hp.Loader(DATA, seed=1, threads=2) as loader:
        first = loader.next()
        state = loader.state_dict()
    with pytest.raises(hp.CancelledError, match="closed"):
        loader.next()
    assert loader.state_dict()["state"] == state["state"]
    assert len(first) == 8
    second = hp.Loader(DATA, seed=1)
    second.next()
    loader.load_state_dict(state)  # It begins again, with new threads.
    assert loader.next().tolist() == second.next().tolist()
    loader.close()
    loader.close()


def test_two_threads_at_once_are_refused():
    hold = threading.Event()
    loader = hp.Loader(hp.range(4).map(lambda x: hold.wait() and x, output=(hp.i64, ())), threads=1, consumer_helps=False)

    def waits():
        while True:
            try:
                return loader.next()
            except hp.FailedPreconditionError:  # The other thread was faster.
                pass

    waiting = threading.Thread(target=waits)
    waiting.start()
    refused = None
    while refused is None:
        try:
            loader.try_next()
        except hp.FailedPreconditionError as error:
            refused = error
        except hp.DeadlineExceededError:
            pass
    for call in (loader.close, loader.next_epoch, loader.state_dict, lambda: loader.load_state_dict(hp.Loader(hp.range(4)).state_dict())):
        with pytest.raises(hp.FailedPreconditionError, match="another thread"):
            call()
    hold.set()
    waiting.join()
    assert "another thread" in str(refused)
    loader.close()


def test_options_that_cannot_be_are_refused():
    with pytest.raises(hp.InvalidArgumentError, match="threads=5000"):
        hp.Loader(DATA, threads=5000)
    with pytest.raises(hp.InvalidArgumentError, match="no format"):
        hp.Loader(DATA, format="tensorflow")
    with pytest.raises(hp.InvalidArgumentError, match="world_size"):
        hp.Loader(DATA, rank=1)
    with pytest.raises(hp.ResourceExhaustedError):
        hp.Loader(hp.from_tensor_slices(np.zeros((4, 1000), np.uint8)).batch(4), memory=1000)


def test_what_refers_to_its_own_loader_is_freed():
    class Data:
        def __init__(self):
            self.data = hp.range(50).map(self.function, output=(hp.i64, ())).filter(lambda x: self is not None).batch(5)
            self.loader = hp.Loader(self.data, threads=2)
            self.loader.next()

        def function(self, x):
            return x

    before = threads()
    made = [weakref.ref(Data()) for _ in range(5)]
    end = time.monotonic() + 20  # A function that still runs refers to its object.
    while (threads() > before or any(one() for one in made)) and time.monotonic() < end:
        time.sleep(0.01)
        gc.collect()
    assert threads() <= before and [one() for one in made] == [None] * 5


def test_a_loaders_iterator_keeps_it_alive_and_can_be_freed_with_it():
    batches = iter(hp.Loader(hp.range(6).batch(2)))
    gc.collect()
    assert flat(batches) == [[0, 1], [2, 3], [4, 5]] and flat(batches) == []
    loader = hp.Loader(hp.range(6).batch(2))
    loader.own = loader.flat()
    next(loader.own)
    freed = weakref.ref(loader)
    del loader
    gc.collect()
    assert freed() is None


@pytest.mark.parametrize("of", ITERATORS)
def test_a_step_of_a_loop_runs_no_function_of_python(of):
    loader = hp.Loader(hp.range(100).batch(2))
    batches, called = of(loader), []
    sys.setprofile(lambda frame, event, arg: called.append(event))
    for _ in batches:
        pass
    sys.setprofile(None)
    assert "call" not in called
    sys.setprofile(lambda frame, event, arg: called.append(event))
    hp.Loader.next(loader)  # The control: a method of the class.
    sys.setprofile(None)
    assert "call" in called


def test_a_dataset_that_is_dropped_keeps_its_functions_as_long_as_they_are_used():
    def nested(x):
        return hp.range(2).map(lambda y: y + 10, output=(hp.i64, ()))

    made = [iter(hp.range(3).map(lambda x: x + 1, output=(hp.i64, ())).sequence()), hp.range(3).flat_map(nested).sequence(),
            iter(hp.Loader(hp.zip(hp.range(3).map(lambda x: x + 1, output=(hp.i64, ())), hp.range(3)).shuffle().batch(3)))]
    gc.collect()
    assert [int(one) for one in made[0]] == [1, 2, 3]
    assert [int(one) for one in made[1]] == [10, 11] * 3
    assert sorted(next(made[2])[0].tolist()) == [1, 2, 3]


def test_set_epoch_as_samplers_have_it():
    data = hp.range(40).shuffle().batch(8)
    whole = [batch.tolist() for batch in data.sequence(seed=3, epochs=4)]
    epochs = [whole[5 * number:5 * number + 5] for number in range(4)]
    loader = hp.Loader(data, seed=3, epochs=4, threads=2)

    def run():
        return [batch.tolist() for batch in loader]

    assert len({str(epoch) for epoch in epochs}) == 4
    for number in (0, 1, 3, 2, 2, 0):  # Also back, and one again.
        loader.set_epoch(number)
        assert (run(), loader.epoch) == (epochs[number], number)
    for number in (1, 1, 3):
        loader.set_epoch(number)
        assert next(iter(loader)).tolist() == epochs[number][0]  # A loop that is left.
    loader.set_epoch(2)
    assert [loader.next().tolist() for _ in range(2)] == epochs[2][:2]
    state = loader.state_dict()
    loader.set_epoch(0)
    loader.load_state_dict(state)
    loader.set_epoch(2)  # As a program does that was started again.
    assert run() == epochs[2][2:]
    loader.set_epoch(3)
    assert run() == epochs[3]
    with pytest.raises(hp.OutOfRangeError):
        iter(loader)
    for number in (-1, 4):
        with pytest.raises(hp.InvalidArgumentError, match="set_epoch"):
            loader.set_epoch(number)
    loader.close()
    with pytest.raises(hp.CancelledError):
        loader.set_epoch(0)


def test_a_loop_over_epochs_that_is_left():
    loader, seen = hp.Loader(hp.range(12).batch(2), epochs=3), []
    for epoch in loader.epochs():
        for batch in epoch:
            seen.append(batch.tolist())
            if len(seen) % 2 == 0:
                break  # The next epoch.
    assert seen == [[0, 1], [2, 3]] * 3
    loader = hp.Loader(hp.range(6).batch(2), epochs=2)
    for epoch in loader.epochs():
        assert next(epoch).tolist() == [0, 1]
        break  # The rest is for whoever asks next.
    assert flat(loader.flat()) == [[2, 3], [4, 5], [0, 1], [2, 3], [4, 5]]
