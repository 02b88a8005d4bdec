# SPDX-License-Identifier: Apache-2.0
"""What map and filter take beside functions: expressions, and kernels that stay in C++."""

from . import _core
from ._values import dtype_name, plain

# What a call may give without a name, where that is not the first option of the table.
_POSITIONAL = {
    "decode_png": ("channels",), "decode_jpeg": ("channels",), "decode_image": ("channels",), "decode_wav": ("desired_channels",),
    "decode_sound": ("desired_channels",), "crop": ("y", "x", "size"), "random_erasing": ("p",)}


class Expression:
    """An expression over the fields of an element, as in pipeline files: hp.expr("x / 255")."""

    def __init__(self, text, dtype=None):
        self.text = text if dtype is None else f"{dtype_name(dtype)}({text})"

    def __repr__(self):
        return f"hp.expr({self.text!r})"


def expr(text, *, dtype=None):
    """`text` as a function for map, filter and others; `dtype`: its result is converted."""
    return Expression(text, dtype)


class Kernel:
    """A decoder, an augmentation, a spectrum: runs in C++ without the interpreter's lock. Also callable on a value."""

    def __init__(self, name, options):
        self.name = name
        self.options = options

    def _plan(self):
        return {"name": self.name, **plain(self.options)}

    def __call__(self, value):
        source = _core.from_tensor(value)
        return next(_core.Sequence(_core.build("map", {"kernels": [self._plan()]}, "", [("", source)]), 0, 1, None))

    def __repr__(self):
        return f"hp.{self.name}({', '.join(f'{name}={value!r}' for name, value in self.options.items())})"


def _maker(name, known):
    first = _POSITIONAL.get(name, tuple(known))

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
        return Kernel(name, {option: value for option, value in options.items() if value is not None})

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The kernel {name}. Options: {', '.join(known) or 'none'} (docs/plan_files.md)."
    return make


KERNELS = {name: _maker(name, known) for name, known in _core.kernels()}
globals().update(KERNELS)
