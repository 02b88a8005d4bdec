#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every test that a table of rows (tests/*_rows.md) names as `Suite.Name`, or a suite as `Suite.*`, is in a *_test.cc."""
import re

import checks

NAMED = re.compile(r"`([A-Z]\w*)\.([A-Z]\w*|\*)`")
TEST = re.compile(r"^TEST(?:_[FP])?\((\w+),\s*(\w+)\)", re.M)


def check(root):
    paths = checks.files(root)
    tests = set()
    for path in paths:
        if path.name.endswith("_test.cc"):
            tests.update(TEST.findall(checks.text(root / path) or ""))
    known = tests | {(suite, "*") for suite, _ in tests}
    findings = []
    for path in paths:
        if not path.match("tests/*_rows.md"):
            continue
        for number, line in enumerate(checks.text(root / path).splitlines(), 1):
            findings += [f"{path}:{number}: no test {suite}.{name}" for suite, name in NAMED.findall(line) if (suite, name) not in known]
    return findings


TREE = {"headpond/queue/a_test.cc": "TEST(Gate, Opens) {}\nTEST_P(Close,\n       IsSeen) {}\n"}
CASES = [
    ("tests that are there", {**TREE, "tests/a_rows.md": "| row | `Gate.Opens`, `Close.IsSeen`, `Gate.*`, `queue.h` |\n"}, None),
    ("a test that is not there", {**TREE, "tests/a_rows.md": "\n| row | `Gate.Shuts` |\n"}, "a_rows.md:2: no test Gate.Shuts"),
    ("a suite that is not there", {**TREE, "tests/a_rows.md": "`Door.*`\n"}, "no test Door.*"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
