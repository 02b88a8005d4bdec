# SPDX-License-Identifier: Apache-2.0
"""What the scenarios in Python share."""
import hashlib
import logging
import threading
import time

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


class PeakMemory:
    """Looks at the memory of this process each 100 ms: the most beyond what there was at the start."""

    def __init__(self):
        self._before = self._most = proportional_bytes()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.1):
            self._most = max(self._most, proportional_bytes())

    def end(self):
        self._ended.set()
        self._thread.join()
        return max(self._most, proportional_bytes()) - self._before
