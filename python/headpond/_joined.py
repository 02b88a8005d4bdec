# SPDX-License-Identifier: Apache-2.0
"""Datasets of several datasets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import _core
from ._arguments import text
from ._dataset import Dataset, core_of, functions_of, without_none
from ._values import plain_options, refuse_dataset


def zip(*inputs: Dataset | Sequence[Dataset], **named: Dataset) -> Dataset:  # noqa: A001
    """Elements with the fields of one element of each input, until one ends. Named inputs give their names to their only field. The
    inputs without names may be one tuple or list."""
    if named and inputs:
        raise TypeError("zip() takes inputs with names or without, not both")
    if named:
        return Dataset(_core.build("zip", {}, "", [(name, core_of(one, "zip()")) for name, one in named.items()]), functions_of(named.values()))
    given: Any = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
    return Dataset(_core.zip([core_of(one, "zip()") for one in given]), functions_of(given))


def _joined(op: str, inputs: Sequence[Dataset], given: dict[str, Any], name: str | None = None) -> Dataset:
    if isinstance(inputs, Dataset):
        raise TypeError(f"{op}() takes a list of datasets")
    pairs = [(str(i), core_of(one, f"{op}()")) for i, one in enumerate(inputs)]
    for key, value in given.items():
        refuse_dataset(f"{op}()", key, value)
    return Dataset(_core.build(op, plain_options(op, without_none(**given)), text(f"{op}()", "name", name), pairs), functions_of(inputs))


def concatenate(*inputs: Dataset) -> Dataset:
    """The elements of all inputs, one input after the other."""
    return _joined("concatenate", inputs, {})


def mix(inputs: Sequence[Dataset], weights: Sequence[float] | None = None, *,
        schedule: Sequence[Mapping[str, Any]] | None = None) -> Dataset:
    """Elements of the inputs in exact shares."""
    return _joined("mix", inputs, {"weights": weights, "schedule": schedule})


def sample_from_datasets(inputs: Sequence[Dataset], weights: Sequence[float] | None = None, *,
                         stop_on_empty_dataset: bool | None = None, name: str | None = None) -> Dataset:
    """Elements of the inputs, drawn at random."""
    return _joined("sample_from_datasets", inputs, {"weights": weights, "stop_on_empty_dataset": stop_on_empty_dataset}, name)


def choose_from_datasets(inputs: Sequence[Dataset], choices: Dataset, *, stop_on_empty_dataset: bool | None = None) -> Dataset:
    """Elements of the inputs, whose numbers `choices` gives."""
    return _joined("choose_from_datasets", [*inputs, choices], {"stop_on_empty_dataset": stop_on_empty_dataset})


def interleave(inputs: Sequence[Dataset], *, cycle_length: int | None = None, block_length: int | None = None) -> Dataset:
    """Elements of the inputs in turn."""
    return _joined("interleave", inputs, {"cycle_length": cycle_length, "block_length": block_length})
