# SPDX-License-Identifier: Apache-2.0
"""With `./dev python --all` a library that tests need and that is missing is an error; else such a test is a printed skip.

With HEADPOND_BUSY_COLLECTOR set, the interpreter looks for garbage after every 60 new objects, so that it frees cycles of Loaders,
elements and exceptions wherever it can, as it does sooner or later in a long training."""
import gc
import importlib
import os
import signal

import pytest

# Without those that need a device, as cupy.
NEEDED = ("datasets", "jax", "keras", "ml_dtypes", "mypy", "nanobind", "numpy", "pandas", "PIL", "pyarrow", "tensorboard", "torch", "torchdata")

# A shell's background job ignores ^C, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("HEADPOND_BUSY_COLLECTOR"):
    gc.set_threshold(60, 2, 2)

if os.environ.get("HEADPOND_ALL"):
    import_or_skip = pytest.importorskip

    def imported(name, *args, **options):
        return importlib.import_module(name) if name.split(".")[0] in NEEDED else import_or_skip(name, *args, **options)

    pytest.importorskip = imported
