# SPDX-License-Identifier: Apache-2.0
"""What only a device shows: copies from page-locked memory while the Loader goes on, JAX on a GPU, arrays of other libraries there."""
import gc
import os

import numpy as np
import pytest

import headpond as hp

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # JAX would take most of the device's memory.
torch = pytest.importorskip("torch", reason="PyTorch is not installed")
if not torch.cuda.is_available():
    pytest.skip("PyTorch sees no CUDA device", allow_module_level=True)

BATCHES, ROWS, LENGTH = 200, 4, 1 << 18  # A batch has 4 MiB.
NUMBERS = np.arange(64, dtype=np.float32)


@pytest.fixture(scope="module")
def data():
    """Rows that are full of their number."""
    rows = np.repeat(NUMBERS, LENGTH).reshape(len(NUMBERS), LENGTH)
    return hp.from_tensor_slices({"x": rows, "row": NUMBERS, "name": [str(int(one)) for one in NUMBERS]}).shuffle().batch(ROWS)


def made(data, **options):
    return hp.Loader(data, **{"epochs": None, "seed": 5, "format": "torch", "pin_memory": True, "memory": 64 << 20, **options})


class Busy:
    """Work for the device, so that what it is asked for next begins late."""

    def __init__(self):
        self.matrix = torch.randn(4096, 4096, device="cuda") / 64

    def __call__(self, products=8):
        for _ in range(products):
            self.matrix = self.matrix @ self.matrix / 64


def damaged(batches):
    """How many batches are not what the Loader gave. `batches`: rows and their numbers on the device, in its order."""
    wrong = [(x != row[:, None]).any() for x, row in batches]
    assert len(wrong) == BATCHES
    return int(torch.stack(wrong).sum())


def usual(loader):
    """A training's loop: the next batch takes the place of one whose copy may not have begun."""
    busy = Busy()
    for _, batch in zip(range(BATCHES), loader.flat()):
        busy()
        yield batch["x"].to("cuda", non_blocking=True), batch["row"].to("cuda", non_blocking=True)


def test_batches_are_pinned(data):
    plain = hp.Loader(data, format="torch", seed=5)
    for batch, other in zip(made(data, epochs=1), plain, strict=True):
        assert batch["x"].is_pinned() and batch["row"].is_pinned()
        assert not other["x"].is_pinned() and not other["row"].is_pinned(), "control"
        assert torch.equal(batch["x"], other["x"]) and batch["name"].tolist() == other["name"].tolist()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "bool"])
def test_each_dtype(dtype):
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed").bfloat16
    rows = hp.from_tensor_slices((np.arange(200_000) % 100).astype(dtype)).batch(100_000)
    for batch, plain in zip(made(rows, epochs=1), hp.Loader(rows, format="torch", seed=5), strict=True):
        there = batch.to("cuda", non_blocking=True)
        assert batch.is_pinned() and there.is_cuda and there.dtype == plain.dtype and torch.equal(there.cpu(), plain)


def test_copies_beside_the_program_are_right(data):
    assert damaged(usual(made(data))) == 0


def test_control_memory_that_is_used_again_at_once_damages_them(data):
    loader = made(data)

    def converted(batch):
        dropped = loader._core.returned()
        if dropped is not None:
            dropped.release()
        return hp.torch._each(hp.torch._pinned_tensor, batch)

    loader._convert = converted
    hurt = damaged(usual(loader))
    print(f"{hurt} of {BATCHES} batches are damaged if their memory is used again at once")
    assert hurt > 0


def test_batches_that_the_program_keeps_are_right(data):
    busy, loader, kept, out = Busy(), made(data), [], []
    for _, batch in zip(range(BATCHES), loader.flat()):
        kept.append(batch)
        if len(kept) == 8:  # Copied and dropped together, long after they came.
            busy()
            out += [(one["x"].to("cuda", non_blocking=True), one["row"].to("cuda", non_blocking=True)) for one in kept]
            kept.clear()
    assert damaged(out) == 0


def test_copies_on_another_stream_are_right(data):
    """As prefetching programs do: the program's stream waits for the other one before the next batch is asked for."""
    def prefetched():
        busy, side, loader = Busy(), torch.cuda.Stream(), made(data)
        for _ in range(BATCHES):
            batch = loader.next()
            with torch.cuda.stream(side):
                busy(5)
                x, row = (batch[name].to("cuda", non_blocking=True) for name in ("x", "row"))
            del batch
            torch.cuda.current_stream().wait_stream(side)
            for one in (x, row):
                one.record_stream(torch.cuda.current_stream())
            yield x, row

    assert damaged(prefetched()) == 0


def test_a_loader_that_ends_while_copies_wait(data):
    busy, out = Busy(), []
    for _ in range(BATCHES // 2):
        loader = made(data, run_ahead=1)
        for _ in range(2):
            batch = loader.next()
            busy(2)
            out.append((batch["x"].to("cuda", non_blocking=True), batch["row"].to("cuda", non_blocking=True)))
        del loader, batch
        gc.collect()
    assert damaged(out) == 0


def test_memory_is_used_again_when_copies_are_done(data):
    loader, places = made(data), set()
    for _, batch in zip(range(BATCHES), loader.flat()):
        batch["x"].to("cuda", non_blocking=True)
        torch.cuda.synchronize()
        places.add(batch["x"].data_ptr())
    assert len(places) <= 24


def test_a_training_learns_the_same(data):
    def trained(**options):
        torch.manual_seed(0)
        net = torch.nn.Linear(LENGTH, 1, device="cuda")
        before = net.weight.detach().clone()
        optimizer = torch.optim.SGD(net.parameters(), 1e-9)
        for batch in hp.Loader(data, epochs=1, seed=5, format="torch", **options):
            x, row = (batch[name].to("cuda", non_blocking=True) for name in ("x", "row"))
            loss = ((net(x)[:, 0] - row) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return before, net.weight.detach()

    before, after = trained(pin_memory=True)
    assert torch.equal(after, trained()[1]) and not torch.equal(after, before)


def test_under_a_data_loader(data):
    for loader in (made(data, epochs=1), hp.Loader(data, seed=5)):
        batches = list(torch.utils.data.DataLoader(loader.to_torch(), batch_size=None, pin_memory=True))
        assert len(batches) == 16 and all(batch["x"].is_pinned() for batch in batches)


def test_another_device_is_refused():
    with pytest.raises(hp.FailedPreconditionError, match="cuDeviceGet"):
        hp._core.Loader(hp.range(4)._core, world_size=1, rank=0, epochs=1, seed=0, threads=1, io_threads=1, memory=None, run_ahead=-1,
                        consumer_helps=True, deterministic=None, quarantine="", pin_threads=False, pinned_for=1000, calls_python=False)


def test_a_function_that_returns_tensors_of_the_device_is_told_so():
    with pytest.raises(Exception, match="cuda"):
        next(hp.range(4).map(lambda x: torch.ones(3, device="cuda"), output=(hp.f32, (3,))).sequence())


def jax_on_a_gpu():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "gpu":
        pytest.skip(f"JAX runs on {jax.default_backend()}")
    return jax


def test_jax_arrays_lie_on_the_gpu_and_are_right(data):
    jax = jax_on_a_gpu()
    batch = next(hp.Loader(data, format="jax", seed=5).flat())
    assert batch["x"].devices() == {jax.devices()[0]} and jax.devices()[0].platform == "gpu"
    assert isinstance(batch["name"], np.ndarray)

    @jax.jit
    def wrong(x, row):
        return (x != row[:, None]).any()

    matrix = jax.numpy.ones((4096, 4096)) / 4096
    found = []
    for _, batch in zip(range(BATCHES), hp.Loader(data, epochs=None, format="jax", memory=64 << 20).flat()):
        for _ in range(4):
            matrix = matrix @ matrix
        found.append(wrong(batch["x"], batch["row"]))
    assert len(found) == BATCHES and int(sum(found)) == 0
    assert bool(wrong(batch["x"].at[0, 5].set(-1), batch["row"])), "control"


def test_arrays_go_on_to_other_libraries_without_a_copy(data):
    tensor = next(made(data).flat())["x"].to("cuda", non_blocking=True)
    others = {}
    try:
        import cupy
        others["CuPy"] = cupy.from_dlpack(tensor).data.ptr
        assert int((cupy.from_dlpack(tensor) != cupy.from_dlpack(tensor)[:, :1]).sum()) == 0
    except ImportError:
        pass
    try:
        array = next(hp.Loader(data, format="jax", seed=5).flat())["x"]
        if array.devices().pop().platform == "gpu":
            again = torch.from_dlpack(array)
            assert again.is_cuda and torch.equal(again, tensor)
            assert again.data_ptr() == array.unsafe_buffer_pointer()
            others["JAX"] = tensor.data_ptr()
    except ImportError:
        pass
    if not others:
        pytest.skip("neither CuPy nor JAX with a GPU is installed")
    assert set(others.values()) == {tensor.data_ptr()}


def test_cupy_copies_numpy_batches_right(data):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    wrong = []
    for _, batch in zip(range(BATCHES), hp.Loader(data, epochs=None, memory=64 << 20).flat()):
        wrong.append((cupy.asarray(batch["x"]) != cupy.asarray(batch["row"])[:, None]).any())
    assert len(wrong) == BATCHES and int(sum(wrong)) == 0
