#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of code of each operator: no blank lines, comments, includes.

  operator_lines.py [ROOT] [--most 60] [--least 33] [--most-own 40] [--total]

An operator is a .cc file of headpond/dataset/ops/GROUP/ that defines a function declared in a header of the catalogue
(headpond/dataset/ops/*.h). Other files of the folder are its parts; they are listed after it. Fails if fewer than --least operators
keep to --most lines, or if one of examples/own_operators, without its main(), has more than --most-own. --total prints no operator.
"""
import argparse
import pathlib
import re
import sys

import check_operators

OPS = check_operators.OPS


def code_lines(text):
    lines = (line.strip() for line in text.splitlines())
    return sum(1 for line in lines if line and not line.startswith(("//", "#include", "#pragma once")))


def parts_of(root, operator):
    """Headers below ops/ that only operators include, and the sources beside them."""
    found = []
    for header in re.findall(r'#include "(%s/\w+/\w+_internal\.h)"' % OPS, operator.read_text()):
        found.append(root / header)
        source = root / header.replace("_internal.h", ".cc")
        if source.exists():
            found.append(source)
    return found


def operators(root):
    """{name: path}: files that define a function of the catalogue, or the step behind one that is a template."""
    declared = check_operators.catalogue(root) | {"map_step", "map_field_step", "filter_step"}
    found = {}
    for path in sorted((root / OPS).glob("*/*.cc")):
        if not path.stem.endswith(("_test", "_test_support")):
            defined = re.findall(r"^(?:Step|Dataset) (?:internal::)?(\w+)\(", path.read_text(), flags=re.M)
            if declared & set(defined):
                found[f"{path.parent.name}/{path.stem}"] = path
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("--most", type=int, default=60)
    parser.add_argument("--least", type=int, default=33)
    parser.add_argument("--most-own", type=int, default=40)
    parser.add_argument("--total", action="store_true")
    args = parser.parse_args()
    found = operators(args.root)
    short = 0
    for name, path in found.items():
        lines = code_lines(path.read_text())
        short += lines <= args.most
        if args.total:
            continue
        parts = ", ".join(f"{part.name} {code_lines(part.read_text())}" for part in parts_of(args.root, path))
        print(f"{name:28} {lines:4}{'' if lines <= args.most else ' *'}{'  and ' + parts if parts else ''}")
    print(f"{short} of {len(found)} operators have at most {args.most} lines of code")
    longest = 0
    for path in sorted((args.root / "examples/own_operators").glob("*.cc")):
        lines = code_lines(path.read_text().split("int main()")[0])
        longest = max(longest, lines)
        if not args.total:
            print(f"{'own_operators/' + path.stem:28} {lines:4}")
    print(f"those of users, as docs/add_an_operator.md shows them, have at most {longest}")
    return 0 if short >= args.least and longest <= args.most_own else 1


if __name__ == "__main__":
    sys.exit(main())
