# SPDX-License-Identifier: Apache-2.0
"""Pipelines of Python's functions with one planted mistake each, and some with none: what a verdict has to find, and what it has to be
silent about."""
import math
import tempfile
import threading
import time
from typing import Any, Callable, NamedTuple

import headpond as hp
import numpy as np

from frame import burn_us

ROWS = 32  # Of a batch.
SINGLE = "range|map|batch"


class Pipeline:
    def __init__(self, dataset, step_ms=20, jitter_ms=0, queue_capacity=0, steps_to_fill=0, **options):
        self.dataset, self.step_ms, self.jitter_ms = dataset, step_ms, jitter_ms
        self.queue_capacity, self.steps_to_fill, self.options = queue_capacity, steps_to_fill, options


class Mistake(NamedTuple):
    name: str
    code: str
    stage: str
    op: str  # Where the mistake is; "": nowhere.
    make: Callable[[int], Pipeline]
    changed: Callable[[Any, int], Pipeline] | None = None  # With the change that the verdict names.


def found_by(mistake, verdict):
    """A run without a mistake gets no advice."""
    return ((verdict.code, verdict.stage, verdict.op) == (mistake.code, mistake.stage, mistake.op)
            and bool(mistake.stage or not verdict.changes))


def mapped(function, output=(hp.i64, ()), **options):
    return lambda steps: hp.range(steps * ROWS).map(function, output=output, **options)


def of(make, **options):
    """make(steps).batch() as a pipeline."""
    return lambda steps, **more: Pipeline(make(steps).batch(ROWS), **{**options, **more})


def wait_5_ms(x):
    time.sleep(0.005)
    return x


class Line:
    """What all calls share: each waits for its turn, without a lock."""

    def __init__(self, size):
        self.values, self.takes = np.zeros(size, np.uint8), size / 20e6
        self.lock, self.free = threading.Lock(), 0.0

    def __call__(self, x):
        with self.lock:
            until = self.free = max(self.free, time.monotonic()) + self.takes
        time.sleep(max(0.0, until - time.monotonic()))
        return self.values


def limited(size):
    return lambda steps: hp.range(steps * ROWS).map(Line(size), output=(hp.u8, (size,)), blocking=True)


def uneven(x):
    """Time of a batch in its first element; the logarithms of times are about normal, with a mean of 15 ms."""
    if x % ROWS == 0:
        batch = int(x) // ROWS
        normal = math.sqrt(-2 * math.log((batch * 7919 % 997 + 1) / 998)) * math.cos(6.283 * (batch * 104729 % 991) / 991)
        time.sleep(0.015 * math.exp(0.8 * normal - 0.32))
    return x


def computes(ms):
    def compute(x):
        burn_us(1000 * ms)
        return x
    return compute


def holds_the_lock(x):
    """2 ms in the interpreter, which lets no other thread run meanwhile but when it is asked to."""
    end = time.thread_time_ns() + 2_000_000
    while time.thread_time_ns() < end:
        pass
    return x


def team_of(threads, ms):
    def compute(x):
        team = [threading.Thread(target=burn_us, args=(1000 * ms,)) for _ in range(threads)]
        for thread in team:
            thread.start()
        for thread in team:
            thread.join()
        return x
    return compute


def collate(rows):
    """Puts the rows of a batch together once more, one by one, 60 ms in all."""
    copy = []
    for row in rows:
        burn_us(60_000 / ROWS)
        copy.append(row)
    return np.array(copy)


def generated(steps):
    def make(epoch):
        for x in range(steps * ROWS):
            burn_us(2000)
            yield x
    return hp.from_generator(make, hp.i64, name="generated")


def in_epochs(steps, kept):
    """Each of four epochs computes the same again, unless it is kept."""
    of_epoch = max(steps // 4, 1)
    computed = mapped(computes(4))(of_epoch)
    if not kept:
        return Pipeline(computed.batch(ROWS), epochs=4)
    return Pipeline(computed.cache().batch(ROWS), epochs=5, steps_to_fill=of_epoch)


def length(record):
    return len(record)


def read_files(steps, files, compression):
    """Compressed, one file takes about 35 ms a batch."""
    folder = tempfile.TemporaryDirectory()
    digits = np.random.default_rng(1).choice(np.frombuffer(b"0123456789abcdef", np.uint8), (ROWS, 512 << 10))
    paths, batches = [], min(steps, 80)
    for file in range(files):
        paths.append(f"{folder.name}/{file:02}.tfrecord" + (".z" if compression == "zlib" else ""))
        with hp.RecordWriter(paths[-1], compression=compression, level=1) as writer:
            for _ in range(batches * (file + 1) // files - batches * file // files):
                for row in digits:
                    writer.append(row.tobytes())
    pipeline = Pipeline(hp.tfrecord(paths).map(length, output=hp.i64).batch(ROWS))
    pipeline.folder = folder
    return pipeline


def with_queue(pipeline):
    """Elements pass a shuffle queue with a minimum of 1000; its producer needs 16 ms for those of a batch."""
    at_once, made = 8, [0]
    values = hp.RandomShuffleQueue(pipeline.queue_capacity, 1000, ["int64"], [()], name="shuffled")

    def produce():
        if made[0] > 1000:
            time.sleep(0.016 * at_once / ROWS)
        made[0] += at_once
        values.enqueue_many(np.full(at_once, made[0]))
    steps, stopwatch_s = len(pipeline.dataset) // ROWS, 0.0
    account = hp.WaitAccount()
    with hp.Coordinator() as coordinator, hp.QueueMonitor(sample_every=0.007) as monitor:
        watched = monitor.watch(values)
        hp.QueueRunner(values, [produce]).start(coordinator)
        for _ in range(steps):
            began = time.monotonic()
            account.call(lambda: values.dequeue_many(ROWS))
            stopwatch_s += time.monotonic() - began
            time.sleep(pipeline.step_ms / 1e3)
        waits = account.summary()
        verdict = hp.diagnose(values, watched, account, batch=ROWS, producers=1)
        values.close(cancel_pending_enqueues=True)
        coordinator.request_stop()
    rate = 1e9 * steps / (waits.wait_ns - waits.first_wait_ns + waits.work_ns)
    return verdict, rate, waits.wait_ns / 1e9, stopwatch_s, steps, ["shuffled"]


def numbers(steps):
    return hp.range(steps * ROWS)


def slow_reads_and_queues():
    slow, ahead = of(mapped(wait_5_ms, blocking=True)), of(mapped(uneven))
    return [
        Mistake("reads sleep, two at once", "latency_bound", SINGLE, "map", lambda steps: slow(steps, io_threads=2),
                lambda told, steps: slow(steps, io_threads=int(told.value))),
        Mistake("reads share 20 MB/s", "bandwidth_bound", SINGLE, "map", of(limited(32768)), lambda told, steps: of(limited(16384))(steps)),
        Mistake("uneven batches, none ahead", "window_too_small", SINGLE, "map", lambda steps: ahead(steps, run_ahead=0),
                lambda told, steps: ahead(steps, run_ahead=int(told.value))),
        Mistake("one compressed file", "single_file", "tfrecord|map", "tfrecord", lambda steps: read_files(steps, 1, "zlib"),
                lambda told, steps: read_files(steps, int(told.value), "none")),
        Mistake("a shuffle queue without room", "min_fill_too_large", "shuffled", "",
                lambda steps: Pipeline(numbers(steps), queue_capacity=1010),
                lambda told, steps: Pipeline(numbers(steps), queue_capacity=int(told.value)))]


def slow_functions():
    two_ms, batched = of(mapped(computes(2))), lambda steps: numbers(steps).batch(ROWS)
    return [
        Mistake("a generator computes", "serial_stage", "from_generator", "from_generator", of(generated), lambda told, steps: two_ms(steps)),
        Mistake("a map computes", "cpu_bound", SINGLE, "map", lambda steps: in_epochs(steps, False),
                lambda told, steps: in_epochs(steps, told.what.startswith("a cache after map"))),
        Mistake("a map holds the interpreter's lock", "user_lock", SINGLE, "map", of(mapped(holds_the_lock)),
                lambda told, steps: two_ms(steps)),
        Mistake("a function of batches copies rows slowly", "slow_batch_function", "map", "map",
                lambda steps: Pipeline(batched(steps).map(collate, output=(hp.i64, (None,)))), lambda told, steps: Pipeline(batched(steps))),
        Mistake("a map computes in a team of threads", "oversubscribed", SINGLE, "map", of(mapped(team_of(4, 0.5))),
                lambda told, steps: of(mapped(computes(2) if int(told.value) == 1 else team_of(int(told.value), 2 / int(told.value))))(steps))]


def planted():
    return slow_reads_and_queues() + slow_functions()


def slow_start(x):
    if x == 0:
        time.sleep(5)
    return x


def silent():
    """Runs without a mistake."""
    light = of(mapped(computes(0.6)))
    return [Mistake("silent: a long step", "device_bound", "", "", lambda steps: light(steps, step_ms=60)),
            Mistake("silent: a long, uneven step", "device_bound", "", "", lambda steps: light(steps, step_ms=60, jitter_ms=10)),
            Mistake("silent: a slow start", "startup", "", "", of(mapped(slow_start)))]


def slow_input(steps):
    """For the control: the input is slower than the step."""
    return of(mapped(wait_5_ms, blocking=True))(steps, io_threads=4)
