#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file names its licence in the first line (the second where a script names its interpreter first)."""
import checks

LINE = "SPDX-License-Identifier: Apache-2.0"
SUFFIXES = {".h": "//", ".cc": "//", ".py": "#", ".sh": "#", ".cmake": "#", ".in": "#"}


def mark_of(path, source):
    """The comment mark of this file's language, or None where no licence line is asked for."""
    if path.suffix in SUFFIXES:
        return SUFFIXES[path.suffix]
    return "#" if path.name == "CMakeLists.txt" or source.startswith("#!") else None


def check(root):
    findings = []
    for path in checks.files(root):
        source = checks.text(root / path)
        mark = mark_of(path, source) if source is not None else None
        if mark is None:
            continue
        lines = source.splitlines() + [""]
        number = 2 if lines[0].startswith("#!") else 1
        if lines[number - 1] != f"{mark} {LINE}":
            findings.append(f"{path}:{number}: '{mark} {LINE}' expected")
    if not (root / "LICENSE").is_file():
        findings.append("LICENSE:1: missing")
    return findings


GOOD = {"LICENSE": "", "a.cc": f"// {LINE}\n", "a.py": f"#!/usr/bin/env python3\n# {LINE}\n", "data.csv": "1,2\n"}
CASES = [
    ("all licensed", GOOD, None),
    ("a source without", {**GOOD, "b.h": "#pragma once\n"}, "b.h:1:"),
    ("a script without", {**GOOD, "b": "#!/bin/sh\nexit 0\n"}, "b:2:"),
    ("another licence", {**GOOD, "b.cmake": "# SPDX-License-Identifier: MIT\n"}, "b.cmake:1:"),
    ("no licence text", {"a.cc": f"// {LINE}\n"}, "LICENSE:1: missing"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
