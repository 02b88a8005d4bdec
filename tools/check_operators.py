#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operator is declared in the catalogue (headpond/dataset/ops/*.h); whatever else lists operators lists those.

Each is drawn by the random pipelines, and has a row in the command line's table and one in the document of pipeline files,
but for the exceptions below.
"""
import re

import checks

OPS = "headpond/dataset/ops"
RANDOM_PLANS = "headpond/dataset/testing/random_plan_*_test_support.cc"
TABLE = "headpond/plan/operators/plan_operators.cc"
DOCUMENT = "docs/plan_files.md"
NOT_DRAWN = set("cifar10 cifar100 csv fixed_length folder load npy raw_image tar text_lines"
                .split())  # They need files or images, and share code with what is drawn.
# A file holds neither functions, but for expressions, nor tensors.
ONLY_CPP = set("from_generator from_tensor_slices from_tensors random_map".split())


def catalogue(root):
    text = "\n".join(checks.text(path) for path in sorted((root / OPS).glob("*.h")))
    text = re.sub(r"^namespace internal \{.*?^\}", "", text, flags=re.M | re.S)
    return set(re.findall(r"^(?:Step|Dataset) (\w+)\(", text, flags=re.M))


def drawn(root):
    """Operators that the random pipelines have."""
    text = "\n".join(checks.text(path) for path in sorted(root.glob(RANDOM_PLANS)))
    return {name for name in catalogue(root) if re.search(rf"(?<!\w){name}\(", text)}


def check(root):
    if not (root / OPS).is_dir():
        return []
    all_names = catalogue(root)
    rows = set(re.findall(r'\{"(\w+)",\s*(?:source|joins|follows|either),', checks.text(root / TABLE)))
    first_cells = re.findall(r"^\|([^|]*)\|", checks.text(root / DOCUMENT), flags=re.M)
    described = {name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)}
    findings = [f"{OPS}: {name} is not drawn in {RANDOM_PLANS}" for name in sorted(all_names - drawn(root) - NOT_DRAWN)]
    findings += [f"{OPS}: {name} has no row in {TABLE}" for name in sorted(all_names - rows - ONLY_CPP)]
    findings += [f"{TABLE}: {name} has no row in {DOCUMENT}" for name in sorted(rows - described)]
    return findings


def tree(header="", plans="", table="", document=""):
    return {f"{OPS}/a.h": header, RANDOM_PLANS.replace("*", "order"): plans, TABLE: table, DOCUMENT: document}


HEADER = "namespace internal {\nStep hidden(int64_t);\n}\n/// Text.\nStep turn(int64_t by);\n"
CASES = [
    ("listed everywhere", tree(HEADER, "input | turn(3);\n", '      {"turn", follows, {"by"}, build_turn},\n',
                               "| `turn` | `by` | turns |\n"), None),
    ("drawn in another file", {**tree(HEADER, "", '{"turn", follows, {}}\n', "| `turn` | |\n"),
                               "headpond/dataset/testing/random_plan_turns_test_support.cc": "turn(3)\n"}, None),
    ("not drawn", tree(HEADER, "input | upturn(3);\n", '{"turn", follows, {}}\n', "| `turn` | |\n"), "turn is not drawn in"),
    ("no row", tree(HEADER, "turn(3)\n", '{"other", follows, {}}\n', "| `other` | |\n"), "turn has no row in headpond/plan"),
    ("not described", tree(HEADER, "turn(3)\n", '{"turn", follows, {}}\n', "text\n"), "turn has no row in docs"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
