# SPDX-License-Identifier: Apache-2.0
"""The state of a Loader: where a run goes on, also with other ranks, and what runs while it is saved."""
import json
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

import headpond as hp
from loaders import DATA, ITERATORS, flat


@pytest.mark.parametrize("after", [0, 1, 12, 13, 14, 25, 26])
@pytest.mark.parametrize("threads", [0, 3])
def test_a_state_goes_on_exactly(after, threads):
    expected = flat(DATA.sequence(seed=2, epochs=2))
    loader = hp.Loader(DATA, epochs=2, seed=2)
    for _ in range(after):
        loader.next()
    state = pickle.loads(pickle.dumps(json.loads(json.dumps(loader.state_dict()))))
    other = hp.Loader(DATA, epochs=2, seed=2, threads=threads)
    other.next()
    other.load_state_dict(state)
    assert flat(other.flat()) == expected[after:]


def test_an_epoch_is_begun_without_a_word_about_states(caplog):
    def said_by(begin):
        caplog.clear()
        loader = hp.Loader(hp.range(12).map(lambda x: x, output=(hp.i64, ())).batch(4 if begin == "set_epoch" else 5), epochs=4)
        next(iter(loader))
        if begin == "set_epoch":
            loader.set_epoch(3)
            assert [batch.tolist() for batch in loader][0] == [0, 1, 2, 3] and loader.epoch == 3
        else:
            loader.load_state_dict(loader.state_dict())
            end = time.monotonic() + 60
            while not caplog.messages and time.monotonic() < end:
                time.sleep(0.001)
        return [line for line in caplog.messages if "cannot tell" in line]

    assert said_by("set_epoch") == []
    assert len(said_by("load_state_dict")) == 1, "control: of a restored one"


def test_a_loop_after_a_restore_is_the_rest_of_the_epoch():
    loader = hp.Loader(DATA, epochs=2, seed=2)
    for _ in range(5):
        loader.next()
    other = hp.Loader(DATA, epochs=2, seed=2)
    other.load_state_dict(loader.state_dict())
    assert len(flat(other)) == 8
    assert len(flat(other)) == 13


def test_a_state_of_another_plan_or_seed_is_refused_by_name():
    state = hp.Loader(DATA, seed=2).state_dict()
    with pytest.raises(hp.FailedPreconditionError, match="batch"):
        hp.Loader(hp.range(100).shuffle().batch(9), seed=2).load_state_dict(state)
    with pytest.raises(hp.FailedPreconditionError, match="seed"):
        hp.Loader(DATA, seed=3).load_state_dict(state)
    with pytest.raises(hp.FailedPreconditionError, match="version"):
        hp.Loader(DATA).load_state_dict({**state, "version": 99})


def test_of_a_state_only_the_state_and_its_version_count():
    loader = hp.Loader(DATA, epochs=2, seed=2)
    for _ in range(15):
        loader.next()
    state, expected = loader.state_dict(), flat(loader.flat())
    other = hp.Loader(DATA, epochs=2, seed=2)
    other.load_state_dict({**state, "epoch": 0, "index": 7, "plan": "of another one"})
    assert (other.epoch, other.index) == (state["epoch"], state["index"]) == (1, 1) and flat(other.flat()) == expected
    with pytest.raises(hp.FailedPreconditionError, match="version 2"):
        other.load_state_dict({**state, "version": 2})


def fails_at_five(x):
    if x == 5:
        raise ValueError("five")
    return x


@pytest.mark.parametrize("threads", [0, 3])
def test_a_state_after_an_exception_gives_it_once_more(threads):
    data = hp.range(12).map(fails_at_five, output=hp.i64).batch(3)
    loader, other = hp.Loader(data, threads=threads), hp.Loader(data, threads=threads)
    loader.next()
    with pytest.raises(ValueError, match="five"):
        loader.next()
    other.load_state_dict(loader.state_dict())
    with pytest.raises(ValueError, match="five"):
        other.next()
    rest = [batch.tolist() for batch in loader.flat()]
    assert [batch.tolist() for batch in other.flat()] == rest == [[3, 4, 6], [7, 8, 9], [10, 11]]


def test_another_version_of_a_function_is_another_plan():
    def function(x):
        return x

    state = hp.Loader(hp.range(9).map(function)).state_dict()
    hp.Loader(hp.range(9).map(function)).load_state_dict(state)
    with pytest.raises(hp.FailedPreconditionError):
        hp.Loader(hp.range(9).map(function, version=1)).load_state_dict(state)


def test_ranks_share_the_batches_and_one_state_serves_all():
    whole = flat(DATA.sequence(seed=6))
    parts = [hp.Loader(hp.range(96).shuffle().batch(8), seed=6, world_size=2, rank=rank) for rank in (0, 1)]
    assert parts[0].state_dict() == parts[1].state_dict()
    got = [flat(part) for part in parts]
    again = flat(hp.Loader(hp.range(96).shuffle().batch(8), seed=6))
    assert [sorted(a + b) for a, b in zip(*got)] == [sorted(one) for one in again]
    assert parts[0].state_dict() == parts[1].state_dict()
    assert len(whole) == 13


@pytest.mark.parametrize("kind", ["indexed", "sparse", "stream"])
def test_a_run_goes_on_with_another_number_of_ranks(kind):
    data = {"indexed": hp.range(96).shuffle(), "sparse": hp.range(192).filter("x % 2 == 0"),
            "stream": hp.from_generator(lambda epoch: iter(range(96)), (hp.i64, ()), name="numbers")}[kind].batch(8)

    def rows(loaders, count):
        return [sorted(sum((loader.next().tolist() for loader in loaders), [])) for _ in range(count)]

    whole = [sorted(one.tolist()) for one in data.sequence(seed=6, epochs=2)]
    loaders, got = [hp.Loader(data, seed=6, epochs=2)], []
    for number, world_size in enumerate((1, 2, 4, 1, 2)):
        state = loaders[0].state_dict()
        loaders = [hp.Loader(data, seed=6, epochs=2, world_size=world_size, rank=rank) for rank in range(world_size)]
        for loader in loaders:
            loader.load_state_dict(state)
        got += rows(loaders, 5 if number < 4 else 4)
        assert len({json.dumps(loader.state_dict()) for loader in loaders}) == 1
    assert got == whole
    with pytest.raises(hp.FailedPreconditionError):
        hp.Loader(hp.range(97).batch(8), world_size=2).load_state_dict(loaders[0].state_dict())


def test_epoch_and_index_are_those_of_the_state():
    loader = hp.Loader(DATA, epochs=3)
    for _ in range(17):
        loader.next()
    other = hp.Loader(DATA, epochs=3)
    other.load_state_dict(loader.state_dict())
    assert (other.epoch, other.index) == (loader.epoch, loader.index) == (1, 3)
    assert other.state_dict() == loader.state_dict()
    loader.next_epoch()
    assert (loader.epoch, loader.index) == (2, -1)


def test_a_state_is_loaded_while_functions_run():
    loader = hp.Loader(hp.range(10**5).map(lambda x: x, output=(hp.i64, ())).batch(4), threads=2, consumer_helps=False)
    for _ in range(20):
        loader.next()
    state = loader.state_dict()
    for _ in range(20):
        loader.next()
        loader.load_state_dict(state)
        assert loader.next().tolist() == [80, 81, 82, 83]


def test_a_call_beside_load_state_dict_is_refused():
    begun, hold = threading.Event(), threading.Event()

    def waits(x):
        begun.set()
        hold.wait()
        return x
    loader = hp.Loader(hp.range(4).map(waits, output=(hp.i64, ())), threads=1, consumer_helps=False)
    with pytest.raises(hp.DeadlineExceededError):
        loader.try_next()
    assert begun.wait(30)
    state = loader.state_dict()
    restoring = threading.Thread(target=lambda: loader.load_state_dict(state))  # Waits for the function.
    restoring.start()
    refused = None
    while refused is None:
        try:
            loader.try_next()
        except hp.FailedPreconditionError as error:
            refused = error
        except hp.DeadlineExceededError:
            pass
    for call in (loader.next, loader.try_next, loader.next_epoch, loader.close, loader.state_dict,
                 lambda: loader.load_state_dict(state)):
        with pytest.raises(hp.FailedPreconditionError, match=r"another thread is in load_state_dict\(\)"):
            call()
    hold.set()
    restoring.join()
    assert [loader.next(), loader.epoch, loader.index] == [0, 0, 0]


def test_a_signals_handler_may_ask_for_the_state_while_next_waits():
    hold, states = threading.Event(), []
    loader = hp.Loader(hp.range(4).map(lambda x: (x == 0 or hold.wait()) and x, output=(hp.i64, ())), threads=1, consumer_helps=False)
    assert loader.next() == 0
    before = loader.state_dict()

    def on(*_):
        states.append(loader.state_dict())
        hold.set()
    former = signal.signal(signal.SIGALRM, on)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        assert [loader.next(), states] == [1, [before]]
    finally:
        signal.signal(signal.SIGALRM, former)


@pytest.mark.parametrize("of", ITERATORS)
def test_an_iterator_has_its_loaders_state(of):
    loader = hp.Loader(DATA, epochs=2, seed=4)
    batches = of(loader)
    for _ in range(3):
        next(batches)
    state = batches.state_dict()
    assert state == loader.state_dict() == batches.get_state() and state["index"] == 2
    rest = flat(batches)
    for load in ("load_state_dict", "set_state"):
        other = of(hp.Loader(DATA, epochs=2, seed=4))
        next(other)
        getattr(other, load)(state)
        assert flat(other) == rest
    assert not hasattr(DATA, "state_dict"), "a description has none"


def test_an_iterator_goes_on_in_the_epoch_of_the_state():
    loader = hp.Loader(DATA, epochs=2, seed=4)
    assert len(flat(loader)) == 13
    second = iter(loader)
    next(second)
    state, rest = second.state_dict(), flat(second)
    of_the_first = iter(hp.Loader(DATA, epochs=2, seed=4))
    next(of_the_first)
    of_the_first.load_state_dict(state)
    assert state["epoch"] == 1 and flat(of_the_first) == rest
    with pytest.raises(hp.FailedPreconditionError):
        iter(hp.Loader(DATA, seed=5)).load_state_dict(state)


def test_a_state_that_is_written_down_disturbs_no_other_thread(tmp_path):
    """The quarantine file goes to the disk before, without the interpreter's lock; next() of another thread waits meanwhile."""
    def odd(x):
        if x % 2 == 0:
            raise ValueError(x)
        return x

    data = hp.range(80).map(odd, output=(hp.i64, ())).on_error("skip", max_error_share=1)
    loader = hp.Loader(data, threads=0, quarantine=tmp_path / "bad.jsonl")
    states, ended = [], threading.Event()

    def save():
        while not ended.is_set():
            try:
                states.append(loader.state_dict())
            except hp.FailedPreconditionError:  # next() has begun.
                pass
            time.sleep(0.001)

    saver = threading.Thread(target=save)
    saver.start()
    got = []
    try:
        while (one := loader.next()) is not None:
            got.append(int(one))
            time.sleep(0.001)
    finally:
        ended.set()
        saver.join()
    assert got == list(range(1, 80, 2)) and states
    assert len((tmp_path / "bad.jsonl").read_text().splitlines()) == 40
    for state in states[::len(states) // 5 + 1]:
        other = hp.Loader(data, threads=0)
        other.load_state_dict(state)
        assert [int(one) for one in other.flat()] == got[state["index"] + 1:]


def test_who_saves_all_the_time_takes_turns_with_next():
    loader = hp.Loader(hp.range(60), threads=0)
    saved, ended = [0], threading.Event()

    def save():
        while not ended.is_set():
            try:
                loader.state_dict()
                saved[0] += 1
            except hp.FailedPreconditionError:  # next() has begun.
                pass

    saver = threading.Thread(target=save)
    saver.start()
    between = []
    try:
        while saved[0] == 0:
            time.sleep(0)
        for _ in range(51):
            before = saved[0]
            loader.next()
            between.append(saved[0] - before)
            time.sleep(0)
    finally:
        ended.set()
        saver.join()
    assert sorted(between)[45] <= 3


def test_a_state_keeps_the_interpreters_lock():
    """Who gives it up waits for it again, beside functions that take it."""
    def function(x):
        time.sleep(0.0005)
        return x

    def turns_of_others(call):
        before = turns[0]
        for _ in range(50):
            call()
        return turns[0] - before

    def count():
        while not ended.is_set():
            turns[0] += 1
            time.sleep(0)

    turns, ended, other, interval = [0], threading.Event(), threading.Thread(target=lambda: count()), sys.getswitchinterval()
    with hp.Loader(hp.range(100_000).map(function, output=(hp.i64, ())).batch(4), threads=2) as loader:
        loader.next()
        state = loader.state_dict()  # The plan's text is made.
        sys.setswitchinterval(10)
        other.start()
        try:
            kept, given_up = turns_of_others(loader.state_dict), turns_of_others(lambda: time.sleep(0.0001))
        finally:
            ended.set()
            sys.setswitchinterval(interval)
            other.join()
        assert loader.state_dict() == state
    assert (kept, given_up > 0) == (0, True), "control: sleep gives it up"


SLOW_DISK = """
import os, signal, sys, threading, time
import headpond as hp
data = hp.range(258).map(hp.expr("x", dtype=hp.u8)).on_error("skip", max_error_share=1)
loader = hp.Loader(data, threads=0, quarantine="bad.jsonl")
for _ in range(256):
    loader.next()
assert loader.next() is None
saver = threading.Thread(target=loader.state_dict, daemon=True)
def begin():
    saver.start()
    while True:
        try:
            loader.try_next()
        except hp.DeadlineExceededError:
            return
        assert saver.is_alive()
"""


WHILE_A_STATE_IS_SAVED = {
    "other threads run": """
turns = 0
def count():
    global turns
    while True:
        turns += 1
        time.sleep(0.01)
threading.Thread(target=count, daemon=True).start()
before = turns
loader.state_dict()
print(turns - before > 3)
""",
    "an interrupt ends a wait": """
begin()
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    loader.next()
except KeyboardInterrupt:
    print(saver.is_alive())
""",
    "a child of fork waits for nothing": """
begin()
if (child := os.fork()) == 0:
    for call in loader.next, loader.try_next, loader.state_dict:
        try:
            call()
            os._exit(1)
        except hp.FailedPreconditionError:
            pass
    loader.close()
    sys.exit(0)
print(saver.is_alive())
end = time.monotonic() + 20
while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
    time.sleep(0.01)
if ended != (child, 0):
    os.kill(child, signal.SIGKILL)
    print("the child", ended)
""",
}


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize("what", WHILE_A_STATE_IS_SAVED)
def test_while_a_state_is_written_down(tmp_path, what):
    """Where the disk takes a second."""
    slow = ["strace", "-f", "-o", tmp_path / "calls", "-e", "trace=fsync,fdatasync", "-e", "inject=fsync,fdatasync:delay_enter=1000000"]
    program = SLOW_DISK + WHILE_A_STATE_IS_SAVED[what]
    done = subprocess.run([*slow, sys.executable, "-W", "ignore", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=False)
    if "ptrace" in done.stderr:
        pytest.skip("strace may not trace here")
    assert (tmp_path / "calls").read_text().count("DELAYED") >= 1 and (done.stdout, done.stderr) == ("True\n", "")


def test_an_iterator_that_loads_the_end_of_all_epochs_ends_and_goes_on_after_an_earlier_state():
    dataset = hp.range(12).batch(2)
    ended = hp.Loader(dataset, epochs=2)
    assert len(list(ended.flat())) == 12
    epoch = next(hp.Loader(dataset, epochs=2).epochs())
    first = epoch.state_dict()
    epoch.load_state_dict(ended.state_dict())
    assert list(epoch) == []
    epoch.load_state_dict(first)
    assert len(list(epoch)) == 6, "one epoch, not both"
