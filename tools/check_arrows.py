#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The arrows between rooms, and between the folders of a room, read from the includes; what a public header may include; who may
start a thread.

The folders of a room form no cycle. A folder that holds others is several steps of that order, as it has what they use and what uses
them: there each x of x.h, x_internal.h and x.cc counts for itself. Tests may look at all of their room.
"""
import collections
import pathlib
import re

import checks

USES = {
    "base": set(),
    "tensor": {"base"},
    "io": {"base", "tensor"},
    "codec": {"base", "tensor"},
    "queue": {"base", "tensor"},
    "dataset": {"base", "tensor", "io", "queue"},
    "tf1": {"base", "tensor", "io", "queue", "dataset"},
    "engine": {"base", "tensor", "io", "queue", "dataset"},
    "monitor": {"base", "tensor", "io", "queue", "dataset", "tf1", "engine"},
    "plan": {"base", "tensor", "io", "codec", "queue", "dataset", "tf1", "engine", "umbrella"},
    "train": {"base", "tensor", "io", "codec", "queue", "dataset", "tf1", "engine", "monitor"},
}
TORCH_USERS = {"train", "cli", "examples", "benchmarks", "tests", "python"}
STANDARD = set("""algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes
climits clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream functional
future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory memory_resource mutex
new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator semaphore set shared_mutex
source_location span sstream stack stdexcept stop_token streambuf string string_view strstream syncstream system_error thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray variant vector version""".split())
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
NOT_FOR_USERS = "Not for users"
UMBRELLAS = ("headpond.h", "torch.h", "testing.h")
TEST = re.compile(r"_test(_support|_internal)?\.\w+$")
THREAD = re.compile(r"\bstd::j?thread\b(?!::)|\bpthread_create\b|\bstd::async\b")


def room_of(parts):
    """The room or door of a path; "umbrella" for the headers in headpond/ itself."""
    if parts[0] == "headpond":
        return parts[1] if len(parts) > 2 else "umbrella"
    return parts[0]


def umbrella_of(parts):
    """Which of the headers in headpond/ has this public header of a room."""
    if "testing" in parts:
        return "testing.h"
    return "torch.h" if room_of(parts) == "train" else "headpond.h"


def is_public(path):
    """Whether users may include this header: those of the articles' trainings and of pipeline files serve the doors alone."""
    return (len(path.parts) > 2 and not path.name.endswith("_internal.h") and "articles" not in path.parts
            and path.parts[1] != "plan")


def include_findings(path, target, angled):
    """What is wrong with this one include of `path`, or None."""
    room, name = room_of(path.parts), path.name
    public = path.suffix == ".h" and room in USES and is_public(path)
    if target.startswith("headpond/"):
        other = room_of(target.split("/"))
        if angled and (room in USES or room in ("cli", "python")):
            return f"own header {target} in angle brackets"
        if public and target.endswith("_internal.h"):
            return f"public header includes {target}"
        shared_test = target.endswith("_test_internal.h") and re.search(r"_test(_support|_internal)?\.", name)
        measured = name.endswith("_peer_bench.cc")  # A bench may compare with what is not for users.
        drawn = "digits" in path.parts  # The digit set is written as io writes files, and tested by the same faults.
        if target.endswith("_internal.h") and other != room and not (shared_test or measured or drawn):
            return f"{target} belongs to the room {other} alone"
        if room in USES and other != room and other not in USES[room]:
            return f"no arrow from {room} to {other} ({target})"
        if name == "headpond.h" and (other == "train" or target == "headpond/torch.h"):
            return "headpond.h is the library without torch"
        return None
    if re.match(r"(torch|ATen|c10)/", target):
        return None if room in TORCH_USERS or str(path) == "headpond/torch.h" else f"libtorch in {room} ({target})"
    if public and target not in STANDARD and target != "tl/expected.hpp":
        return f"public header includes <{target}>: only the standard library, tl/expected.hpp and headpond/"
    if target.startswith("tests/") and name.endswith(("_test.cc", "_test_support.cc")):
        return None
    if room in USES and not angled:
        return f'"{target}": own headers are included from the root, as "headpond/..."'
    return None


def reached_from(root, umbrella):
    """The headers that a program gets by including this one."""
    reached, ahead = set(), [umbrella]
    while ahead:
        for line in (checks.text(root / ahead.pop()) or "").splitlines():
            include = INCLUDE.match(line)
            if include and include[1] and include[1] not in reached and (root / include[1]).is_file():
                reached.add(include[1])
                ahead.append(include[1])
    return reached


def missing_in_umbrellas(root, paths):
    """Public headers that their umbrella (umbrella_of) does not give. Headers that several rooms share, and users do not need,
    say so in their first lines."""
    for umbrella in UMBRELLAS:
        if (root / "headpond" / umbrella).is_file():
            reached = reached_from(root, f"headpond/{umbrella}")
            for path in paths:
                public = path.suffix == ".h" and path.parts[0] == "headpond" and is_public(path)
                if public and umbrella_of(path.parts) == umbrella and str(path) not in reached:
                    if NOT_FOR_USERS not in "".join((checks.text(root / path) or "").splitlines(True)[:8]):
                        yield (f'headpond/{umbrella}:1: does not include "{path}" (what is not for users is named x_internal.h, or'
                               f' says "{NOT_FOR_USERS}" above its includes)')


def steps_of(paths):
    """For each source: the folder, or the part of a folder that holds others, that its arrows begin and end at."""
    sources = [path for path in paths if path.suffix in (".h", ".cc") and not TEST.search(path.name)
               and (room_of(path.parts) in USES or path.parts[0] == "cli")]
    holders = {folder for path in sources for folder in path.parent.parents}
    return {path: path.with_name(re.sub(r"(_internal)?\.\w+$", ".*", path.name)) if path.parent in holders else path.parent
            for path in sources}


def folder_arrows(root, steps):
    """{step: {step in the same room that it uses: (file, line, file that it includes)}}"""
    arrows = collections.defaultdict(dict)
    for path, step in steps.items():
        for number, line in enumerate((checks.text(root / path) or "").splitlines(), 1):
            include = INCLUDE.match(line)
            target = pathlib.Path(include[1]) if include and include[1] else None
            if target in steps and room_of(target.parts) == room_of(path.parts) and steps[target] != step:
                arrows[step].setdefault(steps[target], (path, number, target))
    return arrows


def way(arrows, start, end):
    """The fewest arrows from start to end, or None."""
    known, ahead = {start: []}, collections.deque([start])
    while ahead and end not in known:
        step = ahead.popleft()
        for after, include in arrows.get(step, {}).items():
            if after not in known:
                known[after] = known[step] + [include]
                ahead.append(after)
    return known.get(end)


def folder_cycles(root, paths):
    """The shortest cycles between folders of a room; of those that share a step one is enough."""
    arrows = folder_arrows(root, steps_of(paths))
    cycles = []
    for step, after in ((step, after) for step in sorted(arrows) for after in sorted(arrows[step])):
        includes = [arrows[step][after]] + (way(arrows, after, step) or [])
        if len({path.parent for path, _, _ in includes}) > 1:
            cycles.append(includes)
    reported = set()
    for includes in sorted(cycles, key=len):
        if reported.isdisjoint(path.parent for path, _, _ in includes):
            reported.update(path.parent for path, _, _ in includes)
            path, number, _ = includes[0]
            yield f"{path}:{number}: a cycle of folders: " + ", ".join(f"{path} includes {target}" for path, _, target in includes)


def check(root):
    paths = checks.files(root)
    findings = list(missing_in_umbrellas(root, paths)) + list(folder_cycles(root, paths))
    for path in paths:
        if path.suffix not in (".h", ".cc"):
            continue
        room = room_of(path.parts)
        if path.parts[0] == "headpond" and room != "umbrella" and room not in USES:
            findings.append(f"{path}:1: {room} is not a room of the table")
            continue
        starts_threads = str(path.with_suffix("")) != "headpond/base/thread" and room in USES and "_test" not in path.name
        for number, line in enumerate((checks.text(root / path) or "").splitlines(), 1):
            include = INCLUDE.match(line)
            wrong = include_findings(path, include[1] or include[2], bool(include[2])) if include else None
            if not include and starts_threads and THREAD.search(line.split("//")[0]):
                wrong = "threads are started through headpond/base/thread.h"
            if wrong:
                findings.append(f"{path}:{number}: {wrong}")
    return findings


CASES = [
    ("arrows that are allowed", {
        "headpond/base/a.h": '#include <span>\n#include <tl/expected.hpp>\n',
        "headpond/queue/q.cc": '#include "headpond/base/a.h"\n#include <fmt/format.h>\nstd::thread::id id;\n',
        "headpond/train/t.h": '#include <torch/torch.h>\n#include "headpond/monitor/m.h"\n',
        "headpond/queue/q.h": '#include "headpond/base/a.h"\n',
        "headpond/headpond.h": '#include "headpond/base/a.h"\n#include "headpond/queue/q.h"\n',
        "cli/main.cc": '#include "headpond/train/t.h"\n#include "verbs.h"\n',
        "examples/a.cc": "#include <headpond/headpond.h>\n"}, None),
    ("a test with the tests' own header", {"headpond/io/a_test.cc": '#include "tests/test_files.h"\n'}, None),
    ("what several tests share with it", {"headpond/io/a_test_support.cc": '#include "tests/test_files.h"\n'}, None),
    ("a source with a test's header", {"headpond/io/a.cc": '#include "tests/test_files.h"\n'}, "included from the root"),
    ("an arrow upwards", {"headpond/base/a.cc": '#include "headpond/tensor/t.h"\n'}, "a.cc:1: no arrow from base to tensor"),
    ("an arrow to a sibling", {"headpond/io/a_test.cc": '#include "headpond/queue/q.h"\n'}, "no arrow from io to queue"),
    ("a room includes the umbrella", {"headpond/io/a.cc": '#include "headpond/headpond.h"\n'}, "no arrow from io to umbrella"),
    ("an unknown room", {"headpond/misc/a.cc": "\n"}, "not a room"),
    ("fmt in a public header", {"headpond/io/a.h": "#include <fmt/format.h>\n"}, "public header includes <fmt/format.h>"),
    ("POSIX in a public header", {"headpond/io/a.h": "#include <unistd.h>\n"}, "public header includes <unistd.h>"),
    ("fmt in an internal header", {"headpond/io/a_internal.h": "#include <fmt/format.h>\n"}, None),
    ("an internal header from a public one", {"headpond/io/a.h": '#include "headpond/io/b_internal.h"\n'}, "public header"),
    ("an internal header of another room", {"cli/a.cc": '#include "headpond/io/b_internal.h"\n'}, "belongs to the room io"),
    ("a bench's peer that is internal", {"cli/a_peer_bench.cc": '#include "headpond/io/b_internal.h"\n'}, None),
    ("a test with what another room's tests share", {"headpond/io/a_test_support.cc": '#include "headpond/base/b_test_internal.h"\n'}, None),
    ("a source with it", {"headpond/io/a.cc": '#include "headpond/base/b_test_internal.h"\n'}, "belongs to the room base"),
    ("libtorch outside its room", {"headpond/queue/a.cc": "#include <torch/torch.h>\n"}, "libtorch in queue"),
    ("an umbrella with a hole", {"headpond/headpond.h": "", "headpond/io/a.h": "", "headpond/io/b_internal.h": ""},
     'headpond.h:1: does not include "headpond/io/a.h"'),
    ("an umbrella that includes through another header", {"headpond/headpond.h": '#include "headpond/io/a.h"\n',
     "headpond/io/a.h": '#include "headpond/io/b.h"\n', "headpond/io/b.h": "",
     "headpond/io/c.h": "// Shared. Not for users.\n"}, None),
    ("the umbrella with torch", {"headpond/headpond.h": '#include "headpond/train/t.h"\n'}, "without torch"),
    ("an umbrella without a header of a folder", {"headpond/headpond.h": "", "headpond/io/text/a.h": ""},
     'headpond.h:1: does not include "headpond/io/text/a.h"'),
    ("the umbrella for tests", {"headpond/headpond.h": "", "headpond/testing.h": "", "headpond/io/testing/a.h": ""},
     'headpond/testing.h:1: does not include "headpond/io/testing/a.h"'),
    ("what serves the programs alone", {"headpond/torch.h": "", "headpond/train/articles/a.h": "#include <fmt/format.h>\n"}, None),
    ("a relative include", {"headpond/io/a.cc": '#include "b.h"\n'}, "from the root"),
    ("an own header in angle brackets", {"cli/a.cc": "#include <headpond/io/b.h>\n"}, "angle brackets"),
    ("folders that use each other", {"headpond/io/a/x.cc": '#include "headpond/io/b/y.h"\n', "headpond/io/b/y.h": "",
     "headpond/io/b/z.cc": '\n#include "headpond/io/a/w.h"\n', "headpond/io/a/w.h": ""},
     "headpond/io/a/x.cc:1: a cycle of folders: headpond/io/a/x.cc includes headpond/io/b/y.h, headpond/io/b/z.cc includes headpond/io/a/w.h"),
    ("three folders in a circle", {f"cli/{a}/x.h": f'#include "cli/{b}/x.h"\n' for a, b in ("ab", "bc", "ca")}, "cli/c/x.h includes cli/a/x.h"),
    ("a folder between those that it holds", {"headpond/io/low.h": "", "headpond/io/a/x.h": '#include "headpond/io/low.h"\n',
     "headpond/io/high.cc": '#include "headpond/io/a/x.h"\n'}, None),
    ("a part of a folder that uses and is used", {"headpond/io/x.h": "", "headpond/io/a/y_internal.h": '#include "headpond/io/x.h"\n',
     "headpond/io/x.cc": '#include "headpond/io/a/y_internal.h"\n'}, "headpond/io/x.cc includes headpond/io/a/y_internal.h"),
    ("a folder beside a part of its name", {"headpond/io/a.h": "", "headpond/io/a/x.cc": '#include "headpond/io/b.h"\n',
     "headpond/io/b.h": '#include "headpond/io/a.h"\n'}, None),
    ("a folder of a folder", {"headpond/io/a/x.h": "", "headpond/io/a/b/y.cc": '#include "headpond/io/a/x.h"\n',
     "headpond/io/a/z.cc": '#include "headpond/io/a/b/y.h"\n', "headpond/io/a/b/y.h": ""}, None),
    ("parts of one folder", {"headpond/io/a/b/c.h": "", "headpond/io/x.h": "", "headpond/io/y.h": '#include "headpond/io/x.h"\n',
     "headpond/io/x.cc": '#include "headpond/io/y.h"\n'}, None),
    ("a test that looks back", {"headpond/io/a/x.h": "", "headpond/io/b/y.h": '#include "headpond/io/a/x.h"\n',
     "headpond/io/a/x_test.cc": '#include "headpond/io/b/y.h"\n'}, None),
    ("a thread by hand", {"headpond/queue/a.cc": "std::jthread worker(work);\n"}, "through headpond/base/thread.h"),
]

if __name__ == "__main__":
    checks.main(check, CASES)
