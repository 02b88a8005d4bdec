# SPDX-License-Identifier: Apache-2.0
"""What watches a run: explain, verdicts, event files, waits, timelines, progress."""
import ctypes
import gc
import io
import json
import logging
import re
import statistics
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import headpond as hp

DATA = hp.range(64).shuffle().batch(8)


def test_a_dataset_and_a_loader_show_themselves():
    named = hp.from_tensor_slices({"x": np.zeros((4, 2), np.float32), "y": np.arange(4)}).batch(2)
    assert repr(named).endswith("batch(batch_size=2, drop_remainder=false): {'x': float32[?,2], 'y': int64[?]}, 2 elements>"), repr(named)
    assert "batch(batch_size=2" in named._repr_html_()
    loader = hp.Loader(named)
    assert repr(loader).startswith("<headpond.Loader, before the first batch, of <headpond.Dataset")
    loader.next()
    assert "epoch 0, batch 0" in repr(loader) and "batch 0" in loader._repr_html_()


def selectors(page):
    """What its styles are for."""
    return [one.strip() for style in re.findall("<style>(.*?)</style>", page, re.S) for rule in style.split("}")[:-1]
            for one in rule.split("{")[0].split(",")]


def test_what_a_notebook_shows_changes_nothing_else_in_it():
    loader = hp.Loader(DATA)
    for shown in (DATA._repr_html_(), loader._repr_html_(), hp.show(np.zeros((1, 4, 4), np.uint8))._repr_html_()):
        assert not re.search("<(!doctype|html|head|body|title)", shown, re.I)
        assert all(re.match(r"\.headpond[-\w]*", one) for one in selectors(shown))
    page = DATA.explain(format="html")
    assert "body" in selectors(page) and re.search("<(title|body)", page), "the control"


@pytest.mark.parametrize("format, begins", [("text", "plan"), ("dot", "digraph"), ("mermaid", "flowchart"), ("html", "<!DOCTYPE"), ("json", "{")])
def test_explain_with_and_without_a_run(format, begins):
    plain, measured = DATA.explain(format=format), hp.explain(DATA, analyze=True, format=format)
    assert plain.lower().startswith(begins.lower()) and measured.lower().startswith(begins.lower())
    if format in ("text", "html"):
        assert "8 elements" in measured and "8 elements in" not in plain
    if format == "json":
        assert json.loads(measured)["analysis"]["elements"] == 8 and "analysis" not in json.loads(plain)


def test_explain_refuses_other_formats():
    with pytest.raises(hp.InvalidArgumentError, match="no format 'pdf'"):
        DATA.explain(format="pdf")


def test_a_loaders_verdict():
    loader = hp.Loader(hp.range(200).map(lambda x: time.sleep(0.002) or x, output=(hp.i64, ())).batch(2), threads=1)
    for _ in loader:
        pass
    verdict = hp.diagnose(loader)
    assert verdict.code == "none" and "2 s" in " ".join(verdict.findings), verdict  # So short a run tells nothing.
    assert 0 <= verdict.confidence <= 1 and 0 < verdict.wait_share <= 1
    assert set(verdict.waits) == {"startup", "epoch_edge", "burst", "sustained"}
    assert verdict.code in str(verdict) and repr(verdict) == str(verdict)
    assert all(change.gain >= 1 and change.what for change in verdict.changes)
    loader.pause()


def test_a_loaders_profile():
    loader = hp.Loader(hp.range(400).map(lambda x: time.sleep(0.002) or x, output=(hp.i64, ())).batch(2), threads=1)
    for _ in loader:
        pass
    rows = loader.profile()
    assert rows[0]["name"] == "map" and rows[0]["share"] > 0.5 and rows[0]["calls"] == 400, rows
    assert [row["name"] for row in loader.profile("scope")][:2] == ["range", "map"]
    assert [row["name"] for row in loader.profile("stage", "peak")] == ["range|map|batch"]
    with pytest.raises(hp.InvalidArgumentError, match="views op, scope, stage"):
        loader.profile("operator")


def verdict_of(loader, step):
    """Once as much was seen as an answer needs: on a busy machine the start alone may take seconds, which do not count."""
    began, look = time.monotonic(), 3
    while True:
        loader.next()
        step()
        passed = time.monotonic() - began
        if passed > look:
            verdict = hp.diagnose(loader)
            if verdict.code != "none" or passed > 30:
                return verdict
            look = passed + 0.5


def test_a_loaders_verdict_names_the_culprit():
    loader = hp.Loader(hp.range(10**6).map(lambda x: time.sleep(0.002) or x, output=(hp.i64, ()), name="sleeps").batch(2), threads=1)
    verdict = verdict_of(loader, lambda: None)
    # A busy machine hides the culprit; the run was long enough for an answer.
    assert verdict.code in {"latency_bound", "serial_stage", "user_lock", "machine_busy"}, verdict
    assert verdict.evidence and (verdict.changes or verdict.code == "machine_busy")


def share_of_calls(loader, step):
    """The share of the loop's time that calls of next() took."""
    end = time.monotonic() + 1
    while time.monotonic() < end:
        loader.next()
        step()
    steps = loader.stats()["steps"]
    return steps["call_ns"] / (steps["call_ns"] + steps["work_ns"])


def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def test_a_wait_for_a_functions_lock_is_no_step():
    computes = hp.range(10**6).map(lambda x: spin(0.002) or x, output=(hp.i64, ())).batch(2)
    assert share_of_calls(hp.Loader(computes, threads=2), lambda: None) > 0.9  # The function holds the lock all the time.
    beside = hp.Loader(computes, threads=2)
    share_of_calls(beside, lambda: spin(0.004))
    make = beside.stats()["stages"][0]["totals"]["make"]
    assert make["lock_ns"] > 0.25 * make["wall_ns"], make  # The program holds it for half of the time.
    native = hp.range(10**6).batch(2)
    # Control: a step that computes. Where other programs take the processor, some of that time falls into a call.
    assert statistics.median(share_of_calls(hp.Loader(native, threads=2), lambda: spin(0.002)) for _ in range(5)) < 0.1


def test_a_call_lasts_until_the_values_of_its_batch_are_objects():
    loader = hp.Loader(hp.from_tensor_slices([b"x" * 60_000] * 64).repeat().batch(64))
    for _ in range(5):
        loader.next()
    before, took = loader.stats()["steps"]["call_ns"], 0.0
    for _ in range(20):
        time.sleep(0.01)  # Batches are ready: next() only makes objects of one.
        began = time.perf_counter()
        batch = loader.next()
        took += time.perf_counter() - began
        del batch
    loader.next()
    assert loader.stats()["steps"]["call_ns"] - before > 0.5e9 * took


def test_a_verdict_of_a_function_that_holds_the_lock():
    data = hp.range(10**6).map(lambda x: spin(0.001) or x, output=(hp.i64, ())).batch(2)
    loader = hp.Loader(data, threads=2)
    verdict = verdict_of(loader, lambda: spin(0.001))
    assert verdict.code in {"user_lock", "machine_busy"}, verdict
    serial = hp.Loader(hp.range(10**6).map(lambda x: time.sleep(0.002) or x, output=(hp.i64, ()), serial=True).batch(2), threads=2)
    share_of_calls(serial, lambda: None)
    make = serial.stats()["stages"][0]["totals"]["make"]
    assert make["lock_ns"] < 0.25 * make["wall_ns"], make  # Control: calls wait for each other, and not for the lock.


def test_another_thread_in_next_counts_nothing():
    loader = hp.Loader(hp.range(10**6).map(lambda x: time.sleep(0.002) or x, output=(hp.i64, ())), threads=1)
    loader.next()
    ended, refused = threading.Event(), []

    def ask():
        while not ended.is_set():
            try:
                loader.next()
            except hp.FailedPreconditionError:
                refused.append(1)

    other = threading.Thread(target=ask)
    other.start()
    began, end = time.monotonic(), time.monotonic() + 1
    while time.monotonic() < end:
        try:
            loader.next()
        except hp.FailedPreconditionError:
            refused.append(1)
    ended.set()
    other.join()
    steps = loader.stats()["steps"]
    assert refused and steps["call_ns"] + steps["work_ns"] < 1.1e9 * (time.monotonic() - began), steps


def test_a_monitor_may_lose_what_it_watches_in_its_own_function():
    queue = hp.FIFOQueue(8, hp.i64, [()])
    there, calls = [], []

    def totals():
        calls.append(1)
        if len(there) == 2:  # The first call may come before the queue is watched.
            there.clear()  # As a collection of garbage on its thread does: first what it watches, then itself.
        return {"steps": 1}
    there.append(hp.QueueMonitor(sample_every=0.001, write_every=0.002, totals=totals))
    there.append(there[0].watch(queue))
    end = time.monotonic() + 30
    while (there or not calls) and time.monotonic() < end:
        time.sleep(0.001)
    assert not there and calls


def test_a_monitor_that_its_owner_keeps_is_freed_with_it():
    class Owner:
        def __init__(self):
            self.monitor = hp.QueueMonitor(totals=self.totals)

        def totals(self):
            return {"steps": 1}
    gone = weakref.ref(Owner())
    end = time.monotonic() + 30
    while gone() is not None and time.monotonic() < end:  # Its thread may be in totals().
        gc.collect()
        time.sleep(0.001)
    assert gone() is None


@pytest.mark.parametrize("intervals", [{"sample_every": 0}, {"sample_every": -1}, {"sample_every": float("nan")}, {"write_every": -1}])
def test_a_monitor_refuses_such_intervals(intervals):
    with pytest.raises(hp.InvalidArgumentError):
        hp.QueueMonitor(**intervals)
    hp.QueueMonitor(sample_every=0.0001).close()  # Rounded up to a millisecond.


@pytest.mark.parametrize("wrong", [[1], hp.Loader(hp.range(2)), 3])
def test_an_account_wants_an_iterator(wrong):
    with pytest.raises(TypeError, match="iterator"):
        hp.WaitAccount().next(wrong)


def test_a_queues_verdict_events_and_waits(tmp_path):
    numbers = iter(range(60))
    queue = hp.FIFOQueue(8, hp.i64, [()], name="numbers")
    with hp.EventWriter(tmp_path) as events:
        events.scalar("loss", 0.5, 1)
        with hp.QueueMonitor(sample_every=0.001, write_every=0.002, events=events, totals=lambda: {"steps": 7}) as monitor:
            watched, account = monitor.watch(queue), hp.WaitAccount()
            with hp.Coordinator() as coordinator:
                hp.QueueRunner(queue, [lambda: queue.enqueue(next(numbers))]).start(coordinator)
                got = []
                for number in account.measure(queue):
                    got.append(int(number))
                    time.sleep(0.0005)
            assert got == list(range(60))
            waits, fill = account.summary(), watched.summary()
            assert waits.calls == 61 and 0 <= waits.wait_share <= 1 and waits.work_ns >= 60 * 500_000
            assert fill.samples > 0
            verdict = hp.diagnose(queue, watched, account, batch=1, producers=1)
            assert verdict.code in {"none", "device_bound", "startup", "min_fill_too_large", "window_too_small", "serial_stage"}
            watched.close()
            assert watched.summary().samples >= fill.samples
    with pytest.raises(TypeError, match="WaitAccount"):
        hp.diagnose(queue)
    written = b"".join(hp.RecordReader(events.path))
    assert b"queue/numbers/fraction_of_8_full" in written and b"loss" in written and b"brain.Event:2" in written


def test_a_queues_minimum_is_too_large_for_the_memory_that_is_given():
    queue = hp.RandomShuffleQueue(1000, 50, hp.u8, [(1000,)])
    element = np.zeros(1000, np.uint8)
    for _ in range(50):
        queue.enqueue(element)

    def produce():
        time.sleep(0.03)
        queue.enqueue(element)

    with hp.QueueMonitor(sample_every=0.001) as monitor:
        watched, account = monitor.watch(queue), hp.WaitAccount()
        with hp.Coordinator() as coordinator:
            hp.QueueRunner(queue, [produce]).start(coordinator)
            for _ in range(75):  # A verdict needs two seconds.
                account.measure(queue.dequeue)
            coordinator.request_stop()
        verdict = {memory: hp.diagnose(queue, watched, account, memory=memory).code for memory in (60_000, 150_000, None)}
    assert verdict[60_000] == "min_fill_too_large"  # The minimum takes 50,000 bytes.
    assert "min_fill_too_large" not in {verdict[150_000], verdict[None]}


def test_waits_of_a_function():
    account = hp.WaitAccount()
    assert account.measure(lambda: time.sleep(0.01) or 3) == 3
    account.pause()
    assert account.summary().wait_ns >= 10_000_000
    with pytest.raises(KeyError):
        account.measure(lambda: {}["x"])


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_totals_that_fail_end_nothing(tmp_path):
    def fails():
        raise KeyError

    with hp.EventWriter(tmp_path) as events, hp.QueueMonitor(sample_every=0.001, write_every=0.001, events=events, totals=fails) as monitor:
        queue = hp.FIFOQueue(4, hp.i64)
        watched = monitor.watch(queue)
        time.sleep(0.02)
        assert watched.summary().samples > 0
    with pytest.raises(hp.FailedPreconditionError):
        monitor.watch(queue)


def failing(count):
    """So many elements that fail, each with a line in the log, then 255. No function of Python's runs."""
    return hp.range(255 + count, 254, -1).map(hp.expr("x", dtype=hp.u8)).ignore_errors(log_warning=True)


def test_the_log_is_pythons(caplog):
    assert list(hp.Loader(failing(3), threads=2)) == [255]
    found = [one for one in caplog.records if one.name == "headpond"]
    assert [one.levelname for one in found] == ["WARNING"] * 3
    assert sorted(re.search(r"record (\d): \d+ does not fit", one.getMessage())[1] for one in found) == ["0", "1", "2"]


def test_lines_wait_while_the_main_thread_imports_logging(caplog, monkeypatch):
    """They are given between any two of its instructions."""
    with monkeypatch.context() as importing:
        importing.setitem(sys.modules, "logging", type(logging)("logging"))
        hp._log._give(logging.WARNING, "one")
    assert not caplog.messages
    hp._log._give(logging.ERROR, "two")
    assert [(one.levelname, one.getMessage()) for one in caplog.records] == [("WARNING", "one"), ("ERROR", "two")]


def in_a_thread(function):
    """The main thread waits meanwhile, and runs no Python."""
    may_begin, has_ended = threading.Lock(), threading.Lock()
    may_begin.acquire()
    has_ended.acquire()

    def run():
        may_begin.acquire()
        time.sleep(0.05)  # The main thread is on its way.
        function()
        has_ended.release()

    thread = threading.Thread(target=run)
    thread.start()
    may_begin.release()
    has_ended.acquire()
    thread.join()


def logged(caplog):
    """The lines, and how many more were lost. On a slow machine a Loader of an earlier test may have said what it waited for, and where that was."""
    texts = [one.getMessage() for one in caplog.records if one.name == "headpond"]
    texts = [one for one in texts if not one.startswith("Loader: ")]
    lost = [re.match(r"(\d+) more lines were lost: the main thread did not run Python meanwhile", one) for one in texts]
    return lost.count(None), sum(int(one[1]) for one in lost if one)


def test_nobody_waits_for_the_log_and_what_is_too_much_is_counted(caplog):
    in_a_thread(lambda: next(failing(3000).sequence()))
    lines, lost = logged(caplog)
    assert lines + lost == 3000 and lost > 0


class Handler(logging.Handler):
    """While it is in a `with`, the library's log lines are arguments of `emit`."""

    def __init__(self, emit, level=logging.NOTSET):
        super().__init__(level)
        self.emit = emit

    def __enter__(self):
        logging.getLogger("headpond").addHandler(self)

    def __exit__(self, *ignored):
        logging.getLogger("headpond").removeHandler(self)


def test_a_line_about_a_wait_comes_while_the_main_thread_waits():
    queue = hp.FIFOQueue(1, hp.i64, watchdog=0.1)
    with Handler(lambda record: queue.enqueue(1) if "no element came in" in record.getMessage() else None):
        assert queue.dequeue(timeout=20) == 1


def test_a_log_that_raises_ends_nothing(monkeypatch):
    def raises(record):
        raise KeyError("its own")

    unraised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda one: unraised.append(one.exc_type))
    with Handler(raises):
        assert list(hp.Loader(failing(2))) == [255]
    assert unraised == [KeyError] * 2


@pytest.mark.parametrize("waits", [False, True])
def test_an_interrupt_in_a_handler_of_the_log_is_raised_and_the_other_lines_come_later(waits):
    texts = []

    def emit(record):
        texts.append(record.getMessage())
        if len(texts) == 1:
            raise KeyboardInterrupt

    queue = hp.FIFOQueue(1, hp.i64, watchdog=0.1)
    with Handler(emit):
        with pytest.raises(KeyboardInterrupt):
            if waits:
                queue.dequeue(timeout=20)
            else:
                next(failing(3).sequence())
                time.sleep(0)
        time.sleep(0)
    assert len(texts) == (1 if waits else 3)


def test_lines_have_the_levels_of_logging(caplog):
    queue = hp.FIFOQueue(1, hp.i64, watchdog=0.1)
    levels = []

    def emit(record):
        levels.append(record.levelname)
        if "no element was taken" in record.getMessage():
            queue.dequeue()

    with caplog.at_level("INFO", "headpond"), Handler(emit):
        hp.Coordinator().request_stop(ValueError("its own"))
        queue.enqueue(1)
        queue.enqueue(2, timeout=20)
    assert levels == ["ERROR", "INFO"]


def test_a_function_that_does_not_return_is_named_with_its_stack():
    gate, inside, lines = threading.Event(), threading.Event(), []

    def stuck(x):
        if x == 30:
            inside.set()
            gate.wait(30)
        return x

    with Handler(lambda record: lines.append(record.getMessage())):
        loader = hp.Loader(hp.range(100).map(stuck, output=hp.i64, name="stuck").batch(10), threads=2, consumer_helps=False)
        program = threading.Thread(target=lambda: list(loader))
        program.start()
        assert inside.wait(20)
        began = time.monotonic()
        while len(lines) < 2 and time.monotonic() < began + 20:
            time.sleep(0.01)
        took = time.monotonic() - began
        gate.set()
        program.join()
    said, stack = lines
    assert took < 5
    assert re.search(r"thread headpond/[01]: range\|map\|batch does not return: .*, at map\(stuck, version=0\), range, record 30; it waits for a lock", said), said
    assert re.match(r"Loader: thread headpond/[01] is at\n", stack), stack
    assert "in stuck\n    gate.wait(30)" in stack


def test_a_function_that_keeps_the_main_thread_is_named_while_it_does():
    gate, lines = threading.Event(), []

    def stuck(x):
        if threading.current_thread() is threading.main_thread() and not gate.is_set():
            gate.wait(30)
        return x

    def emit(record):
        lines.append(record.getMessage())
        if " is at\n" in lines[-1]:
            gate.set()

    with Handler(emit):
        for _ in hp.Loader(hp.range(10_000).map(stuck, output=hp.i64, name="stuck").batch(10), threads=2):
            if gate.is_set():
                break
    assert "the program's thread, in next(): range|map|batch does not return" in lines[0]
    assert "in stuck\n    gate.wait(30)" in lines[1]


def test_a_full_list_of_pending_calls_does_not_silence_the_log(caplog):
    call = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda ignored: 0)

    def fill_and_log():
        while ctypes.pythonapi.Py_AddPendingCall(call, None) == 0:
            pass
        next(failing(3000).sequence())

    in_a_thread(fill_and_log)
    next(failing(1).sequence())
    time.sleep(0)
    assert sum(logged(caplog)) == 3001


def test_a_child_of_fork_has_its_own_lines_and_not_the_parents():
    """Those that wait when it forks are given once."""
    program = """
import functools, logging, os, sys
import headpond as hp
logging.basicConfig(stream=sys.stdout, format="%(process)d %(name)s %(levelname)s")
def failing(count):
    return hp.range(255 + count, 254, -1).map(hp.expr("x", dtype=hp.u8)).ignore_errors(log_warning=True).sequence()
steps = functools.partial(next, failing(3)), functools.partial(os.fork)
value, child = map(functools.partial.__call__, steps)
if child == 0:
    next(failing(1))
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
print(os.getpid(), child)
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=50, check=True)
    *lines, last = done.stdout.splitlines()
    parent, child = last.split()
    assert (sorted(lines), done.stderr) == (sorted([f"{parent} headpond WARNING"] * 3 + [f"{child} headpond WARNING"]), "")


def test_a_timeline(tmp_path):
    hp.trace.start()
    with hp.trace.span("my step"):
        hp.trace.counter("my curve", 7)
        hp.trace.instant("my mark")
        list(hp.Loader(DATA, threads=1, consumer_helps=False))
    hp.trace.stop()
    hp.trace.counter("afterwards", 1)
    hp.trace.instant("afterwards")
    report = hp.write_timeline(tmp_path / "timeline.json")
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    assert report["spans"] == sum(one["ph"] == "X" for one in events) > 1
    named = {one["name"]: one for one in events}
    step, mark = named["my step"], named["my mark"]
    assert step["ts"] <= mark["ts"] <= step["ts"] + step["dur"] and (mark["ph"], mark["tid"]) == ("i", step["tid"])
    assert any(one["ph"] == "C" and "my curve" in one["name"] and 7 in one["args"].values() for one in events)
    assert "afterwards" not in str(events)


def test_progress_writes_lines_and_the_loop_is_the_same(monkeypatch):
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    loader = hp.Loader(DATA)
    shown = hp.progress(loader, description="train")
    got = []
    for batch in shown:
        got.append(batch.tolist())
        shown.set_values(loss=0.25)
    assert got == [batch.tolist() for batch in DATA.sequence()]
    last = written.getvalue().strip().splitlines()[-1]
    assert re.match(r"train: 100%\|.*\| 8/8 \[.*loss=0.25\]", last)
    assert len(list(hp.progress(range(3), enabled=False))) == 3


def test_progress_in_a_notebook_is_tqdms(monkeypatch):
    calls = []

    class Widget:
        def __init__(self, desc, total):
            calls.append((desc, total))

        def update(self, count):
            calls.append(count)

        def close(self):
            calls.append("closed")

    monkeypatch.setattr("headpond._monitor._is_in_notebook", lambda: True)
    monkeypatch.setattr("headpond._monitor._widget", Widget)
    assert len(list(hp.progress([1, 2], description="d"))) == 2
    assert calls == [("d", 2), 1, 1, "closed"]
