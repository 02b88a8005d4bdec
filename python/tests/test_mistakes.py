# SPDX-License-Identifier: Apache-2.0
"""What a program is told that is wrong, or that was written for another library."""
import numpy as np
import pytest

import headpond as hp


def test_integers_divide_as_integers_in_an_expression():
    pixels = hp.from_tensor_slices({"x": np.array([0, 51, 255], np.uint8)})
    assert [int(one) for one in pixels.map(hp.expr("x / 255")).sequence()] == [0, 0, 1]
    assert [float(one) for one in pixels.map(hp.expr("x / 255.0")).sequence()] == [0.0, 0.2, 1.0]
