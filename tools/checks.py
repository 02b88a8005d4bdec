# SPDX-License-Identifier: Apache-2.0
"""What the checkers of this folder share: the list of files, the report, and the self-test with planted violations."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = {".git", "build", "headpond-runs", "__pycache__"}


def files(root):
    """Every file that is or could be committed, relative to root. Without git (a copied tree): all but build outputs."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=False)
    if listed.returncode == 0:
        names = [pathlib.Path(name) for name in listed.stdout.decode().split("\0") if name]
    else:
        names = []
        for folder, folders, here in os.walk(root):
            folders[:] = [name for name in folders if name not in SKIPPED]
            names += [pathlib.Path(folder, name).relative_to(root) for name in here]
    return sorted(name for name in names if (root / name).is_file())


def sources_of(entry):
    """The sources that an entry of compile_commands.json is for: those that are compiled together (cmake/faster.cmake), or its file."""
    path = pathlib.Path(entry["file"])
    if ROOT / "build" not in path.parents:
        return [path]
    return [ROOT / name for name in re.findall(r'^#include "(.*)"$', path.read_text(encoding="utf-8"), re.M)]


def text(path):
    """The file's text, or None where it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def planted(check, cases):
    """Each case is (title, {path: text}, words of the finding, or None where the tree is clean). Returns what went wrong."""
    wrong = []
    for title, tree, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, content in tree.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(content, encoding="utf-8")
            found = list(check(root))
        if expected is None and found:
            wrong.append(f"{title}: rejected a clean tree: {found}")
        if expected is not None and not any(expected in finding for finding in found):
            wrong.append(f"{title}: did not find '{expected}' in {found}")
    return wrong


def main(check, cases, hints=lambda root: [], hint_cases=()):
    """check(root) returns findings, each "file:line: what", and hints(root) what is only said. --self-test runs the planted cases instead."""
    if sys.argv[1:] == ["--self-test"]:
        wrong = planted(check, cases) + planted(hints, hint_cases)
        for line in wrong:
            print(line)
        print(f"{pathlib.Path(sys.argv[0]).name}: {len(cases) + len(hint_cases)} planted cases, {len(wrong)} wrong")
        sys.exit(1 if wrong else 0)
    if sys.argv[1:]:
        print(f"usage: {sys.argv[0]} [--self-test]", file=sys.stderr)
        sys.exit(2)
    for line in hints(ROOT):
        print(f"hint: {line}")
    found = check(ROOT)
    for line in found:
        print(line)
    print(f"{pathlib.Path(sys.argv[0]).name}: {len(found)} findings")
    sys.exit(1 if found else 0)
