# SPDX-License-Identifier: Apache-2.0
"""benchmarks/python: each system runs and gives its figures, and `headpond bench python.*` has all of them."""
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

import headpond as hp

FOLDER = pathlib.Path(__file__).parents[2] / "benchmarks/python"
PROGRAM = os.environ.get("HEADPOND_PROGRAM")  # Which ./dev python sets.
sys.path.insert(0, str(FOLDER))
import benches  # noqa: E402
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


def program(*words):
    """`headpond bench` of the release build, if there is one, else of the package, with this Python."""
    command = [PROGRAM] if PROGRAM else [sys.executable, "-m", "headpond"]
    return subprocess.run([*command, "bench", "--python", sys.executable, *words], capture_output=True, text=True, timeout=300, check=False)


def test_the_command_knows_these_benches():
    found = json.loads(program("--list", "--json").stdout)["benches"]
    assert [name.removeprefix("python.") for name in found if name.startswith("python.")] == list(benches.PARTS)
    assert {part for parts in benches.PARTS.values() for part, _ in parts} == set(systems.SYSTEMS) == set(benches.FIGURES) == set(FIGURES)
    assert {part: set(figures) for part, figures in benches.FIGURES.items()} == FIGURES
    assert set(benches.TARGETS) == set(benches.PARTS)


@pytest.mark.parametrize("bench", benches.PARTS)
def test_the_command_measures_them(bench):
    done = program(f"python.{bench}", "--peers", "off", "--rounds", "1", "--seconds", "0.01", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    own = [(part, system) for part, _ in benches.PARTS[bench] for system in systems.SYSTEMS[part] if system in benches.OURS]
    cases = [(system, case.format(system), metric) for part, system in own for case, metric, *_ in benches.FIGURES[part].values()]
    assert found["schema"] == "headpond.bench/1" and found["name"] == f"python.{bench}"
    assert [(row["system"], row["case"], row["metric"]) for row in found["rows"]] == cases
    assert all(row["median"] > 0 and row["pss_peak_mib"] > 1 and row["system_version"] for row in found["rows"])
    figures = {f"{part}/{system}/{figure}" for part, system in own for figure in benches.FIGURES[part]}
    assert bool(found["ratios"]) == (bench in ("handoff", "first", "mnist"))
    assert [one["id"] for one in found["targets"]] == [f"python.{bench}.{name}" for name, _, _, _, _, *rows in benches.TARGETS[bench] if set(rows) <= figures]


def test_the_packages_own_command_measures_with_its_own_python(tmp_path):
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment.pop("HEADPOND_PYTHON", None)
    words = [sys.executable, "-m", "headpond", "bench", "python.import", "--peers", "off", "--rounds", "1", "--seconds", "0.01"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0 and "import of headpond" in done.stdout, done.stderr


def test_targets_name_figures_that_there_are():
    figures = {f"{part}/{system}/{figure}" for part, known in systems.SYSTEMS.items() for system in known for figure in benches.FIGURES[part]}
    for targets in benches.TARGETS.values():
        assert {row for _, _, _, _, _, *rows in targets for row in rows} <= figures


def test_the_package_has_them():
    installed = pathlib.Path(hp.__file__).parent / "bench"
    for name in ("benches.py", "systems.py"):
        assert (installed / name).read_bytes() == (FOLDER / name).read_bytes()
