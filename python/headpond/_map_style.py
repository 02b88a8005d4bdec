# SPDX-License-Identifier: Apache-2.0
"""Data sets with len() and [], as torch.utils.data.Dataset has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._dataset import Dataset
from ._elsewhere import is_of
from ._memory import range as numbers
from ._values import SpecLike, is_only_field
from .errors import InvalidArgumentError


def from_torch(dataset: Any, *, names: Sequence[str] | None = None, output: SpecLike = None, blocking: bool = False, serial: bool = False,
               name: str | None = None, version: int = 0) -> Dataset:
    """Element i is dataset[i], which threads of the Loader ask for: of a torch.utils.data.Dataset, or anything else with len() and [].
    Tensors and images become arrays. `names`: the fields of items that are tuples, or lists of arrays; with one name, or the `output` of one array, a list is one
    value. `output`, `blocking`, `serial`, `name`, `version`: as map has
    them; the name is by default that of the data set's class, and a cache on disk needs another one. dataset[i] must be pure: it is asked for in any order, perhaps twice, and
    what it draws from global generators depends on the threads."""
    if isinstance(dataset, Dataset):
        raise TypeError("from_torch(): this is a headpond.Dataset already")
    _refuse_iterable(dataset)
    try:
        size = len(dataset)
        dataset.__getitem__  # noqa: B018
    except (AttributeError, TypeError):
        raise TypeError(f"from_torch() needs a data set with len() and [], and {type(dataset).__name__} is none; for one that can only be "
                        "iterated there is from_generator()") from None
    fields = None if names is None else tuple(names)

    called = f"{type(dataset).__module__}.{type(dataset).__qualname__}" if name is None else name

    is_one = fields is not None and len(fields) == 1 or output is not None and is_only_field(output)
    first: list[int] = []  # How many values the first item has that is a list of arrays.

    def item(i: int) -> Any:
        given = dataset[int(i)]
        if isinstance(given, list) and not is_one and (fields is not None or _has_arrays(given)):
            if fields is None and output is None:
                _refuse_another_number(len(given), first, f"item {int(i)} of {called}")
            given = tuple(given)
        missing = _where_none(given)
        if missing is not None:
            raise InvalidArgumentError(f"from_torch(): {missing}item {int(i)} of {called} is None: an item has arrays, numbers and texts. To leave an "
                                       "item out raise an exception there, and use on_error() or ignore_errors()")
        return _plain(given, fields)

    return numbers(size)._map_one(item, None, f"from_torch of {called}", version, output, blocking, serial, told_apart=name is not None)


def _refuse_iterable(dataset: Any) -> None:
    torchs = "torch.utils.data.dataset"
    ask = getattr(type(dataset), "__getitem__", None)
    if is_of(dataset, torchs, "IterableDataset") and (getattr(ask, "__module__", ""), getattr(ask, "__qualname__", "")) == (torchs, "Dataset.__getitem__"):
        is_ours = is_of(dataset, "headpond.torch", "LoaderDataset")
        advice = "use the headpond.Dataset that it was made of" if is_ours else "use hp.from_generator(lambda epoch: iter(dataset), spec)"
        raise TypeError(f"from_torch(): {type(dataset).__name__} is an IterableDataset, whose items have no positions: {advice}")


def _refuse_another_number(arrays: int, first: list[int], where: str) -> None:
    if not first:
        first.append(arrays)
    if arrays != first[0]:
        raise InvalidArgumentError(f"from_torch(): {where} is a list of {arrays} arrays, another one of {first[0]}: each is a value. For one array of them "
                                   "all say output=, as (hp.f32, (None, 4))")


def _has_arrays(item: list[Any]) -> bool:
    """PyTorch takes a list for several values, and here a list of numbers is an array. One value of each type is asked."""
    return any(_is_array(next(one for one in item if type(one) is kind)) for kind in set(map(type, item)) - _NO_ARRAYS)


_NO_ARRAYS = {bool, int, float, complex, str, bytes, list, tuple, type(None)}


def _is_array(one: Any) -> bool:
    from numpy import generic
    return (hasattr(one, "__array__") or hasattr(one, "__array_interface__")) and not isinstance(one, generic)


def _where_none(item: Any) -> str | None:
    """Of what is None: "" for the item. None: of nothing."""
    if item is None:
        return ""
    parts = item.items() if isinstance(item, dict) else enumerate(item) if isinstance(item, tuple) else ()
    return next((f"value {key!r} of " for key, one in parts if one is None), None)


def _plain(item: Any, names: tuple[str, ...] | None) -> Any:
    if isinstance(item, dict):
        return {key: _value(one) for key, one in item.items()}
    if not isinstance(item, tuple):
        return _value(item) if names is None else {names[0]: _value(item)} if len(names) == 1 else _refuse(1, names)
    if names is None:
        return tuple(_value(one) for one in item)
    return {key: _value(one) for key, one in zip(names, item)} if len(names) == len(item) else _refuse(len(item), names)


def _refuse(values: int, names: tuple[str, ...]) -> Any:
    raise ValueError(f"from_torch(names={names!r}): an item has {values} value{'s' if values > 1 else ''}")


def _value(one: Any) -> Any:
    return one.detach().numpy() if hasattr(one, "detach") else one  # A tensor that a gradient is wanted of is no array by itself.
