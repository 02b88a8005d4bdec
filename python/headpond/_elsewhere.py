# SPDX-License-Identifier: Apache-2.0
"""Names of arguments that programs bring from PyTorch and tf.data, and what stands for each here. The guides have them as a table, too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

_THREADS = "delete it: the Loader chooses its threads"
_READ_AHEAD = "delete it: the Loader chooses what is read ahead"
_MAP = "use a map() after it"
_STEP = "use a step of the dataset, "
_ORDER = "delete it: elements come in order, unless hp.Loader(deterministic=False)"
_RANDOM = "delete it: hp.Loader(seed=) decides all that is random"

# By call and name of the argument.
HINTS: dict[str, dict[str, str]] = {
    "Loader": {
        "num_workers": _THREADS, "prefetch_factor": _THREADS, "persistent_workers": _THREADS, "multiprocessing_context": _THREADS,
        "batch_size": _STEP + "batch(n), before the Loader",
        "drop_last": _STEP + "batch(n, drop_remainder=True)",
        "shuffle": _STEP + "shuffle(), before batch()",
        "sampler": _STEP + "shuffle(), select(indices) or sample_weighted(weights, count)",
        "batch_sampler": _STEP + "batch_by_size() or bucket_by_sequence_length()",
        "collate_fn": _STEP + "padded_batch(n) or ragged_batch(n), or a map() after batch(n)",
        "worker_init_fn": "delete it: a function's parameter rng is a generator of the element's own",
        "generator": "use seed=, an integer",
        "in_order": "use deterministic=",
        "timeout": "delete it: try_next() does not wait",
        "pin_memory_device": "delete it: pin_memory=True is for the current device"},
    "map": {"num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "interleave": {"num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "batch": {"drop_last": "use drop_remainder=", "collate_fn": _MAP, "num_parallel_calls": _THREADS, "deterministic": _ORDER},
    "padded_batch": {"drop_last": "use drop_remainder=", "collate_fn": _MAP},
    "shuffle": {"buffer_size": "delete it for an even shuffle of the whole epoch, or use window=", "seed": _RANDOM},
    "list_files": {"file_pattern": "use paths=", "seed": _RANDOM},
    "tfrecord": {"filenames": "use paths=", "compression_type": "use compression=; gzip needs none", "buffer_size": _READ_AHEAD},
    "text_lines": {"filenames": "use paths=", "compression_type": "delete it: gzip is recognised", "buffer_size": _READ_AHEAD},
    "from_generator": {
        "output_signature": "use spec=, as {\"x\": (hp.f32, (3,))}", "output_types": "use spec=, as {\"x\": (hp.f32, (3,))}",
        "output_shapes": "use spec=, as {\"x\": (hp.f32, (3,))}", "args": "use lambda epoch: gen(*args), and name="},
}


def refuse(call: str, names: Iterable[str]) -> None:
    """TypeError, with what stands for them here, if some of the names are another library's."""
    hints = HINTS.get(call, {})
    found = [f"{call}() has no {name}=: {hints[name]}" for name in names if name in hints]
    if found:
        raise TypeError("\n".join(found))


def add_hints(owner: object, **calls: str) -> None:
    """Makes functions of a class or a module refuse these arguments. It isn't a decorator, so type checkers still see the functions' own
    signatures."""
    for name, call in calls.items():
        setattr(owner, name, _refusing(call, getattr(owner, name)))


def _refusing(call: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def checked(*args: Any, **options: Any) -> Any:
        refuse(call, options)
        return function(*args, **options)
    return checked
