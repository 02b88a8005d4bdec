# SPDX-License-Identifier: Apache-2.0
"""A run goes on with another plan: docs/changing_a_plan.md."""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core
from ._dataset import Dataset, core_of
from ._loader import saved_state, state_in
from .errors import InvalidArgumentError

_IF_REFUSED = ("fail", "restart_epoch", "next_epoch")


class MigrationStep(NamedTuple):
    """What becomes of an operator, or of a source with the operators that are carried with it. `kind`: "carried", it goes on at its
    position; "anew", it begins; "dropped", it was applied until here; "twice" and "never", so many `elements` (None: unknown) that the
    rest of the epoch delivers again, or that this epoch does not deliver."""

    kind: str
    step: str
    what: str
    elements: int | None


class Migration:
    """A state of the new plan, for load_state_dict(), and `steps`, what became of each step. Printed, a line for each."""

    def __init__(self, state: dict[str, Any], steps: list[MigrationStep], text: str) -> None:
        self.state, self.steps, self._text = state, steps, text

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


def migrate(state: dict[str, Any], old: Dataset | None, new: Dataset, *, if_refused: str = "fail") -> Migration:
    """Makes of a state_dict() of `old` one of `new`, from which that run goes on: each sample that the epoch has not delivered is
    delivered once, but for those that a step names as twice or never. FailedPreconditionError, with the operator and the reason, where
    that cannot be said exactly; or `if_refused`: "restart_epoch" begins the epoch again, "next_epoch" begins the next one. `old` may be
    None for a state between two epochs. Opens the files of both."""
    if if_refused not in _IF_REFUSED:
        raise InvalidArgumentError(f"migrate(): if_refused={if_refused!r}: must be one of {', '.join(_IF_REFUSED)}")
    if old is None and if_refused != "fail":
        raise InvalidArgumentError(f"migrate(): if_refused={if_refused!r} needs the old dataset")
    old_core = None if old is None else core_of(old, "migrate()")
    made = _core.migrate(state_in(state), old_core, core_of(new, "migrate()"), _IF_REFUSED.index(if_refused))
    epoch, index, own, steps, text = made
    return Migration(saved_state(epoch, index, new.plan(), own), [MigrationStep(*one) for one in steps], text.rstrip("\n"))
