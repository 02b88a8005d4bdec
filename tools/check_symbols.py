#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function or variable is defined twice: of two that have one name, the linker takes either, and says nothing where one is inline.

  check_symbols.py FOLDER         the static libraries of a build, those in its folders too
  check_symbols.py --self-test    builds libraries with planted mistakes

An inline function may be in many objects, but not beside one of the same name that is not inline.
"""
import pathlib
import subprocess
import sys
import tempfile

STRONG, WEAK = set("TDBRG"), set("WVu")


def archives_in(folder):
    return sorted(str(path) for path in pathlib.Path(folder).rglob("*.a"))


def symbols(archives):
    """{name: {kind: objects}}: kind is True for what is not inline."""
    said = subprocess.run(["nm", "-A", "--defined-only", *archives], capture_output=True, text=True, check=True, timeout=300).stdout
    found = {}
    for line in said.splitlines():
        words = line.split()
        if len(words) == 3 and words[1] in STRONG | WEAK:  # Else a heading.
            where, kind, name = words
            found.setdefault(name, {}).setdefault(kind in STRONG, set()).add(where.rsplit(":", 1)[0])
    return found


def readable(name):
    return subprocess.run(["c++filt", name], capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def findings(archives):
    for name, kinds in sorted(symbols(archives).items()):
        strong = kinds.get(True, set())
        if strong and (len(strong) > 1 or False in kinds):
            yield f"{readable(name)}: defined in {', '.join(sorted(strong | kinds.get(False, set())))}"


PLANTED = [
    ("one of each", {"a": "int one() { return 1; }", "b": "inline int two() { return 2; } int (*kept)() = two; int own() { return 3; }"}, ""),
    ("inline in both", {"a": "inline int two() { return 2; } int (*kept)() = two;", "b": "inline int two() { return 2; } int (*other)() = two;"}, ""),
    ("inline in one", {"a": "int two() { return 1; }", "b": "inline int two() { return 2; } int (*kept)() = two;"}, "two(): defined in "),
    ("in both", {"a": "int two() { return 1; }", "b": "int two() { return 2; }"}, "two(): defined in "),
    ("of a file only", {"a": "static int two() { return 1; } int (*kept)() = two;", "b": "int two() { return 2; }"}, ""),
]


def self_test():
    for what, sources, expected in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            for name, source in sources.items():
                file = pathlib.Path(folder, f"{name}.cc")
                file.write_text(source + "\n")
                subprocess.run(["c++", "-std=c++20", "-c", file, "-o", file.with_suffix(".o")], check=True, timeout=60)
                subprocess.run(["ar", "rcs", file.with_suffix(".a"), file.with_suffix(".o")], check=True, timeout=60)
            found = list(findings(archives_in(folder)))
        if len(found) != bool(expected) or not all(one.startswith(expected) for one in found):
            print(f"check_symbols.py --self-test: {what}: {found}", file=sys.stderr)
            return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    archives = archives_in(sys.argv[1]) if len(sys.argv) == 2 else []
    if not archives:
        print(f"{__doc__.strip()}\n\nThere is no library.", file=sys.stderr)
        return 2
    found = list(findings(archives))
    for one in found:
        print(one)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
