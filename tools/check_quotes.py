#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Code that a document quotes as "all of `path`" is that file, but for its licence line; so what people copy compiles."""
import re

import checks

QUOTE = re.compile(r"all of `([^`]+)`[^\n]*\n\n```\w*\n(.*?)^```$", re.S | re.M)


def check(root):
    findings = []
    for path in checks.files(root):
        if path.suffix != ".md":
            continue
        source = checks.text(root / path)
        for match in QUOTE.finditer(source):
            number = source.count("\n", 0, match.start()) + 1
            quoted = root / match[1]
            if not quoted.is_file():
                findings.append(f"{path}:{number}: quotes {match[1]}, which is not there")
            elif checks.text(quoted).split("\n", 1)[1] != match[2]:
                findings.append(f"{path}:{number}: {match[1]} is not what is quoted")
    return findings


DOC = "This is all of `a.cc`:\n\n```cpp\nint a;\n```\n"
CASES = [
    ("the file itself", {"a.md": DOC, "a.cc": "// licence\nint a;\n"}, None),
    ("another file", {"a.md": DOC, "a.cc": "// licence\nint b;\n"}, "a.md:1: a.cc is not"),
    ("no file", {"a.md": DOC}, "a.md:1: quotes a.cc"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
