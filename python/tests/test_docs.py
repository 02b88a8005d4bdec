# SPDX-License-Identifier: Apache-2.0
"""The programs of docs/python.md and of the pages for people who come from elsewhere, as they stand there."""
import pathlib
import re

import numpy as np
import pytest

import headpond as hp
from headpond._operators import EITHER, FOLLOWS, SOURCE, of_kind
from test_examples import write_png

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "python.md").read_text()
BLOCKS = [(section.splitlines()[0], program) for section in re.split("^## ", PAGE, flags=re.M)
          for program in re.findall(r"```python\n(.*?)```", section, re.S)]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the page's programs refer to."""
    monkeypatch.chdir(tmp_path)
    images, labels = np.zeros((64, 28, 28), np.uint8), np.arange(64)
    np.save("images.npy", images)
    np.save("labels.npy", labels)
    write_png(tmp_path / "a.png", np.zeros((40, 40, 3), np.uint8))
    with hp.RecordWriter("train-0.tfrecord") as writer:
        for number in range(40):
            writer.append(str(number).encode())
    file = (tmp_path / "a.png").read_bytes()
    rows = hp.from_tensor_slices({"image": images, "label": labels})
    left = iter(range(40))

    def produce():
        next(left)
        queue = shared["queue"]
        queue.enqueue((np.zeros((28, 28), np.float32), 1))

    shared = {
        "hp": hp, "images": images, "labels": labels, "produce": produce, "train": rows.shuffle().batch(32), "test": rows.batch(32),
        "loader": hp.Loader(rows.batch(32)),
        "ds": hp.from_tensor_slices({"x": np.zeros((4, 2), np.float32), "file": [file] * 4, "image": images[:4], "label": labels[:4]})}
    return shared


def test_the_page_has_its_programs():
    assert [title for title, _ in BLOCKS] == ["Datasets", "map and filter", "The Loader", "Look at a batch", "PyTorch", "Queues",
                                          "Queues", "Why the step waits", "Why the step waits"]


@pytest.mark.parametrize("title, program", BLOCKS, ids=[f"{title} {number}" for number, (title, _) in enumerate(BLOCKS)])
def test_programs_of_the_page(title, program, names, capsys):
    if title == "PyTorch":
        pytest.importorskip("torch", reason="PyTorch is not installed")
    try:
        exec(compile(program, title, "exec"), names)
    except hp.OutOfRangeError:
        assert title == "Queues"


OTHERS = ["tf_data", "dataloader", "tf1_queues", "jax"]


@pytest.mark.parametrize("page", OTHERS)
def test_programs_of_the_pages_for_others(page, tmp_path, monkeypatch):
    if page == "jax":
        pytest.importorskip("jax", reason="JAX is not installed")
    monkeypatch.chdir(tmp_path)
    text = (DOCS / f"migrate_from_{page}.md").read_text()
    programs = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(programs) == 1 and len(programs[0].splitlines()) <= 40
    exec(compile(programs[0], page, "exec"), {"__name__": page})


def test_no_other_page_has_a_program():
    """README's is run by test_examples.py."""
    pages = {path.name for path in [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md")] if re.search(r"^```py", path.read_text(), re.M)}
    assert pages == {"README.md", "python.md", *(f"migrate_from_{page}.md" for page in OTHERS)}


def test_each_name_has_a_page_of_the_site(monkeypatch):
    """`./dev site`, which makes them, needs more of PyPI than these tests."""
    monkeypatch.syspath_prepend(DOCS.parent / "tools/site")
    import api
    shown = [name for _, names in api.pages().values() for name in names]
    assert set(hp.__all__) <= {name.split(".")[0] for name in shown} | {"tf1", "trace"}


def test_operators_take_their_arguments_in_the_order_of_the_document(monkeypatch):
    monkeypatch.syspath_prepend(DOCS.parent / "tools")
    import python_stubs
    described = python_stubs.described()
    for op, known in of_kind(SOURCE, FOLLOWS, EITHER):
        words = re.findall(r"`(\w+)`", described[op][0])
        assert list(dict.fromkeys(word for word in words if word in known)) == known, op


def test_what_the_pages_call_is_there():
    """Each `hp.name` and `.method(` of our column."""
    for page in OTHERS:
        for line in (DOCS / f"migrate_from_{page}.md").read_text().splitlines():
            if not line.startswith("|"):
                continue
            ours = line.split("|")[2]
            for module, name in re.findall(r"\bhp\.(tf1\.|torch\.)?(\w+)", ours):
                if module != "torch.":
                    assert hasattr(hp.tf1 if module else hp, name), name
            for name in re.findall(r"(?<![\w)])\.(\w+)\(", ours):
                assert hasattr(hp.Dataset, name), name
