# SPDX-License-Identifier: Apache-2.0
"""The kernels of pipeline files as functions, made from the module's table. _kernels.pyi has their types."""

import inspect
import keyword

from . import _core
from ._steps import Kernel

# What a call may give without a name, where that is not all options of the table in their order.
POSITIONAL = {
    "decode_png": ("channels",), "decode_jpeg": ("channels",), "decode_image": ("channels",), "decode_wav": ("desired_channels",),
    "decode_sound": ("desired_channels",), "crop": ("y", "x", "size"), "random_erasing": ("p",)}


def spelled(option):
    """The option's name as Python can write it."""
    return f"{option}_" if keyword.iskeyword(option) else option


def _maker(name, options_of_table):
    known = {spelled(one): one for one in options_of_table}
    first = POSITIONAL.get(name, tuple(known))

    def make(*args, **options):
        if len(args) > len(first):
            raise TypeError(f"{name}() takes at most {len(first)} positional arguments: {', '.join(first)}")
        for option, value in zip(first, args):
            if option in options:
                raise TypeError(f"{name}() got two values for {option}")
            options[option] = value
        unknown = [option for option in options if option not in known]
        if unknown:
            raise TypeError(f"{name}() has no option {unknown[0]!r}; it has {', '.join(known) or 'none'}")
        return Kernel(name, {known[option]: value for option, value in options.items() if value is not None})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The kernel {name}. Options: {', '.join(known) or 'none'} (docs/plan_files.md)."
    kinds = [(one, inspect.Parameter.POSITIONAL_OR_KEYWORD) for one in first]
    kinds += [(one, inspect.Parameter.KEYWORD_ONLY) for one in known if one not in first]
    make.__signature__ = inspect.Signature([inspect.Parameter(one, kind, default=None) for one, kind in kinds])
    return make


_KERNELS = {name: _maker(name, known) for name, known in _core.kernels()}
globals().update(_KERNELS)
__all__ = list(_KERNELS)
