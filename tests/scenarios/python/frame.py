# SPDX-License-Identifier: Apache-2.0
"""What the scenarios in Python share."""
import collections
import hashlib
import logging
import threading
import time

import headpond as hp
import numpy as np

_local = threading.local()


def burn_us(us):
    """Takes `us` microseconds of the calling thread's processor time, however long that lasts, in NumPy, which gives the interpreter's
    lock up meanwhile."""
    end = time.thread_time_ns() + us * 1000
    values = getattr(_local, "values", None)
    if values is None:
        values = _local.values = np.ones(20_000)
    while time.thread_time_ns() < end:  # Each takes about 25 us.
        np.sqrt(values, out=values)


def sleep_us(us):
    if us > 0:
        time.sleep(us / 1e6)


def bare_seconds(count, work):
    """Tasks 0 to count - 1 by two threads that take the next one when they are free: what two cores can do."""
    tasks = iter(range(count))  # Its next() is one step under the interpreter's lock.

    def run():
        for i in tasks:
            work(i)
    other = threading.Thread(target=run)
    began = time.monotonic()
    other.start()
    run()
    other.join()
    return time.monotonic() - began


def fields_of(batch):
    """Its arrays, whatever it is: a dict, a tuple or one array."""
    return list(batch.values()) if isinstance(batch, dict) else list(batch) if isinstance(batch, tuple) else [batch]


def digest(before, batch):
    """A hash of all before, and of this batch: field by field dtype, shape and bytes."""
    now = hashlib.blake2b(before, digest_size=8)
    for field in fields_of(batch):
        array = np.asarray(field)
        now.update(f"{array.dtype} {array.shape}".encode())
        now.update(b"\0".join(array.ravel()) if array.dtype == object else np.ascontiguousarray(array))
    return now.digest()


def digest_of_rest(loader, before=b""):
    for batch in loader.flat():
        before = digest(before, batch)
    return before


def must_next(loader):
    batch = loader.next()
    if batch is None:
        raise RuntimeError("no batch: the run has ended")
    return batch


def resumed(dataset, at, before, after):
    """A run that is saved after `at` batches, goes on for one, and is gone, and one that goes on from the state, with the options `before`
    and `after`: the digest of the whole, and the state."""
    total = b""
    with hp.Loader(dataset, **before) as loader:
        for _ in range(at):
            total = digest(total, must_next(loader))
        state = loader.state_dict()
        must_next(loader)
    again = hp.Loader(dataset, **after)
    again.load_state_dict(state)
    return digest_of_rest(again, total), state


def ms_since(began):
    return (time.monotonic() - began) * 1e3


def step_ms(loader, steps, device_us):
    """Milliseconds of each step: a batch, then the device, which sleeps."""
    taken = []
    for _ in range(steps):
        began = time.monotonic()
        batch = must_next(loader)
        sleep_us(device_us)
        del batch
        taken.append(ms_since(began))
    return taken


def device_ms(steps, device_us):
    """The same without a Loader."""
    taken = []
    for _ in range(steps):
        began = time.monotonic()
        sleep_us(device_us)
        taken.append(ms_since(began))
    return taken


class LogLines(logging.Handler):
    """Collects the lines of the package's log while it is open."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())

    def __enter__(self):
        logger = logging.getLogger("headpond")
        logger.setLevel(logging.INFO)
        logger.addHandler(self)
        return self

    def __exit__(self, *exception):
        time.sleep(0.05)  # Lines come to the main thread between two instructions.
        logging.getLogger("headpond").removeHandler(self)


def proportional_bytes():
    """The proportional set size of this process."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("Pss:"))


class MemoryOverTime:
    """The proportional set of this process beyond that at the start, in MiB, each 100 ms, with what the program did at that moment."""

    def __init__(self):
        self._idle, self.phase, self._mib = proportional_bytes(), "start", collections.defaultdict(list)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _look(self):
        self._mib[self.phase].append(max(proportional_bytes() - self._idle, 0) / (1 << 20))

    def _watch(self):
        while not self._ended.wait(0.1):
            self._look()

    def end(self):
        """The samples of each phase; none comes any more."""
        self._ended.set()
        self._thread.join()
        self._look()
        return self._mib

    def peak_bytes(self):
        """The same: the most of all."""
        return int(max(map(max, self.end().values())) * (1 << 20))
