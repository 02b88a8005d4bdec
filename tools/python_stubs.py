# SPDX-License-Identifier: Apache-2.0
"""Writes the types of the module and of what its tables name: _core.pyi, _operators.pyi, _sources.pyi, _kernels.pyi; and _texts.py, what
docs/plan_files.md says of each operator, for help().

    python tools/python_stubs.py             # into python/headpond
    python tools/python_stubs.py FOLDER
"""

import pathlib
import re
import sys
import textwrap

from headpond import _core
from headpond._kernels import POSITIONAL, spelled
from headpond._operators import EITHER, FOLLOWS, SOURCE, of_kind

LICENCE = "# SPDX-License-Identifier: Apache-2.0\n"
MADE = "# Written by tools/python_stubs.py.\n"

# The type of an argument, by its name.
TYPES = {
    "int": """acceptable_fraction axis batch_size bits bucket_batch_size buckets buffer_size cardinality channels coefficients count cycle_length
        block_length desired_channels desired_samples disk fft first_sample footer_bytes frequency_masks frequency_width give_up_after
        header_bytes hop hop_bytes index magnitude max_channels max_elements max_errors max_held max_memory max_padded max_pixels max_scans
        max_sequences_per_bin max_size max_values mels memory num_classes num_magnitude_bins num_ops num_output_channels
        num_packing_bins num_parallel_reads num_shards rank record_bytes sample_rate samples seed shift skip_header_lines stride threads
        time_masks time_width width window window_length window_size world_size groups from to x y
        start stop step""",
    "float": """alpha angle beta brightness_factor contrast_factor distortion_scale floor gain gamma limit high_hz high_snr_db hue_factor low_hz
        low_snr_db mask_fill max_error_share max_padded_seconds min_area p peak power pre_emphasis rate rolloff saturation_factor sharpness_factor stddev
        threshold top_db value""",
    "bool": """allow_empty allow_missing antialias append apply_exif_orientation compare_times deterministic drop_last drop_remainder
        equal_areas expand fancy_upscaling header lenient little_endian log_warning mels_first no_padding pad_if_needed pad
        pad_to_bucket_boundary random_value remove_mean replacement rerandomize_each_iteration reshuffle_each_iteration shuffle skip_bom
        spill stop_on_empty_dataset sum_of_sizes train""",
    "str": """check comment compression cost_field damage dct_method delimiter edges field fit image layout log mask_key mel_scale method
        mode non_finite on_damage policy preset quote reduce_func row_splits_dtype uneven noise_field""",
    "str | Enum": "filter interpolation",
    "DTypeLike": "dtype",
    "Path": "path filename lengths",
    "Paths": "paths",
    "str | Expression": "class_function cost_func element_length_func key_func predicate size_func",
    "float | Sequence[float]": """brightness contrast db degrees factor fill hue mean saturation shear sigma std
        initial_dist target_dist""",
    "Sequence[float]": "center ratio scale translate weights",
    "Sequence[int]": "indices",
    "Sequence[Sequence[float]]": "startpoints endpoints",
    "int | Sequence[int]": "bucket_boundaries bucket_batch_sizes kernel_size padding size",
    "Sequence[int | None]": "row_shape shape",
    "Sequence[str]": "columns extensions na_values",
    "Sequence[Kernel]": "kernels",
    "Mapping[str, Any]": "context features fields lists",
    "Dataset": "noise",
    "Any": "length padded_shapes padding_values substitute",
}
TYPE_OF = {name: kind for kind, names in TYPES.items() for name in names.split()}

# Where a name means something else.
OWN = {
    ("window", "size"): "int", ("raw_image", "size"): "str", ("rebatch", "batch_size"): "int | Sequence[int]", ("csv", "fields"): "Any",
    ("csv", "columns"): "Mapping[str, DTypeLike | Mapping[str, Any]] | Sequence[str | Mapping[str, Any]]",
    ("decode_jpeg", "ratio"): "int", ("decode_jpeg", "scale"): "str", ("decode_jpeg", "acceptable_fraction"): "float",
    ("affine", "scale"): "float", ("affine", "shear"): "float | Sequence[float]", ("random_erasing", "value"): "float | Sequence[float]",
    ("decode_wav", "mix"): "str", ("decode_sound", "mix"): "str", ("decode_wav", "rate"): "int", ("decode_sound", "rate"): "int",
    ("sound_frames", "mix"): "str", ("sound_frames", "rate"): "int",
    ("random_choice", "p"): "Sequence[float]", ("snapshot", "path"): "Path"}
SPECTRA = ("stft", "spectrogram", "mel_spectrogram", "log_mel", "mfcc")
OWN |= {(kernel, option): kind for kernel in SPECTRA for option, kind in (("window", "str"), ("scale", "float"))}
OWN |= {(kernel, "fill"): "str" for kernel in ("time_mask", "frequency_mask", "spec_augment")}
OWN |= {(source, "path"): "Path | bytes" for source, _ in of_kind(SOURCE)}


def type_of(op, argument):
    """REQUIRES a row above: a new argument needs its type."""
    return OWN.get((op, argument)) or TYPE_OF[argument]


def parameters(op, names):
    return [f"{spelled(one)}: {type_of(op, one)} | None = None" for one in names]


def definition(op, before, by_name_only, answer):
    """def op(before, *, by_name_only) -> answer: ..., in lines that are not too long."""
    parts = [*before, *(["*", *by_name_only] if by_name_only else [])]
    lines, line = [], f"def {op}("
    for number, part in enumerate(parts):
        text = part + (", " if number + 1 < len(parts) else f") -> {answer}: ...")
        if len(line) + len(text.rstrip()) > 132:
            lines.append(line.rstrip())
            line = "        "
        line += text
    lines.append(line if parts else f"{line}) -> {answer}: ...")
    return "\n".join(lines) + "\n"


NAME = ["name: str | None = None"]


def operators():
    head = "from collections.abc import Mapping, Sequence\nfrom typing import Any\n\n"
    head += "from ._dataset import Dataset\nfrom ._steps import Expression\nfrom ._values import DTypeLike, Path\n\n"
    head += "NAMED_BY: dict[str, str]\nSOURCE: int\nJOINS: int\nFOLLOWS: int\nEITHER: int\nBY_HAND: set[str]\n\n"
    head += "def given_by_name(op: str, known: list[str], args: tuple[Any, ...], options: dict[str, Any]) -> dict[str, Any]: ...\n"
    head += "def dressed_as(function: Any, name: str, positional: Sequence[str], keywords: Sequence[str], owner: str = ...) -> Any: ...\n"
    head += "def dressed(function: Any, op: str, known: list[str], owner: str = ...) -> Any: ...\n"
    head += "def of_kind(*kinds: int) -> list[tuple[str, list[str]]]: ...\n\n"
    methods = [definition(op, ["self", *parameters(op, known)], NAME, "Dataset") for op, known in of_kind(FOLLOWS, EITHER)]
    body = "".join(f"    {line}\n" for method in methods for line in method.splitlines())
    return head + "class Operators:\n" + body


def sources():
    head = "from collections.abc import Mapping, Sequence\nfrom typing import Any\n\n"
    head += "from ._dataset import Dataset\nfrom ._values import DTypeLike, Path, Paths\n\n"
    head += "SOURCES: list[str]\n\ndef source(name: str) -> Any: ...\n\n"
    rows = of_kind(SOURCE)
    return head + all_of(op for op, _ in rows) + "".join(definition(op, parameters(op, known), NAME, "Dataset") for op, known in rows)


def kernels():
    head = "from collections.abc import Sequence\nfrom enum import Enum\nfrom typing import Any\n\nfrom ._dataset import Dataset\n"
    head += "from ._steps import Kernel\nfrom ._values import DTypeLike\n\nPOSITIONAL: dict[str, tuple[str, ...]]\n"
    head += "KERNELS: list[str]\n\ndef spelled(option: str) -> str: ...\ndef kernel(name: str) -> Any: ...\n\n"
    rows = _core.kernels()
    body = ""
    for name, known in rows:
        first = POSITIONAL.get(name, tuple(known))
        body += definition(name, parameters(name, first), parameters(name, [one for one in known if one not in first]), "Kernel")
    return head + all_of(name for name, _ in rows) + body


def all_of(names):
    lines, line = [], "__all__ = ["
    for name in names:
        if len(line) + len(name) > 126:
            lines.append(line.rstrip())
            line = "    "
        line += f'"{name}", '
    return "\n".join([*lines, line.rstrip(", ") + "]"]) + "\n\n"


DOCUMENT = pathlib.Path(__file__).parents[1] / "docs/plan_files.md"


def in_python(cell, is_arguments=False):
    """A cell of a table as text: of links the words, but for links in brackets, and values as Python writes them."""
    cell = re.sub(r" \(\[[^\]]*\]\([^)]*\)\)", "", cell)
    cell = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", cell).replace("\\|", "|").strip()
    return re.sub(r"\((true|false)\b", lambda found: f"({found[1].title()}", cell) if is_arguments else cell


def described():
    """{operator: (arguments, what it gives)} of the document's table of operators."""
    found = {}
    for line in DOCUMENT.read_text().split("### Kernels")[0].splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) == 5:
            found |= {op: (in_python(cells[2], True), in_python(cells[3])) for op in re.findall(r"`(\w+)`", cells[1])}
    return found


def described_kernels():
    """{kernel: (options, what it gives)} of the document's tables of kernels. "whose options are also ...:" before a table adds to each row."""
    found, before, of_all = {}, "", ""
    for line in DOCUMENT.read_text().split("### Kernels of")[1].split("## Chains")[0].splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if len(cells) != 5:
            before = f"{before} {line}" if line else before
            continue
        if before:
            also = re.search(r"whose options are also (.*):$", before)
            of_all, before = f"; {in_python(also[1], True)}" if also else "", ""
        if kernel := re.fullmatch(r"`(\w+)`", cells[1].strip()):
            options = re.sub(r"^those of `(\w+)`", lambda other: found[other[1]][0], in_python(cells[2], True))
            found[kernel[1]] = (re.sub(r"`(\w+)`", lambda option: f"`{spelled(option[1])}`", options + of_all), in_python(cells[3]))
    return found


def text_of(gives, what, values):
    sentences = [f"{gives[0].upper()}{gives[1:]}.", *([f"{what}: {values}."] if values else [])]
    text = "\n\n".join(textwrap.fill(one, 120, break_long_words=False, break_on_hyphens=False) for one in sentences)
    assert "\\" not in text and '"""' not in text, text
    return text


def texts():
    """TEXTS = {operator: text}, KERNELS = {kernel: text}."""
    rows, kernel_rows = described(), described_kernels()
    made = {op: text_of(rows[op][1], "Arguments", rows[op][0] if known else "") for op, known in of_kind(SOURCE, FOLLOWS, EITHER)}
    of_kernels = {kernel: text_of(kernel_rows[kernel][1], "Options", kernel_rows[kernel][0] if known else "") for kernel, known in _core.kernels()}
    return "# From docs/plan_files.md.\n\n" + "\n".join(
        f"{name} = {{\n" + "".join(f'    "{op}": """{text}""",\n' for op, text in all_texts.items()) + "}\n"
        for name, all_texts in (("TEXTS", made), ("KERNELS", of_kernels)))


# The slots of the type of iterators say nothing of their types.
SLOTS = {
    'def __iter__(self, /):\n        """Implement iter(self)."""': "def __iter__(self) -> Batches: ...",
    'def __next__(self, /):\n        """Implement next(self)."""': "def __next__(self) -> Any: ..."}


def core():
    """Of the module itself: what its functions say."""
    from nanobind.stubgen import StubGen
    stub = StubGen(_core)
    stub.put(_core)
    text = stub.get()
    for slot, signature in SLOTS.items():
        text = text.replace(slot, signature)
    return text.replace("from typing import Any\n", "from typing import Any\n\nfrom typing_extensions import Buffer as _Buffer\n", 1).rstrip() + "\n"


def stubs():
    """The texts of the files, by name."""
    return {name: LICENCE + MADE + make() for name, make in (
        ("_operators.pyi", operators), ("_sources.pyi", sources), ("_kernels.pyi", kernels), ("_core.pyi", core), ("_texts.py", texts))}


if __name__ == "__main__":
    into = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "python/headpond")
    for file, text in stubs().items():
        (into / file).write_text(text)
