# SPDX-License-Identifier: Apache-2.0
"""What benches.py measures: for each system a function of seconds that gives its figures by name. HEADPOND_BENCH_FOLDER: where its files are."""
import hashlib
import itertools
import json
import os
import statistics
import subprocess
import sys
import time

EXAMPLES, BATCH = 60_000, 32


def of_calls(step, seconds, calls=200):
    """Nanoseconds of a call: the median of blocks of so many."""
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 20:
        began = time.perf_counter_ns()
        for _ in range(calls):
            step()
        found.append((time.perf_counter_ns() - began) / calls)
    return statistics.median(found[len(found) // 10:])


# ---- ready: one field of 100 kB, by reference.


def some_rows():
    import numpy as np
    return np.zeros((64, 25_000), np.float32)


def ready_headpond(seconds):
    import headpond as hp
    batches = hp.Loader(hp.from_tensor_slices({"x": some_rows()}).repeat()).flat()
    return {"us": of_calls(lambda: next(batches), seconds) / 1e3}


def ready_nodes(seconds):
    from torchdata import nodes
    node = nodes.IterableWrapper(itertools.cycle([{"x": row} for row in some_rows()]))
    node.reset()
    return {"us": of_calls(lambda: next(node), seconds) / 1e3}


# ---- handoff: what another thread has made, taken when it is ready.


def handed_off(seconds, batch, shape, dtype, pause):
    import numpy as np

    import headpond as hp
    data = hp.from_tensor_slices({"x": np.zeros((2 * batch, *shape), dtype)}).repeat().batch(batch)
    times, end = [], time.perf_counter() + seconds
    with hp.Loader(data, threads=1, consumer_helps=False, memory=1 << 30) as loader:
        batch = loader.next()
        while time.perf_counter() < end or len(times) < 20:
            del batch  # Its end is not counted.
            time.sleep(pause)
            began = time.perf_counter_ns()
            try:
                batch = loader.try_next()
            except hp.DeadlineExceededError:
                batch = None
                continue  # It was not ready: that is another figure.
            times.append(time.perf_counter_ns() - began)
    return statistics.median(times) / 1e3


SMALL, LARGE = (32, (784,), "float32", 0.002), (256, (224, 224, 3), "uint8", 0.05)  # Rows, shape, dtype, pause.


def handoff_headpond(seconds):
    return {"small_us": handed_off(seconds / 2, *SMALL), "large_us": handed_off(seconds / 2, *LARGE)}


def handoff_of(iterator_of, seconds):
    """Of another system. `iterator_of`(rows, shape, dtype): batches, of which another thread or process makes at least one ahead."""
    found = {}
    for name, (rows, shape, dtype, pause) in (("small_us", SMALL), ("large_us", LARGE)):
        batches, times, end = iterator_of(rows, shape, dtype), [], time.perf_counter() + seconds / 2
        batch = next(batches)
        while time.perf_counter() < end or len(times) < 20:
            del batch  # Its end is not counted.
            time.sleep(pause)
            began = time.perf_counter_ns()
            batch = next(batches)
            times.append(time.perf_counter_ns() - began)
        assert len(batch) == rows
        found[name] = statistics.median(times) / 1e3
    return found


def maker_of(rows, shape, dtype):
    """A function that makes a batch: copies rows that lie in memory."""
    import numpy as np
    source = np.zeros((rows, *shape), dtype)
    return lambda _: source.copy()


def handoff_numpy(seconds):
    """Nothing is handed over: a view of an array. What it takes is the pause, after which code and data are in no cache."""
    import numpy as np

    def views(rows, shape, dtype):
        source = np.zeros((rows, *shape), dtype)
        return (source[:] for _ in itertools.repeat(0))
    return handoff_of(views, seconds)


def handoff_nodes(seconds):
    from torchdata import nodes

    def made(rows, shape, dtype):
        node = nodes.Prefetcher(nodes.Mapper(nodes.IterableWrapper(itertools.repeat(0)), maker_of(rows, shape, dtype)), 2)
        node.reset()
        return node
    return handoff_of(made, seconds)


def handoff_loader(seconds):
    import torch
    from torch.utils.data import DataLoader, IterableDataset

    class Batches(IterableDataset):
        def __init__(self, make):
            self.make = make

        def __iter__(self):
            return (torch.from_numpy(self.make(0)) for _ in itertools.repeat(0))
    return handoff_of(lambda *kind: iter(DataLoader(Batches(maker_of(*kind)), batch_size=None, num_workers=1)), seconds)


def spdl_batches(source, make, threads):
    from spdl.pipeline import PipelineBuilder
    pipeline = PipelineBuilder().add_source(source).pipe(make, concurrency=threads).add_sink(4).build(num_threads=threads)
    with pipeline.auto_stop():
        yield from pipeline.get_iterator(timeout=60)


def handoff_spdl(seconds):
    return handoff_of(lambda *kind: spdl_batches(itertools.repeat(0), maker_of(*kind), 1), seconds)


def handoff_grain(seconds):
    import grain
    options = grain.ReadOptions(num_threads=1, prefetch_buffer_size=2)
    return handoff_of(lambda *kind: iter(grain.MapDataset.range(10**6).map(maker_of(*kind)).to_iter_dataset(options)), seconds)


def handoff_tf_data(seconds):
    import tensorflow as tf

    def made(rows, shape, dtype):
        source = tf.zeros((rows, *shape), dtype)
        return iter(tf.data.Dataset.range(10**6).map(lambda _: tf.identity(source)).prefetch(2).as_numpy_iterator())
    return handoff_of(made, seconds)


def handoff_mlx(seconds):
    import mlx.data as dx
    import numpy as np

    def made(rows, shape, dtype):
        buffer = dx.buffer_from_vector([{"x": np.zeros(shape, dtype)} for _ in range(rows)])
        return (batch["x"] for batch in buffer.to_stream().repeat(10**6).batch(rows).prefetch(2, 1))
    return handoff_of(made, seconds)


# ---- first, import: processes of their own.


def mnist_files():
    """Digits' sizes without the digits."""
    import numpy as np
    names = [os.path.join(os.environ["HEADPOND_BENCH_FOLDER"], name) for name in ("images.npy", "labels.npy")]
    if not os.path.exists(names[1]):
        random = np.random.default_rng(7)
        np.save(names[0], random.integers(0, 256, (EXAMPLES, 28, 28, 1), np.uint8))
        np.save(names[1], random.integers(0, 10, EXAMPLES))
    return names


FIRST = {
    "headpond": """
import headpond as hp
data = hp.zip(image=hp.npy({0!r}), label=hp.npy({1!r})).shuffle().map("image", hp.normalize(mean=[0.0], std=[1.0])).batch(32)
batch = hp.Loader(data).next()["image"]""",
    "NumPy": """
import numpy as np
images, labels = np.load({0!r}, mmap_mode="r"), np.load({1!r}, mmap_mode="r")
rows = np.random.default_rng(7).permutation(len(images))[:32]
batch, label = images[rows].astype(np.float32) / np.float32(255), labels[rows]""",
}


def printed(program):
    """The numbers that a fresh process prints, and the clock before it was started."""
    began = time.monotonic_ns()
    out = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    return began, [int(word) for word in out.split()]


def first_batch(system):
    program = FIRST[system].format(*mnist_files()) + "\nimport time\nprint(time.monotonic_ns(), batch.size)"
    printed(program)  # So that files are in memory.
    began, (ready, size) = printed(program)
    assert size == 32 * 784
    return {"ms": (ready - began) / 1e6}


IMPORT = """
import os, time
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
{0}
before, began = resident(), time.perf_counter_ns()
import {1}
print(time.perf_counter_ns() - began, resident() - before)"""


def imported(before, module):
    took, grown = printed(IMPORT.format(before, module))[1]
    return {"ms": took / 1e6, "mb": grown / 1e6}


# ---- mnist: shuffle, float / 255, batches of 32; thousands of examples in a second.


def epochs_rate(make, seconds):
    """Over whole epochs; the first one is not counted."""
    count, spent = 0, 0.0
    for number in itertools.count():
        began = time.perf_counter()
        seen = sum(len(images) for images in make())
        assert seen == EXAMPLES, f"{seen} examples"
        if number > 0:
            count, spent = count + seen, spent + time.perf_counter() - began
        if spent > seconds:
            return {"k_per_s": count / spent / 1e3}


def arrays():
    import numpy as np
    return [np.load(name) for name in mnist_files()]


def mnist_headpond(seconds):
    import headpond as hp
    images, labels = arrays()
    data = hp.from_tensor_slices({"image": images, "label": labels}).shuffle().map("image", hp.normalize(mean=[0.0], std=[1.0])).batch(BATCH)
    loader = hp.Loader(data, epochs=None)
    return epochs_rate(lambda: (batch["image"] for batch in loader), seconds)


def mnist_cpp(seconds):
    """The row of `headpond bench loader.mnist`, by the program that lies in the package."""
    words = ["bench", "loader.mnist", "--peers", "off", "--rounds", "1", "--seconds", str(seconds), "--json"]
    done = subprocess.run([sys.executable, "-m", "headpond", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    row = next(row for row in json.loads(done.stdout)["rows"] if (row["system"], row["metric"]) == ("headpond", "ns_per_example"))
    return {"k_per_s": 1e6 / row["median"]}


def mnist_numpy(seconds):
    import numpy as np
    images, labels = arrays()
    random = np.random.default_rng(7)

    def epoch():
        order = random.permutation(EXAMPLES)
        for at in range(0, EXAMPLES, BATCH):
            rows = order[at:at + BATCH]
            label = labels[rows]
            yield images[rows].astype(np.float32) / np.float32(255)
            del label
    return epochs_rate(epoch, seconds)


def mnist_nodes(seconds):
    import numpy as np
    from torchdata import nodes
    images, labels = arrays()

    def example(row):
        return images[row].astype(np.float32) / np.float32(255), labels[row]

    def epoch():
        order = nodes.IterableWrapper(np.random.default_rng(7).permutation(EXAMPLES))
        batches = nodes.Mapper(nodes.Batcher(nodes.Mapper(order, example), BATCH, drop_last=False), lambda rows: [np.stack(one) for one in zip(*rows)])
        return (images for images, _ in nodes.Loader(batches))
    return epochs_rate(epoch, seconds)


def mnist_mlx(seconds):
    import mlx.data as dx
    import numpy as np
    images, labels = arrays()
    rows = [{"image": image, "label": label} for image, label in zip(images, labels)]

    def epoch():
        buffer = dx.buffer_from_vector(rows).shuffle().key_transform("image", lambda image: image.astype(np.float32) / np.float32(255))
        return (batch["image"] for batch in buffer.to_stream().batch(BATCH).prefetch(4, 1))
    return epochs_rate(epoch, seconds)


def mnist_tf_data(seconds):
    import tensorflow as tf
    images, labels = arrays()
    data = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(EXAMPLES).map(
        lambda image, label: (tf.cast(image, tf.float32) / 255, label), num_parallel_calls=tf.data.AUTOTUNE).batch(BATCH).prefetch(tf.data.AUTOTUNE)
    return epochs_rate(lambda: (images for images, _ in data.as_numpy_iterator()), seconds)


def mnist_grain(seconds):
    import grain
    import numpy as np
    images, labels = arrays()

    class Rows:
        def __len__(self):
            return EXAMPLES

        def __getitem__(self, row):
            return images[row].astype(np.float32) / np.float32(255), labels[row]
    seeds = itertools.count()
    return epochs_rate(lambda: (images for images, _ in grain.MapDataset.source(Rows()).shuffle(seed=next(seeds)).batch(BATCH).to_iter_dataset()), seconds)


def mnist_spdl(seconds):
    import numpy as np
    images, labels = arrays()
    random = np.random.default_rng(7)
    threads = len(os.sched_getaffinity(0))

    def batch(rows):
        return images[rows].astype(np.float32) / np.float32(255), labels[rows]
    return epochs_rate(lambda: (images for images, _ in spdl_batches(list(random.permutation(EXAMPLES).reshape(-1, BATCH)), batch, threads)), seconds)


def mnist_loader(seconds):
    import numpy as np
    from torch.utils.data import DataLoader, Dataset
    images, labels = arrays()

    class Rows(Dataset):
        def __len__(self):
            return EXAMPLES

        def __getitem__(self, row):
            return images[row].astype(np.float32) / np.float32(255), labels[row]
    cpus = len(os.sched_getaffinity(0))
    loader = DataLoader(Rows(), BATCH, shuffle=True, num_workers=cpus if cpus > 1 else 0, persistent_workers=cpus > 1)
    return epochs_rate(lambda: (images for images, _ in loader), seconds)


# ---- lock: functions of Python on threads.


def elements_rate(loader, seconds):
    """Of at least 16 batches, after the first one."""
    batches = loader.flat()
    next(batches)
    count, began = 0, time.perf_counter()
    for number in itertools.count():
        if number >= 16 and time.perf_counter() > began + seconds:
            return count / (time.perf_counter() - began)
        count += len(next(batches))


def releasing(seconds, threads):
    """A function that lets the lock go: hashes of 2 MB."""
    import headpond as hp
    block = os.urandom(2_000_000)
    data = hp.range(1_000_000).map(lambda number: hashlib.sha256(block).digest()[0], output=(hp.i64, ())).batch(4)
    with hp.Loader(data, threads=threads, consumer_helps=False) as loader:
        return elements_rate(loader, seconds)


def busy(number):
    total = 0
    for one in range(2000):
        total += one ^ number
    return total


def holding(seconds):
    import headpond as hp
    data = hp.range(10_000_000).map(busy, output=(hp.i64, ())).batch(32)
    with hp.Loader(data) as loader:
        return elements_rate(loader, seconds)


def by_loop(seconds):
    import numpy as np
    count, began = 0, time.perf_counter()
    while time.perf_counter() < began + seconds:
        rows = [busy(number) for number in np.arange(count, count + 32)]  # Scalars of NumPy's, as a function of the Loader gets.
        count += len(rows)
    return count / (time.perf_counter() - began)


def step_ms(seconds, batches):
    """A step of pure Python beside a pipeline, of which each step takes a batch."""
    found, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(found) < 4:
        next(batches)
        began = time.perf_counter()
        for number in range(40):
            busy(number)
        found.append(time.perf_counter() - began)
    return 1e3 * statistics.median(found)


def beside(seconds):
    import headpond as hp
    images, labels = arrays()
    data = hp.from_tensor_slices({"image": images, "label": labels}).shuffle().map("image", hp.normalize(mean=[0.0], std=[1.0])).batch(512)
    with hp.Loader(data, epochs=None) as loader:
        return step_ms(seconds, loader.flat())


def lock_headpond(seconds):
    part = seconds / 3
    return {"released_2_by_1": releasing(part, 2) / releasing(part, 1), "held_by_loop": holding(part) / by_loop(part),
            "step_by_alone": beside(part) / step_ms(part, itertools.repeat(None))}


# bench -> system -> (modules that it needs, function of seconds)
MNIST = {"headpond": ("headpond", mnist_headpond), "NumPy": ("numpy", mnist_numpy), "DataLoader": ("torch", mnist_loader),
         "nodes": ("torchdata.nodes", mnist_nodes), "mlx-data": ("mlx.data", mnist_mlx), "SPDL": ("spdl.pipeline", mnist_spdl),
         "Grain": ("grain", mnist_grain), "tf.data": ("tensorflow", mnist_tf_data)}
SYSTEMS = {
    "ready": {"headpond": ("headpond", ready_headpond), "nodes": ("torchdata.nodes", ready_nodes)},
    "handoff": {"headpond": ("headpond", handoff_headpond), "NumPy": ("numpy", handoff_numpy), "DataLoader": ("torch", handoff_loader),
                "nodes": ("torchdata.nodes", handoff_nodes), "mlx-data": ("mlx.data", handoff_mlx),
                "SPDL": ("spdl.pipeline", handoff_spdl), "Grain": ("grain", handoff_grain),
                "tf.data": ("tensorflow", handoff_tf_data)},
    "first": {"headpond": ("headpond", lambda seconds: first_batch("headpond")), "NumPy": ("numpy", lambda seconds: first_batch("NumPy"))},
    "import": {"headpond": ("headpond", lambda seconds: imported("import numpy", "headpond")), "NumPy": ("numpy", lambda seconds: imported("", "numpy"))},
    "mnist": {"C++": ("headpond", mnist_cpp), **MNIST},
    "mnist_2": MNIST,
    "lock": {"headpond": ("headpond", lock_headpond)},
}
