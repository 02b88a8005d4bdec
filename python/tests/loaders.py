# SPDX-License-Identifier: Apache-2.0
"""What tests of the Loader share."""
import headpond as hp

DATA = hp.range(100).shuffle().batch(8)
ITERATORS = [iter, hp.Loader.flat, lambda loader: next(loader.epochs())]


def flat(batches):
    return [one.tolist() for one in batches]
