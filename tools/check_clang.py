#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-format over every source; clang-tidy and the thread-safety analysis over the sources of the dev build that are not tests.

The tests get the thread-safety analysis when the dev build compiles them. --tidy-changed looks only at what the last 100 commits changed.
--self-test plants violations for each.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import checks
import tidy

BUILD = checks.ROOT / "build/dev"
COMMITS = 100  # More than one landing has. ./dev nightly looks at everything.
FORMAT, CLANG = "clang-format-16", "clang++-16"


def run(*command, cwd=checks.ROOT):
    done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def format_findings():
    sources = [path for path in checks.files(checks.ROOT) if path.suffix in (".h", ".cc")]
    status, output = run(FORMAT, "--dry-run", "--Werror", *sources) if sources else (0, "")
    return [output] if status else []


def tidy_findings(commits=None):
    commands = json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8"))
    commands = [{"file": str(source), "command": entry["command"].replace(entry["file"], str(source))}
                for entry in commands for source in checks.sources_of(entry) if not source.stem.endswith("_test")]
    return tidy.findings(checks.ROOT, commands, BUILD / "tidy", tidy.cache_folder() / "tidy", commits=commits)


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
        cases = [
            ("format", (FORMAT, "--dry-run", "--Werror", "a.cc"), "int a = 1;\n", "int  a=1;\n", "clang-format-violations"),
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
    return wrong + tidy_self_test()


def looks(root, said, commits=None):
    """What tidy says about the planted tree, and adds to `said` how many sources it looked at."""
    commands = [{"file": str(path), "command": f"clang++-16 -std=c++20 -Wthread-safety -I{root} -o x.o -c {path}"} for path in sorted(root.glob("*.cc"))]
    return tidy.findings(root, commands, root / "work", root / "stamps", lambda line: said.append(int(line.split()[3])), commits)


def tidy_self_test():
    """Sources that are looked at together: what is planted in one is found, and only what changed is looked at again."""
    clean = {".clang-tidy": (checks.ROOT / ".clang-tidy").read_text(encoding="utf-8"), "c.h": "inline int c() { return 1; }\n",
             "a.cc": USE_AFTER_MOVE.format("b"), "b.cc": '#include "c.h"\nstatic int g() { return c(); }\nint b() { return g(); }\n',
             "d.cc": "static int g() { return 2; }\nint d() { return g(); }\nint main() { return d(); }\n", "e.cc": "int e() { return 3; }\n",
             "m.cc": GUARDED.format("headpond::MutexLock lock(mu_);").replace("headpond/", f"{checks.ROOT}/headpond/")}
    planted = [("a.cc", USE_AFTER_MOVE.format("a + b"), "bugprone-use-after-move", 1),
               ("m.cc", GUARDED.format("").replace("headpond/", f"{checks.ROOT}/headpond/"), "thread-safety", 1),
               ("c.h", "struct B {\n  virtual ~B() = default;\n  virtual int f() { return 1; }\n};\nstruct D : B {\n  virtual int f() { return 2; }\n};\ninline int c() { return D().f(); }\n", "modernize-use-override", 1)]
    wrong, said = [], []
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve() / "headpond"
        root.mkdir()
        for name, text in clean.items():
            (root / name).write_text(text, encoding="utf-8")
        if found := looks(root, said) + looks(root, said):
            wrong.append(f"tidy: rejected a clean tree: {found}")
        if said != [5, 0]:
            wrong.append(f"tidy: looked at {said} sources instead of 5, then none")
        for name, text, words, many in planted:
            (root / name).write_text(text, encoding="utf-8")
            found = looks(root, said)
            if not any(words in output for output in found) or said[-1] != many:
                wrong.append(f"tidy: {name}: looked at {said[-1]} sources: {found}")
            (root / name).write_text(clean[name], encoding="utf-8")
        both = {"a.cc": planted[0][1], "c.h": planted[2][1]}
        # Their names clash where only the compiler sees it.
        twins = {name: USE_AFTER_MOVE.format("b").replace(" f(", f" {name[0]}_(") + f"static int {name[0]}0 = 1, twin = 2;\nint {name[0]}1() {{ return {name[0]}0 + twin; }}\n"
                 for name in ("p.cc", "q.cc", "r.cc")}
        for texts, words, many in ((both, ("bugprone-use-after-move", "modernize-use-override"), 2), (twins, (), 3),
                                   ({name: text.replace("return b", "return a + b") for name, text in twins.items()}, ("p.cc", "q.cc", "r.cc"), 3)):
            for name, text in texts.items():
                (root / name).write_text(text, encoding="utf-8")
            found = looks(root, said)
            if not all(any(word in output for output in found) for word in words) or (found and not words) or said[-1] != many:
                wrong.append(f"tidy: {list(texts)}: looked at {said[-1]} sources: {found}")
            for name in texts:
                (root / name).write_text(clean.get(name, twins.get(name, "")), encoding="utf-8")
    return wrong + changed_self_test(clean, planted)


def changed_self_test(clean, planted):
    """Only what the last commits changed is looked at: a source, and for a header one that includes it."""
    wrong, said = [], []
    bad = {name: text for name, text, _, _ in planted}
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder).resolve() / "headpond"
        root.mkdir()
        git = ["env", *(f"--unset={name}" for name in os.environ if name.startswith("GIT_")), "git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@example.org"]
        run(*git, "init", "-q")
        settings = {".clang-tidy": clean[".clang-tidy"], ".gitignore": "work\nstamps\n"}
        by_another = {"b.cc": clean["b.cc"].replace("c.h", "over.h"), "over.h": '#include "c.h"\n'}
        for texts in ({**settings, "a.cc": bad["a.cc"], "c.h": clean["c.h"], **by_another}, {"c.h": bad["c.h"]}, {"e.cc": clean["e.cc"]}):
            for name, text in texts.items():
                (root / name).write_text(text, encoding="utf-8")
            run(*git, "add", "-A")
            run(*git, "commit", "-q", "-m", "a")
        header, source = "modernize-use-override", "bugprone-use-after-move"
        # The third commit from the end has settings, so everything is looked at.
        for commits, words, many in ((1, (), 1), (2, (header,), 1), (3, (header, source), 2)):
            found = looks(root, said, commits)
            if [word for word in (header, source) if any(word in output for output in found)] != list(words) or said[-1] != many:
                wrong.append(f"tidy: {commits} commits: looked at {said[-1]} sources: {found}")
    return wrong


CHECKS = {"--format": format_findings, "--tidy": tidy_findings, "--tidy-changed": lambda: tidy_findings(COMMITS), "--self-test": self_test}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in CHECKS:
        print(f"usage: {sys.argv[0]} --format | --tidy | --tidy-changed | --self-test", file=sys.stderr)
        sys.exit(2)
    problems = CHECKS[sys.argv[1]]()
    print("\n".join(problems))
    print(f"check_clang.py {sys.argv[1]}: {len(problems)} findings")
    sys.exit(1 if problems else 0)
