#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The budgets: lines of a function, comments in bodies, a test beside each source. Long files and full folders are hints only:
what belongs together stays together.

Exceptions stand in tools/exceptions.txt, one a line: the budget's name, the path (with :function), the reason.
"""
import ast
import re

import checks

LINES = [  # the first that matches
    ("header for users", 150, lambda path: path.parts[0] == "headpond" and path.suffix == ".h" and not path.name.endswith("_internal.h")),
    ("file", 400, lambda path: path.suffix in (".h", ".cc", ".py", ".sh", ".cmake") or path.name == "CMakeLists.txt"),
]
FOLDER_FILES = 40
# What a program shows of itself has its tests in cli/tests, which see it from outside.
OUTSIDE = re.compile(r"cli/(?:verbs/|demo/|(?:.*/)?\w*(?:main|program|_benches)\.cc$)")
FUNCTION_LINES = 40
COMMENT_SHARE = 0.10
COMMENTS_FREE = 4  # so that a file of three short functions may say why
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|[{};]|\n', re.S)
SCOPE = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b")


def bare(source):
    """The source with comments, strings and preprocessor lines blanked; every line keeps its number."""
    def blank(match):
        return match[0] if match[0] in "{};\n" else "\n" * match[0].count("\n") if match[0][0] == "/" else '""'
    source = TOKEN.sub(blank, source)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda match: "\n" * match[0].count("\n"), source, flags=re.M)


def is_function(head):
    """Whether the text before a brace at namespace or class level opens a function's body."""
    words = re.sub(r"\[\[.*?\]\]|template\s*<[^{}]*?>\s*(?=\w)", " ", head)
    words = re.sub(r"\b(class|struct)\s+[A-Z_]+\((?:[^()]|\([^()]*\))*\)", r"\1", words)  # an annotated class
    if not re.search(r"\)", words) or words.rstrip().endswith("="):
        return False
    return not (SCOPE.search(words.split("(")[0]) and not re.search(r"\w\s+[\w:~]+\s*\(", words))


def functions(source):
    """(name, first line, last line) of each function's definition; a lambda belongs to the function around it."""
    found, stack, head, number, begin = [], [], "", 1, 1
    for piece in re.split(r"([{};\n])", bare(source)):
        if piece == "\n":
            number += 1
            head += " "
        elif piece == "{":
            inside = any(kind != "scope" for kind, _, _ in stack)
            kind = "body" if inside else "function" if is_function(head) else "scope"
            name = re.search(r"([\w:~]+|operator\S+)\s*\(([\w, ]*)", head)
            stack.append((kind, begin, f"{name[1]}({name[2]})" if name and name[1].isupper() else name[1] if name else "?"))
            head = ""
        elif piece == "}":
            kind, first, name = stack.pop() if stack else ("scope", number, "")
            if kind == "function":
                found.append((name, first, number))
            head = ""
        elif piece == ";":
            head = ""
        else:
            if not head.strip() and piece.strip():
                begin = number
            head += piece
    return found


def python_functions(source):
    return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(ast.parse(source))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def comments_in_bodies(source, bodies):
    """(comment lines, all lines) inside the bodies."""
    lines = source.splitlines()
    inside = [line for _, first, last in bodies for line in lines[first:last - 1]]
    return sum(1 for line in inside if line.lstrip().startswith(("//", "#  ", "# "))), len(inside)


def exceptions(root):
    """{(budget, path): (line number, reason)}, and findings about the list itself."""
    known, findings = {}, []
    path = root / "tools/exceptions.txt"
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines() if path.exists() else [], 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 2)
        if len(words) < 3 or words[0] not in ("function", "comments", "test"):
            findings.append(f"tools/exceptions.txt:{number}: BUDGET PATH REASON expected")
        else:
            known[words[0], words[1]] = number
    return known, findings


def file_findings(path, source):
    """(budget, subject, line, what) of one file."""
    if path.suffix not in (".h", ".cc", ".py"):
        return
    bodies = python_functions(source) if path.suffix == ".py" else functions(source)
    for name, first, last in bodies:
        if last - first + 1 > FUNCTION_LINES:
            yield "function", f"{path}:{name}", first, f"{name} has {last - first + 1} lines, at most {FUNCTION_LINES}"
    comments, lines = comments_in_bodies(source, bodies)
    if comments > max(COMMENTS_FREE, COMMENT_SHARE * lines):
        yield "comments", str(path), 1, f"{comments} comment lines in {lines} lines of bodies, at most {COMMENT_SHARE:.0%}"


def untested(paths):
    """Sources of the rooms and of the command line without a test, beside them or from outside."""
    outside = any(path.match("cli/tests/*_test.py") for path in paths)
    for path in paths:
        tested = re.search(r"_(test|test_support|bench)$", path.stem) or outside and OUTSIDE.match(str(path))
        if path.suffix == ".cc" and path.parts[0] in ("headpond", "cli") and not tested:
            if path.with_name(path.stem + "_test.cc") not in paths:
                yield "test", str(path), 1, f"no {path.stem}_test.cc beside it"


def check(root):
    known, findings = exceptions(root)
    paths = set(checks.files(root))
    raised = list(untested(paths))
    for path in paths:
        source = checks.text(root / path)
        if source is not None:
            raised += file_findings(path, source)
    used = {(budget, subject) for budget, subject, _, _ in raised}
    findings += [f"{subject.split(':')[0]}:{line}: {what}" for budget, subject, line, what in raised
                 if (budget, subject) not in known]
    findings += [f"tools/exceptions.txt:{number}: {' '.join(key)} needs no exception any more"
                 for key, number in known.items() if key not in used]
    return sorted(findings)


def hints(root):
    """Files and folders that are worth a thought."""
    paths = checks.files(root)
    for path in paths:
        name, limit = next(((name, limit) for name, limit, holds in LINES if holds(path)), ("", None))
        length = len((checks.text(root / path) or "").splitlines()) if limit else 0
        if limit and length > limit:
            yield f"{path}:1: {length} lines; a {name} is short with {limit}"
    for folder in sorted({path.parent for path in paths if path.parts[0] in ("headpond", "cli")}):
        count = sum(1 for path in paths if path.parent == folder)
        if count > FOLDER_FILES:
            yield f"{folder}: {count} files; a folder shows its structure with {FOLDER_FILES}"


LONG = "int f(int a,\n      int b) {\n" + "  a += b;\n" * 38 + "  return a;\n}\n"
CASES = [
    ("within the budgets", {"headpond/io/a.cc": "namespace headpond {\n" + "int a(int) { return 1; }\n" * 300 + "}\n",
                            "headpond/io/a_test.cc": "TEST(A, B) {\n" + "  f();\n" * 30 + "}\n"}, None),
    ("a long function", {"tests/a.cc": "namespace x {\n" + LONG + "}\n"}, "tests/a.cc:2: f has 42 lines"),
    ("a long method", {"tests/a.cc": "class A : public B {\n  int x = 1;\n" + LONG + "};\n"}, "f has 42 lines"),
    ("an annotated class", {"tests/a.cc": 'class MY_ATTRIBUTE(x("y")) A {\n' + "  int f() { return 1; }\n" * 60 + "};\n"}, None),
    ("a long test", {"tests/a.cc": "TEST(Gate, Opens) {\n" + "  f([] { return 1; });\n" * 40 + "}\n"}, "TEST(Gate, Opens)"),
    ("a long constructor", {"tests/a.cc": "A::A(int x) : a_{x}, b_(x) {\n" + "  f();\n" * 40 + "}\n"}, "has 42 lines"),
    ("braces in strings", {"tests/a.cc": 'int f() {\n  g("{", \'{\', R"(}{)");  // {\n}\n' + "int x;\n" * 60}, None),
    ("a long Python function", {"tools/a.py": "def f():\n" + "    print()\n" * 41}, "f has 42 lines"),
    ("a narrated body", {"tests/a.cc": "int f() {\n" + "  // adds one\n  ++a;\n" * 8 + "}\n"}, "8 comment lines"),
    ("a source without test", {"headpond/io/a.cc": ""}, "no a_test.cc beside it"),
    ("what a program shows", {"cli/verbs/run.cc": "", "cli/torch_main.cc": "", "cli/tests/run_test.py": ""}, None),
    ("what a program shows, untested", {"cli/verbs/run.cc": ""}, "no run_test.cc beside it"),
    ("what the tests do not see", {"cli/plan/a.cc": "", "cli/tests/run_test.py": ""}, "no a_test.cc beside it"),
    ("what tests share", {"headpond/io/a_test_support.cc": ""}, None),
    ("an exception", {"headpond/io/a.cc": "", "tools/exceptions.txt": "test headpond/io/a.cc covered by b_test.cc\n"}, None),
    ("an exception without reason", {"tools/exceptions.txt": "test headpond/io/a.cc\n"}, "REASON expected"),
    ("a stale exception", {"tools/exceptions.txt": "test headpond/io/a.cc covered by b_test.cc\n"}, "needs no exception"),
]

HINT_CASES = [
    ("short files", {"headpond/io/a.h": "int a;\n" * 150, "cli/a_test.cc": "int a;\n" * 400}, None),
    ("a long header", {"headpond/io/file/a.h": "int a;\n" * 151}, "a.h:1: 151 lines; a header for users is short with 150"),
    ("an internal header", {"headpond/io/a_internal.h": "int a;\n" * 151}, None),
    ("a long file", {"cli/a_test.cc": "int a;\n" * 401}, "short with 400"),
    ("a full folder", {f"headpond/io/a{i}.h": "" for i in range(41)}, "headpond/io: 41 files"),
]

if __name__ == "__main__":
    checks.main(check, CASES, hints, HINT_CASES)
