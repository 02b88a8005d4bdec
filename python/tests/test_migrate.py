# SPDX-License-Identifier: Apache-2.0
"""States of a plan that has changed."""

import pytest

import headpond as hp


def numbers(loader):
    return [int(x) for batch in loader.flat() for x in batch]


def test_a_run_goes_on_with_another_batch_size_and_loses_nothing():
    shuffled = hp.range(100).shuffle()
    loader = hp.Loader(shuffled.batch(8), epochs=2, seed=5)
    before = [int(x) for _ in range(5) for x in loader.next()]
    made = hp.migrate(loader.state_dict(), shuffled.batch(8), shuffled.batch(15))
    assert {step.kind for step in made.steps} >= {"carried"} and "goes on at position 40" in str(made)
    after = hp.Loader(shuffled.batch(15), epochs=2, seed=5)
    after.load_state_dict(made.state)
    rest = numbers(after)
    assert len(rest) == 160 and sorted(before + rest[:60]) == sorted(rest[60:]) == list(range(100))
    control = hp.Loader(shuffled.batch(15), epochs=2, seed=5)
    with pytest.raises(hp.FailedPreconditionError):
        control.load_state_dict(loader.state_dict())


def test_a_state_between_epochs_needs_no_old_plan():
    loader = hp.Loader(hp.range(8).batch(4), epochs=3)
    assert len(list(loader)) == 2
    made = hp.migrate(loader.state_dict(), None, hp.range(6).batch(3))
    after = hp.Loader(hp.range(6).batch(3), epochs=3)
    after.load_state_dict(made.state)
    assert len(numbers(after)) == 12


def test_what_cannot_be_said_exactly_is_refused_or_begins_anew():
    old, new = hp.range(100).batch(7), hp.range(30).batch(7)
    loader = hp.Loader(old, epochs=2)
    loader.next()
    state = loader.state_dict()
    with pytest.raises(hp.FailedPreconditionError):
        hp.migrate(state, old, new)
    made = hp.migrate(state, old, new, if_refused="restart_epoch")
    assert any(step.kind == "twice" for step in made.steps)
    after = hp.Loader(new, epochs=2)
    after.load_state_dict(made.state)
    assert numbers(after) == [*range(30)] * 2
    after.load_state_dict(hp.migrate(state, old, new, if_refused="next_epoch").state)
    assert numbers(after) == [*range(30)]


def test_wrong_arguments():
    state = hp.Loader(hp.range(3)).state_dict()
    with pytest.raises(hp.InvalidArgumentError, match="if_refused='x'"):
        hp.migrate(state, hp.range(3), hp.range(3), if_refused="x")
    with pytest.raises(hp.InvalidArgumentError, match="needs the old dataset"):
        hp.migrate(state, None, hp.range(3), if_refused="next_epoch")
    with pytest.raises(TypeError, match="headpond.Dataset"):
        hp.migrate(state, 3, hp.range(3))
    with pytest.raises(hp.FailedPreconditionError):
        hp.migrate(state, hp.range(4), hp.range(3))
    with pytest.raises(hp.InvalidArgumentError, match="not a state"):
        hp.migrate({}, hp.range(3), hp.range(3))
