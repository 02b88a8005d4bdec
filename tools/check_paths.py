#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that a text names exist: documents anywhere (sources, help, documents), sources in comments and documents.

A path is looked up from the root, from headpond/, from docs/ and from the folder of the text; `*` stands for any name, and
docs/decisions/0001 for the file whose name begins so. Tests may name what they make up.
"""
import re

import checks

READ = {".h", ".cc", ".md", ".py", ".txt", ".cmake", ".toml", ".sh", ".yml"}
URL = re.compile(r"\w+://\S+")
PATH = re.compile(r"(?<![\w./<>$}{~*-])((?:\.\./)*(?:[\w*-][\w.*-]*/)*[\w*-][\w.*-]*\.(?:md|h|cc))\b(?![\w/(])")
DECISION = re.compile(r"\bdocs/decisions/\d{4}")
UNSEEN = re.compile(r"\bDESIGN(?:\.md)?\b|\bSTYLE\.md\b|\bspec/[\w.]+")
SYSTEM = re.compile(r'^\s*#\s*include\s*<')
MADE_UP = re.compile(r"_test(?:_support|_internal)?\.|_fuzz\.cc$")


def is_read(path):
    return path.suffix in READ and not MADE_UP.search(path.name) and path.parts[0] != "tests" and "tests" not in path.parts[:-1]


def exists(root, path, name):
    places = (root, root / "headpond", root / "docs", (root / path).parent)
    return any(any(place.glob(name)) if "*" in name else (place / name).is_file() for place in places)


def is_source(name):
    """Whether a .h or .cc with a folder is one of ours, and not a system's or an example's."""
    return re.sub(r"^(?:\.\./)+", "", name).split("/")[0] in {"headpond", "cli", "base", "tensor", "io", "codec", "queue", "dataset", "tf1", "engine",
                                  "monitor", "train", "examples", "benchmarks", "fuzz"} and "/" in name


def line_findings(root, path, line):
    if SYSTEM.match(line):
        return
    line = URL.sub("", line)
    for name in PATH.findall(line):
        ours = name.endswith(".md") or is_source(name)
        if ours and "NAME" not in name and not exists(root, path, name):
            yield f"names {name}, which is not in the tree"
    for start in DECISION.findall(line):
        if not any((root / "docs" / "decisions").glob(start.rsplit("/", 1)[1] + "-*")):
            yield f"names {start}, which is not in the tree"
    for name in UNSEEN.findall(line):
        yield f"names {name}, which readers do not have"


def check(root):
    findings = []
    for path in checks.files(root):
        if not is_read(path) or (path.parts[0] == "tools" and path.name.startswith("check_")):
            continue
        source = checks.text(root / path) or ""
        for number, line in enumerate(source.splitlines(), 1):
            if path.name == "CHANGELOG.md":
                line = re.sub(r"\S+\.(?:h|cc)\b", "", line)  # What was then may have moved.
            findings += [f"{path}:{number}: {what}" for what in line_findings(root, path, line)]
    return findings


CASES = [
    ("paths from the root, from headpond/ and from beside it", {
        "README.md": "docs/a.md, [a](docs/a.md), docs/decisions/0001, io/x.h, docs/*.md, https://x.org/b.md, a set of c.h",
        "docs/a.md": "README.md, ../README.md, formats/tar.md\n", "docs/formats/tar.md": "",
        "docs/decisions/0001-why.md": "", "headpond/io/x.h": '// io/x.h, see docs/a.md.\n#include <a/b.h>\n'}, None),
    ("a test's own names", {"headpond/io/x_test.cc": '"docs/none.md"\n', "cli/tests/x.py": "none.md\n"}, None),
    ("a document that is gone", {"headpond/io/x.h": "// see docs/gone.md.\n"}, "x.h:1: names docs/gone.md"),
    ("a document in a message", {"cli/help.cc": '"more in docs/gone.md\\n"\n'}, "help.cc:1: names docs/gone.md"),
    ("a link to a source that has moved", {"docs/a.md": "[x](../headpond/io/x.h)\n"}, "names ../headpond/io/x.h"),
    ("a link", {"docs/a.md": "[b](b.md)\n"}, "a.md:1: names b.md"),
    ("a decision", {"headpond/a.cc": "// docs/decisions/0009\n"}, "names docs/decisions/0009"),
    ("a source that has moved", {"headpond/io/x.h": "// io/y.h has more.\n"}, "names io/y.h"),
    ("a pattern without a match", {"docs/a.md": "dataset/ops/*.h\n"}, "names dataset/ops/*.h"),
    ("a document of the authors alone", {"headpond/a.h": "// (see DESIGN: identity)\n"}, "names DESIGN"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
