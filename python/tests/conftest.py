# SPDX-License-Identifier: Apache-2.0
"""With `./dev python --all` a library that tests need and that is missing is an error; else such a test is a printed skip."""
import importlib
import os
import signal

import pytest

# Without those that need a device, as cupy.
NEEDED = ("datasets", "jax", "keras", "ml_dtypes", "mypy", "nanobind", "numpy", "pandas", "PIL", "pyarrow", "tensorboard", "torch", "torchdata")

# A shell's background job ignores ^C, and so would the programs that tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

if os.environ.get("HEADPOND_ALL"):
    import_or_skip = pytest.importorskip

    def imported(name, *args, **options):
        return importlib.import_module(name) if name.split(".")[0] in NEEDED else import_or_skip(name, *args, **options)

    pytest.importorskip = imported
