# SPDX-License-Identifier: Apache-2.0
"""The kernels of pipeline files as functions, made from the module's table. _kernels.pyi has their types."""

import enum
import keyword

from . import _core
from ._operators import dressed_as
from ._steps import Kernel
from ._values import plain, refuse_dataset

# What a call may give without a name, where that is not all options of the table in their order.
POSITIONAL = {
    "decode_png": ("channels",), "decode_jpeg": ("channels",), "decode_image": ("channels",), "decode_wav": ("desired_channels",),
    "decode_sound": ("desired_channels",), "sound_frames": (), "crop": ("y", "x", "size"), "random_erasing": ("p",)}


def spelled(option):
    """The option's name as Python can write it."""
    return f"{option}_" if keyword.iskeyword(option) else option


def _taken(name, option, value):
    """The value, if a kernel can have it. Members of torchvision's enumerations stand for their names, a power of 2.0 for 2."""
    if isinstance(value, enum.Enum) and isinstance(value.value, str):
        return value.value
    if option == "power" and isinstance(value, float) and value.is_integer():
        return int(value)
    if hasattr(value, "_core"):  # mix_noise's dataset.
        return value
    try:
        plain(value)
    except TypeError:
        raise TypeError(f"{name}(): {option}={value!r}: an option is a number, a text, a dtype, a kernel, or a list of these") from None
    return value


def _maker(name, options_of_table):
    from . import _texts
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
        for option, value in options.items():
            if option != "noise":
                refuse_dataset(name, option, value)
        return Kernel(name, {known[option]: _taken(name, option, value) for option, value in options.items() if value is not None})

    make.__doc__ = _texts.KERNELS[name]
    return dressed_as(make, name, first, [one for one in known if one not in first])


_TABLE = dict(_core.kernels())
KERNELS = list(_TABLE)
__all__ = KERNELS


def kernel(name):
    """The function of this name, made when it is first asked for."""
    made = globals().get(name)
    if made is None:
        made = globals().setdefault(name, _maker(name, _TABLE[name]))
    return made


def __getattr__(name):
    if name not in _TABLE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return kernel(name)
