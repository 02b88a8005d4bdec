#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-format over every source; clang-tidy over the sources of the clang build that are not tests.

A file that passed clang-tidy is not looked at again until it, a header of the project, its flags or .clang-tidy change
(stamps in build/clang/tidy). --self-test plants violations for clang-format, clang-tidy and the thread-safety analysis.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import checks

BUILD = checks.ROOT / "build/clang"
TIDY, FORMAT, CLANG = "clang-tidy-16", "clang-format-16", "clang++-16"


def run(*command, cwd=checks.ROOT):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def format_findings():
    sources = [path for path in checks.files(checks.ROOT) if path.suffix in (".h", ".cc")]
    status, output = run(FORMAT, "--dry-run", "--Werror", *sources) if sources else (0, "")
    return [output] if status else []


def tidy_one(entry, context):
    """The output of clang-tidy where it has something to say about this source, else None."""
    source = pathlib.Path(entry["file"])
    key = hashlib.sha256(context + source.read_bytes() + json.dumps(entry).encode()).hexdigest()
    stamp = BUILD / "tidy" / key
    if stamp.exists():
        return None
    status, output = run(TIDY, "--quiet", "-p", BUILD / "tidy", source)
    if status == 0:
        stamp.touch()
        return None
    return output


def tidy_findings():
    # A source that is in several targets is looked at once: clang-tidy would take each command that it finds.
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    entries = list({entry["file"]: entry for entry in commands if not pathlib.Path(entry["file"]).stem.endswith("_test")}.values())
    headers = [path for path in checks.files(checks.ROOT) if path.suffix == ".h" or path.name == ".clang-tidy"]
    context = b"".join((checks.ROOT / path).read_bytes() for path in headers)
    (BUILD / "tidy").mkdir(exist_ok=True)
    (BUILD / "tidy/compile_commands.json").write_text(json.dumps(entries), encoding="utf-8")
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        said = list(pool.map(lambda entry: tidy_one(entry, context), entries))
    print(f"clang-tidy: {len(entries)} sources")
    return [output for output in said if output]


USE_AFTER_MOVE = "#include <string>\n#include <utility>\nstd::string f(std::string a) {{\n  std::string b = std::move(a);\n  return {};\n}}\n"
GUARDED = """#include "headpond/base/mutex.h"
class Counter {{
 public:
  void add() {{ {} ++count_; }}
 private:
  headpond::Mutex mu_;
  int count_ HEADPOND_GUARDED_BY(mu_) = 0;
}};
"""


def self_test():
    """Each tool accepts the clean text and rejects the one with a planted violation."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name in (".clang-tidy", ".clang-format"):
            (root / name).write_text((checks.ROOT / name).read_text(encoding="utf-8"), encoding="utf-8")
        thread_safety = (CLANG, "-std=c++20", "-fsyntax-only", "-Wthread-safety", "-Werror", f"-I{checks.ROOT}", "a.cc")
        tidy = (TIDY, "--quiet", "a.cc", "--", "-std=c++20")
        cases = [
            ("format", (FORMAT, "--dry-run", "--Werror", "a.cc"), "int a = 1;\n", "int  a=1;\n", "clang-format-violations"),
            ("tidy", tidy, USE_AFTER_MOVE.format("b"), USE_AFTER_MOVE.format("a + b"), "bugprone-use-after-move"),
            ("thread safety", thread_safety, GUARDED.format("headpond::MutexLock lock(mu_);"), GUARDED.format(""), "thread-safety"),
        ]
        for title, command, good, bad, words in cases:
            (root / "a.cc").write_text(good, encoding="utf-8")
            status, output = run(*command, cwd=root)
            if status != 0:
                wrong.append(f"{title}: rejected clean text: {output}")
            (root / "a.cc").write_text(bad, encoding="utf-8")
            status, output = run(*command, cwd=root)
            if status == 0 or words not in output:
                wrong.append(f"{title}: accepted the planted violation: {output}")
    return wrong


CHECKS = {"--format": format_findings, "--tidy": tidy_findings, "--self-test": self_test}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        print(f"usage: {sys.argv[0]} --format | --tidy | --self-test", file=sys.stderr)
        sys.exit(2)
    problems = CHECKS[sys.argv[1]]()
    print("\n".join(problems))
    print(f"check_clang.py {sys.argv[1]}: {len(problems)} findings")
    sys.exit(1 if problems else 0)
