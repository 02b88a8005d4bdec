#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words that no committed file holds: folders of one machine, marks of unfinished work, tests switched off without a reason; and
what g++ refuses in a test, while the tests of each check are compiled by clang: an assertion after an `if` without braces.

The words are written in two halves, so that this file does not hold them either.
"""
import re

import checks

RULES = [
    ("a folder of one machine", r"(?<![\w.}])/(?:" + "|".join(["wo" "rk", "ro" "ot", "ho" "me", "Use" "rs"]) + r")/"),
    ("a mark of unfinished work", r"\b(?:" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK"]) + r")\b"),
    ("a test that is switched off", r"\bDISABLED" r"_\w"),
    ("an assertion after an if without braces", r"^\s*(?:\} )?(?:else )?if \(.*\) (?:EXPECT|ASSERT)_(?!FAILS|OK)"),
    ("a conflict mark", r"^(?:<" r"<<<<<<|>" r">>>>>>) "),
]
PATTERNS = [(what, re.compile(pattern)) for what, pattern in RULES]
GENERATED = ("LICENSE",)


def check(root):
    findings = []
    for path in checks.files(root):
        source = checks.text(root / path) if path.name not in GENERATED else None
        for number, line in enumerate((source or "").splitlines(), 1):
            findings += [f"{path}:{number}: {what}: {line.strip()[:80]}" for what, pattern in PATTERNS if pattern.search(line)]
    return findings


CASES = [
    ("plain words", {"a.md": "cmake-build/work/x, $HOME/.cache, ${TMPDIR:-/tmp}, to do, hacking\n"}, None),
    ("a path", {"a.md": "see /wo" "rk/data\n"}, "a.md:1: a folder of one machine"),
    ("a quoted path", {"a.cc": "\n\"/ro" "ot/x\"\n"}, "a.cc:2: a folder of one machine"),
    ("a mark", {"a.cc": "// TO" "DO: later\n"}, "a mark of unfinished work"),
    ("a mark with a name", {"a.py": "# FIX" "ME(me)\n"}, "a mark of unfinished work"),
    ("a disabled test", {"a_test.cc": "TEST(Gate, DISABLED" "_Opens) {}\n"}, "switched off"),
    ("an assertion in braces", {"a_test.cc": "  if (is_open) {\n    EXPECT_EQ(left, 0);\n  }\n"}, None),
    ("an assertion without", {"a_test.cc": "  if (is_open) EXPECT" "_EQ(left, 0);\n"}, "a_test.cc:1: an assertion after an if"),
    ("a conflict", {"a.cc": "<<<" "<<<< HEAD\n"}, "a conflict mark"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
