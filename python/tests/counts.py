# SPDX-License-Identifier: Apache-2.0
"""How often a test repeats what happens at random moments or of random things: a few times, with `./dev python --full` many times."""
import os

FULL = os.environ.get("HEADPOND_FULL", "") != ""


def count(few, many):
    return many if FULL else few
