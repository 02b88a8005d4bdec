# SPDX-License-Identifier: Apache-2.0
"""A dataset's elements one by one, nothing made ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._loader import saved_state, state_in

if TYPE_CHECKING:
    from ._dataset import Dataset


class Sequence(_core.Sequence):
    """What dataset.sequence() returns: an iterator with `epoch` and `index` of the last element, and its state, which a Loader of the
    same dataset and seed takes, too, and the other way round."""

    def __init__(self, dataset: Dataset, seed: int, epochs: int, state: bytes | None) -> None:
        super().__init__(dataset._core, seed, epochs, state, dataset)
        self.dataset = dataset

    def state_dict(self) -> dict[str, Any]:
        """The position after the last element, as of Loader.state_dict()."""
        epoch, index, state = self.state()
        return saved_state(epoch, index, self.dataset.plan(), state)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Goes on after that element. FailedPreconditionError, with the difference, for the state of another pipeline or seed."""
        self.restore(state_in(state))

    get_state, set_state = state_dict, load_state_dict

    def __repr__(self) -> str:
        place = "before the first element" if self.index < 0 and self.epoch == 0 else f"epoch {self.epoch}, element {self.index}"
        return f"<headpond.Sequence, {place}, of {self.dataset!r}>"
