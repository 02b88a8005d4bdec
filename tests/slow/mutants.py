#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts mistakes into the engine, the operators and the kernels, one at a time: the tests that hold pipelines to their meaning find each, and nothing without one.

  mutants.py BUILD [--plans 4000] [--processes 2] [NAME...]
  mutants.py --apply-only

BUILD is a folder that ninja has built headpond_codec_test, headpond_engine_test and headpond_train_loop_test in. Each mistake is a patch of
one source file, tests/mutants/NAME.patch. It is applied to a copy, which is compiled and linked as BUILD does it, before the libraries, so
that it takes the place of the original. A line "Tests: PROGRAM FILTER" before the patch names other tests than those of random plans.
With names only those mistakes, else all. --apply-only sees that each patch still fits its source, and builds nothing.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import checks  # noqa: E402

PATCHES = ROOT / "tests/mutants"


def run_quietly(command, **more):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, **more)
    assert result.returncode == 0, f"{command}: {result.stdout.decode(errors='replace')}"
    return result.stdout.decode()


def tests_of(name):
    """(program, filter) of the tests that must find the mistake `name`."""
    named = re.search(r"^Tests: (\S+) (\S+)$", (PATCHES / f"{name}.patch").read_text(encoding="utf-8"), re.MULTILINE)
    return named.groups() if named else ("headpond_engine_test", "*DeliverWhatTheyMean*")


def link_command(build, target):
    """How ninja links `target`, as words; and its output."""
    ninja = re.search(r"^CMAKE_MAKE_PROGRAM:\w+=(.*)$", (build / "CMakeCache.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
    last = run_quietly([ninja, "-C", build, "-t", "commands", target]).strip().splitlines()[-1]
    words = shlex.split(last.removeprefix(": &&").removesuffix("&& :"))
    return words, words[words.index("-o") + 1]


def apply_patch(patch, work):
    """Copies the source that `patch` is for to `work` and changes it there; returns its path in the repository, and the copy."""
    source = re.search(r"^\+\+\+ b/(\S+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)[1]
    copy = work / source
    copy.parent.mkdir(parents=True)
    shutil.copy(ROOT / source, copy)
    run_quietly(["git", "apply", "-p1", patch], cwd=work, env={**os.environ, "GIT_CEILING_DIRECTORIES": str(work.parent)})
    return source, copy


def build_mutant(build, name, work):
    """Compiles and links the tests of the mistake `name` with it; returns the program."""
    source, copy = apply_patch(PATCHES / f"{name}.patch", work)
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    entry = next(one for one in commands if ROOT / source in checks.sources_of(one))
    changed = copy
    if entry["file"] != str(ROOT / source):  # It is compiled together with others.
        changed = work / "joined.cc"
        changed.write_text(pathlib.Path(entry["file"]).read_text(encoding="utf-8").replace(f'"{source}"', f'"{copy}"'), encoding="utf-8")
    words = [str(changed) if word == entry["file"] else word for word in shlex.split(entry["command"])]
    made = work / "mutant.o"
    words[words.index("-o") + 1] = str(made)
    run_quietly(words, cwd=build)
    link, output = link_command(build, tests_of(name)[0])
    program = work / "tests_of_mutant"
    link[link.index(output)] = str(program)
    run_quietly(link[:1] + [str(made)] + link[1:], cwd=build)
    return program


def run_tests(program, tests, plans, patience_s=20):
    """Returns how the tests ended: None if all passed, else (plan, what was seen)."""
    environment = {**os.environ, "HEADPOND_PLANS": str(plans), "HEADPOND_PATIENCE": str(patience_s)}
    result = subprocess.run([program, f"--gtest_filter={tests}", "--gtest_brief=1", "--gtest_fail_fast"],
                            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if result.returncode == 0:
        return None
    output = result.stdout.decode(errors="replace")
    plan = re.search(r"\bplan (\d+)", output)
    seen = re.search(r"no progress|the state differs|changed while|bytes, names or shapes differ|saved at once|saved twice|fresh process|at call", output)
    return plan[1] if plan else "?", seen[0] if seen else f"status {result.returncode}"


def check_without(build, program, tests, plans):
    return run_tests(build / link_command(build, program)[1], tests, plans, patience_s=300)  # A busy machine is no mistake.


def check(build, name, plans):
    with tempfile.TemporaryDirectory() as folder:
        return run_tests(build_mutant(build, name, pathlib.Path(folder)), tests_of(name)[1], plans)


def apply_all(names):
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            apply_patch(PATCHES / f"{name}.patch", pathlib.Path(folder))
    print(f"{len(names)} mistakes fit their sources")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--apply-only", action="store_true")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--plans", type=int, default=4000)
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_intermixed_args()
    known = sorted(path.stem for path in PATCHES.glob("*.patch"))
    names = args.names or known
    unknown = set(names) - set(known)
    assert not unknown, f"no such mistakes: {unknown}"
    if args.apply_only:
        return apply_all(names)
    controls = sorted({tests_of(name) for name in names})
    with concurrent.futures.ThreadPoolExecutor(args.processes) as pool:
        without = list(pool.map(lambda tests: check_without(args.build, *tests, args.plans), controls))
        found = list(pool.map(lambda name: check(args.build, name, args.plans), names))
    for name, how in zip([f"(no mistake) {program}" for program, _ in controls] + names, without + found):
        print(f"{name:50} {f'plan {how[0]}: {how[1]}' if how else f'nothing within {args.plans} plans'}")
    assert not any(without), "without a mistake tests do not pass"
    missed = [name for name, how in zip(names, found) if how is None]
    assert not missed, f"not found: {missed}"
    print(f"{len(names)} mistakes, each found within {args.plans} plans")
    return None


if __name__ == "__main__":
    main()
