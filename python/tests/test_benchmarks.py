# SPDX-License-Identifier: Apache-2.0
"""benchmarks/python: each system runs and gives its figures; a bound is met or missed as it says."""
import importlib.util
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "benchmarks/python"))
import run  # noqa: E402
import systems  # noqa: E402

FIGURES = {"ready": {"us"}, "handoff": {"small_us", "large_us"}, "first": {"ms"}, "import": {"ms", "mb"}, "mnist": {"k_per_s"}, "mnist_2": {"k_per_s"},
           "lock": {"released_2_by_1", "held_by_loop", "step_by_alone"}}
ALL = [(bench, system, module, measure) for bench, known in systems.SYSTEMS.items() for system, (module, measure) in known.items()]


@pytest.mark.parametrize("bench, system, module, measure", ALL, ids=[f"{bench} {system}" for bench, system, *_ in ALL])
def test_each_system_gives_its_figures(bench, system, module, measure, tmp_path, monkeypatch):
    if importlib.util.find_spec(module.split(".")[0]) is None:
        pytest.skip(f"{module} is not installed")
    monkeypatch.setenv("HEADPOND_BENCH_FOLDER", str(tmp_path))
    found = measure(0.02)
    assert set(found) == FIGURES[bench] and all(value > 0 for value in found.values())


def test_bounds_are_medians_over_rounds():
    rounds = [{"headpond": {"k_per_s": ours}, "C++": {"k_per_s": 100}, "NumPy": {"k_per_s": 90}} for ours in (79, 85, 95)]
    met = {text: (value, passes) for text, value, *_, passes in run.bounds_of("mnist", rounds)}
    assert met == {"times C++": (0.85, True), "times NumPy's own loop": (85 / 90, False)}
    slow = [{"headpond": {"ms": 31, "mb": 10}, "NumPy": {"ms": 100, "mb": 1}}]
    assert [passes for *_, passes in run.bounds_of("import", slow)] == [False, True]
    assert {bench for bench, *_ in run.BOUNDS} == set(systems.SYSTEMS) - {"mnist_2"}
