# SPDX-License-Identifier: Apache-2.0
"""What importing the package brings, and what is imported or made only when it is first used."""
import ast
import pathlib
import subprocess
import sys

import pytest

import headpond as hp


def printed(program, may_abort=False):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=not may_abort).stdout.split()


def test_what_a_program_may_not_use_is_not_imported():
    loaded = "print(*(name for name in sys.modules if name.startswith('headpond.')))"
    first = printed(f"import sys, headpond; {loaded}")
    assert "headpond._loader" in first
    later = {f"headpond.{name}" for name in (*hp._LATER, *hp._MODULES)}
    assert not later & set(first)
    used = printed(f"import sys, headpond as hp; hp.show, hp.FIFOQueue, hp.tf1; {loaded}")
    assert {"headpond._pictures", "headpond._queues", "headpond.tf1"} <= set(used), "the control"


def test_each_name_is_there():
    for name in hp.__all__:
        assert getattr(hp, name) is getattr(hp, name) is not None
    assert set(hp.__all__) <= set(dir(hp))
    with pytest.raises(AttributeError, match="'headpond' has no attribute 'fifo'"):
        hp.fifo  # noqa: B018


def test_type_checkers_see_what_is_imported_later():
    tree = ast.parse(pathlib.Path(hp.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {node.module: {one.name for one in node.names} for node in block.body if isinstance(node, ast.ImportFrom)}
    assert seen.pop(None) == set(hp._MODULES)
    assert [seen.pop(module) for module in ("_kernels", "_sources")] == [{"*"}, {"*"}]
    assert seen == {module: set(names.split()) for module, names in hp._LATER.items()}


# What is registered first runs last: after the package's own end.
LATE = "import atexit, sys\natexit.register(lambda: print({}))\nimport headpond as hp\n"
LOADED = "*(name for name in ('_queues', '_monitor') if 'headpond.' + name in sys.modules)"
# The queue is full, and its producer waits for room, before the program ends.
PRODUCES = (
    "import time\nq = hp.FIFOQueue(2, hp.i64)\nc = hp.Coordinator()\n"
    "hp.QueueRunner(q, [lambda: q.enqueue(1)]).start(c)\nq.dequeue()\n"
    "while q.stats()['waiting_enqueues'] == 0: time.sleep(0.01)\n"
)


def test_an_exit_loads_nothing_that_was_not_used():
    assert printed(LATE.format(LOADED)) == []
    assert printed(LATE.format(LOADED) + PRODUCES)[:1] == ["_queues"], "the control"


def test_an_exit_stops_what_was_used():
    stopped = LATE.format("c.should_stop()") + PRODUCES
    assert printed(stopped) == ["True"]
    # Where nothing stops the producer, its thread may still run when the process ends, which then aborts.
    assert printed(stopped + "sys.modules['headpond._queues'].stop_all = lambda: None", may_abort=True) == ["False"], "the control"
