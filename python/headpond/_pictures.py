# SPDX-License-Identifier: Apache-2.0
"""Pictures of a batch, for notebooks and files."""

from __future__ import annotations

import base64
import html
import math
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from . import _core
from ._arguments import flag, integer
from ._values import Path
from .errors import InvalidArgumentError

if TYPE_CHECKING:
    import numpy

_Array: TypeAlias = "numpy.ndarray[Any, Any]"
_CHANNELS = (1, 3, 4)
_MOST_PIXELS, _LEAST_PIXELS = 256, 96  # Of a picture's longer side: in its PNG, and on a page.
_MOST_LETTERS = 40
_GAP = 2
_COLORS = [(230, 25, 75), (60, 180, 75), (255, 225, 25), (0, 130, 200), (245, 130, 48), (145, 30, 180), (70, 240, 240), (240, 50, 230)]
_STYLE = "display:inline-block;margin:2px;vertical-align:top;text-align:center;font:12px sans-serif"


def encode_png(image: Any, compression_level: int = -1) -> bytes:
    """A PNG file of uint8 or uint16 [height, width] or [height, width, channels] with 1 to 4 channels. The level is zlib's: 0 does not
    compress, 9 is slowest, -1 is the default of 6."""
    return _core.encode_png(_array(image), compression_level)


def encode_jpeg(image: Any, quality: int = 95, *, chroma_downsampling: bool = True, progressive: bool = False, optimize: bool = False) -> bytes:
    """A JPEG file of uint8 [height, width], or [height, width, channels] with 1 or 3 channels. `quality`: 1 to 100; `optimize`: Huffman tables
    for this image, a smaller file."""
    call = "encode_jpeg()"
    return _core.encode_jpeg(_array(image), integer(call, "quality", quality, bits=32), flag(call, "chroma_downsampling", chroma_downsampling),
                             flag(call, "progressive", progressive), flag(call, "optimize", optimize))


class Pictures:
    """What hp.show() returns: a notebook shows it. `shown`: how many rows; `notes`: how values were mapped to colours, by field."""

    def __init__(self, cells: list[list[_Array]], captions: list[str], notes: dict[str, str], columns: int) -> None:
        self._cells, self._captions, self._columns = cells, captions, columns
        self.notes = notes

    @property
    def shown(self) -> int:
        return len(self._cells)

    def save(self, path: Path) -> None:
        """Writes one PNG file of all pictures (x.png), or a page with what stands below each (x.html)."""
        if os.fspath(path).endswith(".png"):
            data = encode_png(self._sheet())
        elif os.fspath(path).endswith(".html"):
            data = f'<!doctype html><meta charset="utf-8"><title>Headpond</title>{self._repr_html_()}\n'.encode()
        else:
            raise InvalidArgumentError(f"Pictures.save: {os.fspath(path)!r} ends neither with .png nor with .html")
        with open(path, "wb") as file:
            file.write(data)

    def _sheet(self) -> _Array:
        import numpy as np
        blocks = [_joined(cell) for cell in self._cells]
        height, width = (_GAP + max(block.shape[axis] for block in blocks) for axis in (0, 1))
        rows, columns = -(-len(blocks) // self._columns), min(self._columns, len(blocks))
        sheet = np.full((rows * height + _GAP, columns * width + _GAP, 3), 255, np.uint8)
        for number, block in enumerate(blocks):
            y, x = _GAP + number // self._columns * height, _GAP + number % self._columns * width
            sheet[y:y + block.shape[0], x:x + block.shape[1]] = block
        return sheet

    def _repr_html_(self) -> str:
        figures = []
        for number, (cell, caption) in enumerate(zip(self._cells, self._captions)):
            images = "<br>".join(_image(one) for one in cell)
            line = "<br>" if number > 0 and number % self._columns == 0 else ""
            figures.append(f'{line}<figure style="{_STYLE}">{images}<figcaption>{html.escape(caption)}</figcaption></figure>')
        notes = "".join(f"<p>{html.escape(f'{name}: {note}' if name else note)}</p>" for name, note in self.notes.items())
        return f'<div style="white-space:nowrap;overflow-x:auto">{"".join(figures)}</div>{notes}'

    def __repr__(self) -> str:
        return f"<headpond.Pictures of {self.shown} rows; a notebook shows them, save(path) writes x.png or x.html>"


def show(batch: Any, *, image: str | int | Sequence[str | int] | None = None, label: str | int | Sequence[str | int] | None = None,
         mask: str | int | None = None, classes: Sequence[str] | None = None, rows: int = 4, columns: int = 8,
         mean: float | Sequence[float] | None = None, std: float | Sequence[float] | None = None) -> Pictures:
    """Pictures of the first rows * columns rows of a batch, as NumPy, PyTorch or JAX has it: a dict of fields, a tuple of them, or images.

    Images have [height, width] with or without 1, 3 or 4 channels, which come last or first. Integers in 0 to 255 are shown as they are, floats in [0, 1] from
    black to white; other values from the least to the largest one. `mean`, `std`: those of hp.normalize, which is undone for floats; an error where
    no field that is shown has any. `image`: which fields are shown, below each other; None: each that has the shape of images. `mask`: a field whose values above 0 are colours over
    the first of them. `label`: what stands below; None: each number and text of a row. `classes`: names for its integers.
    A field is a name, or its place in a tuple. One image of an element, with its channels last, is a batch of one row.
    """
    if rows < 1 or columns < 1:
        raise InvalidArgumentError(f"show: rows={rows}, columns={columns}: both must be above 0")
    fields = _fields(batch)
    masks = None if mask is None else _images("mask", fields, mask)
    names = _images_of({name: one for name, one in fields.items() if name != mask}) if image is None else _listed(image)
    if not names:
        raise InvalidArgumentError(f"show: no field has the shape of images: {_shapes(fields)}")
    images = {name: _images("image", fields, name) for name in names}
    if (mean is not None or std is not None) and not any(one.dtype.kind == "f" for one in images.values()):
        raise InvalidArgumentError(f"show: mean and std are of floats, and no image has any: {_shapes(images)}")
    count = len(images[names[0]])
    if any(len(one) != count for one in images.values()) or (masks is not None and len(masks) != count):
        raise InvalidArgumentError(f"show: fields of different numbers of rows: {_shapes(fields)}")
    few = min(count, rows * columns)
    notes: dict[str, str] = {}
    shown = {name: _colors(one[:few], mean, std, notes, str(name) if len(fields) > 1 else "") for name, one in images.items()}
    if masks is not None:
        shown[names[0]] = _painted(shown[names[0]], masks[:few])
    captions = _captions(fields, count, few, None if label is None else _listed(label), classes)
    return Pictures([[_fitted(shown[name][row]) for name in names] for row in range(few)], captions, notes, columns)


def _array(value: Any) -> _Array:
    """NumPy's, of a tensor on any device, too."""
    import numpy as np
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
    made = np.asarray(value)
    return made.astype(np.float32) if made.dtype.name == "bfloat16" else made


def _fields(batch: Any) -> dict[str | int, _Array]:
    if isinstance(batch, Mapping):
        return {name: _array(one) for name, one in batch.items()}
    if isinstance(batch, (tuple, list)):
        return {place: _array(one) for place, one in enumerate(batch)}
    return {0: _array(batch)}


def _listed(names: str | int | Sequence[str | int]) -> list[str | int]:
    return [names] if isinstance(names, (str, int)) else list(names)


def _shapes(fields: dict[str | int, _Array]) -> str:
    return ", ".join(f"{name} {one.dtype}{list(one.shape)}" for name, one in fields.items())


def _is_one(field: _Array) -> bool:
    """One image, with its channels last."""
    return field.ndim == 3 and field.shape[2] in _CHANNELS


def _is_image(field: _Array) -> bool:
    if field.dtype.kind not in "buif" or field.size == 0:
        return False
    return field.ndim == 3 or (field.ndim == 4 and (field.shape[3] in _CHANNELS or field.shape[1] in _CHANNELS))


def _images_of(fields: dict[str | int, _Array]) -> list[str | int]:
    """Fields of images. Beside those with channels, what has three dimensions is boxes or points unless it is as high and wide."""
    found = [name for name, field in fields.items() if _is_image(field)]
    sizes = {_images("", fields, name).shape[:3] for name in found if fields[name].ndim == 4}
    return [name for name in found if not sizes or fields[name].ndim == 4 or fields[name].shape in sizes]


def _images(what: str, fields: dict[str | int, _Array], name: str | int) -> _Array:
    """[rows, height, width, channels]"""
    if name not in fields:
        raise InvalidArgumentError(f"show: {what}={name!r}: no such field; there are {_shapes(fields)}")
    field = fields[name]
    if not _is_image(field):
        raise InvalidArgumentError(f"show: {what}={name!r}: {field.dtype}{list(field.shape)} are no images of 1, 3 or 4 channels")
    if _is_one(field):
        return field[None]
    if field.ndim == 3:
        return field[..., None]
    return field if field.shape[3] in _CHANNELS else field.transpose(0, 2, 3, 1)


def _colors(images: _Array, mean: Any, std: Any, notes: dict[str, str], name: str) -> _Array:
    """uint8 [rows, height, width, 3]"""
    import numpy as np
    if images.dtype.kind == "f" and (mean is not None or std is not None):
        images = images * np.asarray(1 if std is None else std, np.float32) + np.asarray(0 if mean is None else mean, np.float32)
        images = np.clip(np.nan_to_num(images), 0, 1)
    elif images.dtype.kind in "ui" and images.dtype != np.uint8:
        images = images if images.min() >= 0 and images.max() <= 255 else _stretched(images, notes, name)
    elif images.dtype.kind == "f":
        known = images[np.isfinite(images)]
        images = np.nan_to_num(images) if known.size == 0 or (known.min() >= 0 and known.max() <= 1) else _stretched(images, notes, name)
    if images.dtype.kind in "fb":
        images = np.rint(np.clip(images, 0, 1).astype(np.float32) * 255)
    images = images.astype(np.uint8)[..., :3]
    return np.ascontiguousarray(np.broadcast_to(images, (*images.shape[:3], 3)))


def _stretched(images: _Array, notes: dict[str, str], name: str) -> _Array:
    import numpy as np
    known = images[np.isfinite(images)].astype(np.float64)
    least, most = known.min(), known.max()
    notes[name] = f"shown from its least value, {least:.4g}, to its largest, {most:.4g}"
    stretched: _Array = np.nan_to_num((images.astype(np.float64) - least) / max(most - least, 1e-30))
    return stretched


def _painted(pictures: _Array, masks: _Array) -> _Array:
    """The pictures, half covered by a colour for each value above 0."""
    import numpy as np
    if masks.shape != (*pictures.shape[:3], 1):
        raise InvalidArgumentError(f"show: mask: {list(masks.shape)}; images are {list(pictures.shape[:3])}, and a mask has one channel")
    values = masks[..., 0]
    numbers = np.ceil(np.nan_to_num(values)).astype(np.int64) if values.dtype.kind == "f" else values.astype(np.int64)
    colors = np.asarray(_COLORS, np.uint16)[(numbers - 1) % len(_COLORS)]
    return np.where((numbers > 0)[..., None], (pictures + colors) // 2, pictures).astype(np.uint8)


def _captions(fields: dict[str | int, _Array], count: int, few: int, names: list[str | int] | None, classes: Sequence[str] | None) -> list[str]:
    def column(name: str | int) -> _Array | None:
        field = fields[name]
        return field if field.shape == (count,) else field[None] if field.ndim == 0 and count == 1 else None

    columns = {}
    for name in fields if names is None else names:
        if name not in fields or (names is not None and column(name) is None):
            raise InvalidArgumentError(f"show: label={name!r}: no field with one value for each of {count} images; there are {_shapes(fields)}")
        if (found := column(name)) is not None:
            columns[name] = found
    named = len(columns) > 1 and any(isinstance(name, str) for name in columns)
    return [", ".join(f"{name}: {_text(column[row], classes)}" if named else _text(column[row], classes) for name, column in columns.items())
            for row in range(few)]


def _text(value: Any, classes: Sequence[str] | None) -> str:
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
    elif classes is not None and hasattr(value, "dtype") and value.dtype.kind in "iu" and 0 <= value < len(classes):
        text = str(classes[int(value)])
    elif hasattr(value, "dtype") and value.dtype.kind == "f":
        text = f"{float(value):.4g}"
    else:
        text = str(value)
    return text if len(text) <= _MOST_LETTERS else "…" + text[1 - _MOST_LETTERS:]


def _fitted(picture: _Array) -> _Array:
    """At most so large that a notebook stays small."""
    import numpy as np

    from ._kernels import resize
    height, width = picture.shape[:2]
    if max(height, width) <= _MOST_PIXELS:
        return picture
    by = _MOST_PIXELS / max(height, width)
    return np.asarray(resize((max(1, round(height * by)), max(1, round(width * by))))(picture))


def _joined(pictures: list[_Array]) -> _Array:
    """Below each other."""
    import numpy as np
    width = max(one.shape[1] for one in pictures)
    rows = [np.pad(one, ((0, _GAP if number + 1 < len(pictures) else 0), (0, width - one.shape[1]), (0, 0)), constant_values=255)
            for number, one in enumerate(pictures)]
    return np.concatenate(rows)


def _image(picture: _Array) -> str:
    height, width = picture.shape[:2]
    by = max(1, math.ceil(_LEAST_PIXELS / max(height, width)))
    source = base64.b64encode(encode_png(picture)).decode()
    return (f'<img src="data:image/png;base64,{source}" width="{width * by}" height="{height * by}"'
            ' style="image-rendering:pixelated;max-width:none">')
