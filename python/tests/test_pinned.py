# SPDX-License-Identifier: Apache-2.0
"""Batches in page-locked memory, by a driver and events that stand in for CUDA's. test_device.py has the real ones."""
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import headpond as hp

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
DATA = hp.from_tensor_slices({"x": np.zeros((4, 8), np.float32)}).batch(2)

# The functions of libcuda.so.1; memory that it gave is pinned.
DRIVER = r"""
#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct { char *begin; size_t bytes; } blocks[4096];
static int count, contexts;
int cuInit(unsigned flags) { return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return ordinal == 0 ? 0 : 101; }
int cuDevicePrimaryCtxRetain(void **context, int device) { *context = blocks; contexts++; return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { contexts--; return 0; }
int cuCtxPushCurrent_v2(void *context) { return 0; }
int cuCtxPopCurrent_v2(void **context) { return 0; }
int cuGetErrorName(int status, const char **name) { *name = "NAME"; return 0; }
int cuMemHostAlloc(void **block, size_t bytes, unsigned flags) {
  *block = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  pthread_mutex_lock(&lock);
  blocks[count].begin = *block;
  blocks[count++].bytes = bytes;
  pthread_mutex_unlock(&lock);
  return 0;
}
int cuMemFreeHost(void *block) {
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++)
    if (blocks[i].begin == (char *)block) blocks[i] = blocks[--count];
  pthread_mutex_unlock(&lock);
  free(block);
  return 0;
}
int is_pinned(const char *at) {
  int found = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < count; i++) found |= blocks[i].begin <= at && at < blocks[i].begin + blocks[i].bytes;
  pthread_mutex_unlock(&lock);
  return found;
}
int pinned_blocks(void) { return count; }
""" + "".join(f"int {name}(void) {{ return 1; }}\n" for name in (
    "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoDAsync_v2", "cuStreamCreate", "cuStreamDestroy_v2", "cuStreamWaitEvent", "cuStreamSynchronize",
    "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuEventDestroy_v2"))

PROGRAM = """
import ctypes, gc, time
import numpy as np
import torch
import headpond as hp

driver, own = ctypes.CDLL("libcuda.so.1"), []


def is_pinned(tensor):
    return any(tensor is one for one in own) or bool(driver.is_pinned(ctypes.c_void_p(tensor.data_ptr())))


def pin_memory(tensor):
    own.append(tensor.clone())
    return own[-1]


class Event:
    waited = 0

    def query(self):
        return Event.done

    def synchronize(self):
        Event.waited += not Event.done


class Stream:
    def record_event(self):
        return Event()

torch.Tensor.is_pinned, torch.Tensor.pin_memory = is_pinned, pin_memory
torch.cuda.is_available, torch.cuda.current_device, torch.cuda.device_count = lambda: True, lambda: 0, lambda: 2
torch.cuda.current_stream = lambda device: {0: Stream()}[device]
torch._C._cuda_hasPrimaryContext = lambda device: device == 0

rows = np.arange(64 * 4, dtype=np.float32).repeat(65536).reshape(64, 4, 65536)  # A row has 1 MiB.
data = hp.from_tensor_slices({"x": rows, "label": np.arange(64), "name": [str(i) for i in range(64)]}).shuffle().batch(1)


def run(loader, steps):
    \"\"\"Where batches lay that the program dropped at once, and the values there before and now.\"\"\"
    seen = []
    for _ in range(steps):
        batch = loader.next()
        assert batch["x"].is_pinned() and batch["label"].is_pinned() and isinstance(batch["name"], np.ndarray)
        assert int(batch["x"][0, 0, 0]) == 4 * int(batch["label"])
        seen.append((batch["x"].data_ptr(), int(batch["x"][0, 0, 0])))
        del batch
    return [(at, before, int(ctypes.cast(at, ctypes.POINTER(ctypes.c_float))[0])) for at, before in seen]


def reset():
    global loader, other, plain, seen, kept, last
    loader = other = plain = seen = kept = last = None
    hp.torch.Pinned._MOST_WAITING, Event.waited = 4, 0


def made(**options):
    return hp.Loader(data, epochs=None, format="torch", pin_memory=True, memory=128 << 20, run_ahead=2, **options)

"""

RUNS = {
    "memory waits for the copies from it": """
Event.done = False
hp.torch.Pinned._MOST_WAITING = 40
loader = made()
seen = run(loader, 30)
print(len({at for at, *_ in seen}) == 30, all(before == now for _, before, now in seen))
del loader  # With what still waits.
""",
    "control: it is used again when they are done": """
Event.done = True
seen = run(made(), 30)
print(len({at for at, *_ in seen}) < 15, any(before != now for _, before, now in seen))
""",
    "memory comes back when the copies end": """
Event.done = False
hp.torch.Pinned._MOST_WAITING = 40
loader = made()
run(loader, 30)
before = loader.stats()["memory_in_use"]
Event.done = True
run(loader, 2)
print(before > 29 << 20, loader.stats()["memory_in_use"] < 10 << 20)
""",
    "a program that runs far ahead waits for the first copies": """
Event.done = False
loader = made()
run(loader, 30)
print(20 <= Event.waited <= 30, loader.stats()["memory_in_use"] < 20 << 20)
""",
    "close() waits for the copies and gives all back": """
Event.done = False
loader = made()
run(loader, 3)
before = Event.waited
loader.close()
print(before == 0, Event.waited > 0, loader.stats()["memory_in_use"] == 0)
""",
    "what is kept is not given back": """
Event.done = True
loader = made()
kept = [(batch["x"][0, 1], 4 * int(batch["label"]) + 1) for batch in (loader.next() for _ in range(30))]
print(all(float(view.min()) == float(view.max()) == number for view, number in kept), len({view.data_ptr() for view, _ in kept}) == 30)
""",
    "the driver gets all blocks back": """
Event.done = True
loader = made()
last = loader.next()["x"]
run(loader, 5)
before = driver.pinned_blocks()
loader = None
gc.collect()
stays = last.is_pinned()
last = None
end = time.monotonic() + 20  # What ended it may have a thread of its own.
while driver.pinned_blocks() > 0 and time.monotonic() < end:
    time.sleep(0.01)
print(before > 1, stays, driver.pinned_blocks() == 0)
""",
    "states and all ways to a batch are the same": """
Event.done = True
loader, plain = (hp.Loader(data, epochs=2, seed=3, format="torch", pin_memory=pin) for pin in (True, False))
same = [bool((a["x"] == b["x"]).all()) and a["x"].is_pinned() and not b["x"].is_pinned() for a, b in zip(loader, plain, strict=True)]
state = loader.state_dict()
right = len(same) == 64 and all(same) and state == plain.state_dict()
other = hp.Loader(data, epochs=2, seed=3, format="torch", pin_memory=True)
other.load_state_dict(state)
rest = [list(one)[:3] for one in (other.flat(), plain.to_torch())]
print(right, all(bool((a["x"] == b["x"]).all()) and a["x"].is_pinned() for a, b in zip(*rest)))
""",
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What each of RUNS printed, all in one process."""
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device: test_device.py")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler for the driver that stands in")
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(DRIVER)
    subprocess.run([compiler, "-w", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "driver.c"], check=True)
    program = PROGRAM + "".join(f"print({what!r}, end=': ')\n{lines}\nreset()\n" for what, lines in RUNS.items())
    done = subprocess.run([sys.executable, "-c", program], env={**os.environ, "LD_LIBRARY_PATH": str(folder)}, capture_output=True, text=True,
                          timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)
    return dict(line.rsplit(": ", 1) for line in done.stdout.splitlines())


@pytest.mark.parametrize("what", RUNS)
def test_batches_in_page_locked_memory(answers, what):
    assert set(answers[what].split()) == {"True"}


def test_without_a_device_it_is_refused():
    if not torch.cuda.is_available():
        with pytest.raises(hp.FailedPreconditionError, match="sees no CUDA device"):
            hp.Loader(DATA, format="torch", pin_memory=True)
    with pytest.raises(hp.InvalidArgumentError, match="pin_memory=True, format='numpy'"):
        hp.Loader(DATA, pin_memory=True)


def test_without_a_driver_it_is_refused(monkeypatch):
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    with pytest.raises(hp.FailedPreconditionError, match="CUDA: no driver"):
        hp.Loader(DATA, format="torch", pin_memory=True)
