# SPDX-License-Identifier: Apache-2.0
"""The parameter `rng` of a function: the same numbers for any threads, after a restart, and as C++ draws them."""
import numpy as np
import pytest

import headpond as hp


def draw(x, rng):
    return {"x": x, "r": rng.random(3)}


def draw_of_its_own(x, rng):
    return {"x": x, "r": np.random.default_rng().random(3)}


def first_word(x, rng):
    return int(rng.bit_generator.state["state"]["key"][0] & np.uint64(0xffffffff))


def first_word_of_its_own(x, rng):
    return first_word(x, np.random.default_rng(np.random.Philox()))


def depends_on_seed_epoch_and_element_only(draw):
    def drawn(threads, seed, skip=0):
        loader = hp.Loader(hp.range(40).map(draw).shuffle(), epochs=2, seed=seed, threads=threads)
        if skip:
            for _ in range(skip):
                loader.next()
            state = loader.state_dict()
            loader = hp.Loader(hp.range(40).map(draw).shuffle(), epochs=2, seed=seed, threads=threads)
            loader.load_state_dict(state)
        return [(int(one["x"]), one["r"].tolist()) for one in loader.flat()]

    first = drawn(0, 1)
    assert drawn(4, 1) == first
    assert drawn(2, 1, skip=50) == first[50:]
    assert drawn(0, 2) != first
    assert dict(first[:40]) != dict(first[40:])
    assert len({tuple(r) for _, r in first}) == 80


def test_rng_depends_on_seed_epoch_and_element_only():
    depends_on_seed_epoch_and_element_only(draw)


def test_control_a_generator_of_the_functions_own_depends_on_more():
    with pytest.raises(AssertionError):
        depends_on_seed_epoch_and_element_only(draw_of_its_own)


def test_rng_has_the_words_that_cpp_draws():
    """For the same seed, name, epoch and element."""
    def words_of(function, **output):
        return [int(word) for word in hp.Loader(hp.range(40).map(function, name="draws", **output), epochs=2, seed=3).flat()]

    of_cpp = words_of(hp.expr("random_u32()", dtype=hp.i64))
    assert len(set(of_cpp)) == 80
    assert words_of(first_word, output=(hp.i64, ())) == of_cpp
    assert words_of(first_word_of_its_own, output=(hp.i64, ())) != of_cpp, "control"
