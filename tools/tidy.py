# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over many sources, each looked at again only after it, a header that it includes, or its flags changed.

Most of clang-tidy's time goes to the headers that every source includes, so sources whose names do not clash are looked at
together, as one that includes them. Where such a group is not clean, the sources in question are looked at alone: what is
reported comes from there, and so does the verdict. What finding clashes misses, the compiler finds before clang-tidy looks.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

TIDY, CLANG = "clang-tidy-16", "clang++-16"
GROUP = 60  # sources
# Looked for at night only: nearly half of the time goes to these, and they find little that the compilers' warnings or the sanitizers do not.
AT_NIGHT = ("bugprone-stringview-nullptr", "bugprone-undelegated-constructor", "bugprone-suspicious-string-compare", "bugprone-standalone-empty",
            "readability-container-size-empty", "bugprone-multiple-statement-macro", "bugprone-suspicious-semicolon", "bugprone-sizeof-expression",
            "bugprone-unused-raii", "bugprone-unused-return-value", "bugprone-assert-side-effect", "misc-unused-using-decls",
            "bugprone-infinite-loop", "bugprone-forward-declaration-namespace")
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.M)
# What a source may define for itself alone, and another of its group, too: names at the begin of a line, and macros.
NAME = re.compile(r"^(?!namespace|extern|return|using namespace)(?:(?:struct|class|union|enum|enum class|using) (\w+)|#\s*define\s+(\w+)|\w[^\n]*?(?<![:\w.>])(\w+)\s*[({=;\[])", re.M)
CONSTANT = re.compile(r"\b(k[A-Z]\w*)\s*[{=\[]")  # One line may define several.
NO_NAMES = {"main", "LLVMFuzzerTestOneInput", "const", "noexcept", "override", "void", "internal", "headpond"}
SETTINGS = {".clang-tidy"}  # They mean something for every source. A new package does only for sources that begin to include it.
ENTRIES = ("main", "LLVMFuzzerTestOneInput")
DROPPED = re.compile(r"-(W(?!thread-safety$).*|fsanitize.*|fno-sanitize.*|f(file-prefix-map=.*|PIC|no-omit-frame-pointer|pch.*)|c|MD|O\d|Og|g\d?)$")
WITH_NEXT = ("-isystem", "-include", "-I")
DROPPED_WITH_NEXT = ("-o", "-MT", "-MF", "-include-pch", "-include")


def cache_folder():
    """Beside the compiler's cache, so that what keeps the one keeps the other."""
    chosen, ccache = os.environ.get("HEADPOND_CACHE"), os.environ.get("CCACHE_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(chosen or (pathlib.Path(ccache, "headpond") if ccache else pathlib.Path(home, "headpond")))


def arguments(entry):
    """The flags of a compile command that say what the source means; no paths of outputs, nothing that only makes code."""
    words = entry["arguments"] if "arguments" in entry else shlex.split(entry["command"])
    compiler = next(at for at, word in enumerate(words) if re.search(r"(\+\+|cc|clang)(-\d+)?$", word) and "ccache" not in word)
    kept, words = [], iter(words[compiler + 1:])
    for word in words:
        if word in DROPPED_WITH_NEXT:
            next(words, None)
        elif word != entry["file"] and not DROPPED.match(word):
            kept.append(word)
    return tuple(kept)


class Sources:
    """What stands in the files of a tree, each read once."""

    def __init__(self, root):
        self.root, self.read = root, {}

    def file(self, path):
        """(digest, files of the tree that it includes, names)"""
        if path not in self.read:
            data = path.read_bytes()
            text = data.decode("utf-8", "replace")
            around = [(self.root / name, path.parent / name) for name in INCLUDE.findall(text)]
            included = [next((at.resolve() for at in places if at.is_file()), None) for places in around]
            names = {next(filter(None, found)) for found in NAME.findall(text) if any(found)} - NO_NAMES
            names |= set(CONSTANT.findall(text))
            self.read[path] = (hashlib.sha256(data).hexdigest(), [at for at in included if at and self.root in at.parents], names)
        return self.read[path]

    def closure(self, path):
        """The files of the tree that decide what this source means, itself among them."""
        found, left = set(), [path]
        while left:
            at = left.pop()
            if at not in found:
                found.add(at)
                left += self.file(at)[1]
        return sorted(found)

    def key(self, path, flags, context):
        """The same for the same text in any clone."""
        parts = [context, json.dumps([word.replace(str(self.root), ".") for word in flags])]
        parts += [f"{at.relative_to(self.root)} {self.file(at)[0]}" for at in self.closure(path)]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def united(all_flags):
    """One list of flags for sources with several: all of theirs, each once. None if two give one macro different values."""
    kept, values = {}, {}
    for flags in all_flags:
        words = iter(flags)
        for word in words:
            kept.setdefault((word, next(words)) if word in WITH_NEXT else (word,))
            name, _, value = word[2:].partition("=")
            if word.startswith("-D") and values.setdefault(name, value) != value:
                return None
    return tuple(word for words in kept for word in words)


def grouped(sources, jobs):
    """Groups of (path, flags) in which no name comes twice, and the flags that serve all of a group."""
    serves_all = united(dict.fromkeys(flags for _, flags in jobs))
    groups = []
    for path, flags in sorted(jobs, key=lambda job: -len(sources.file(job[0])[2])):
        names, shared = sources.file(path)[2], serves_all or flags
        fits = (group for group in groups if group["flags"] == shared and len(group["jobs"]) < GROUP and not group["names"] & names)
        group = next(fits, None)
        if group is None:
            group = {"flags": shared, "jobs": [], "names": set()}
            groups.append(group)
        group["jobs"].append((path, flags))
        group["names"] |= names
    return groups


def command(text, *words, cwd):
    done = subprocess.run([TIDY, "--quiet", *left_out(), *words], cwd=cwd, input=text, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def left_out():
    """The words that leave out what is for the night."""
    return () if os.environ.get("HEADPOND_NIGHTLY") else ("--checks=" + ",".join(f"-{check}" for check in AT_NIGHT),)


def look_alone(path, flags, folder):
    return command(None, str(path), "--", *flags, cwd=folder)


def together(paths, folder):
    """A source that includes these."""
    text = ""
    for number, path in enumerate(paths):
        text += "".join(f"#define {name} {name}_{number}\n" for name in ENTRIES)
        text += f'#include "{path}"  // NOLINT(bugprone-suspicious-include)\n' + "".join(f"#undef {name}\n" for name in ENTRIES)
    group = folder / f"group_{hashlib.sha256(text.encode()).hexdigest()[:16]}.cc"
    group.write_text(text, encoding="utf-8")
    return group


def accused(paths, output):
    """(those that the output names, whether it names another file: a header, which any of them may include)"""
    said = set(re.findall(r"^(\S+):\d+:\d+: (?:fatal error|error|warning):", output, re.M))
    return [path for path in paths if str(path) in said], bool(said - set(map(str, paths)))


def including(paths, output):
    """Those that errors of the compiler are in, or in a header that they include: of two headers that clash, the later one is named."""
    said, stack = set(), []
    for line in output.splitlines():
        if above := re.match(r"In file included from (\S+?):\d+:", line):
            stack.append(above[1])
        elif found := re.match(r"(\S+?):\d+:\d+: (?:(?:fatal )?(error)|\w+):", line):
            said.update([*stack, found[1]] if found[2] else [])
            stack = []
    return [path for path in paths if str(path) in said]


def parted(group, folder):
    """The group's sources that have a meaning together, and those whose names clash with theirs all the same: the compiler sees it in a
    seventh of the time."""
    paths, apart = sorted(path for path, _ in group["jobs"]), []
    while len(paths) > 1:
        source = together(paths, folder)
        words = [CLANG, "-fsyntax-only", "-w", "-ferror-limit=0", *group["flags"], str(source)]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        source.unlink()
        if done.returncode == 0:
            break
        named = including(paths, done.stderr) or paths[len(paths) // 2:]
        named = named if len(named) < len(paths) else named[len(named) // 2:]
        apart += named
        paths = [path for path in paths if path not in named]
    return paths, apart


def look(group, folder):
    """Yields (path, output or None where the source is clean)."""
    own = dict(group["jobs"])
    paths, apart = parted(group, folder)
    status, named = 1, paths
    if len(paths) > 1:
        source = together(paths, folder)
        status, output = command(None, r"--header-filter=.*\.(h|cc)$", str(source), "--", *group["flags"], cwd=folder)
        source.unlink()
        named, elsewhere = accused(paths, output)
        named = paths if elsewhere or not named else named
    for path in paths:
        alone, said = (0, "") if status == 0 or path not in named else look_alone(path, own[path], folder)
        yield path, said if alone else None
    if apart:
        yield from look({"flags": group["flags"], "jobs": [(path, own[path]) for path in apart]}, folder)


def versions(root):
    """The tool, its settings, and the packages whose headers a source may include."""
    tool = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=False).stdout
    packages = [line.split("#")[0].strip() for line in (root / "tools/packages.txt").read_text(encoding="utf-8").splitlines()] \
        if (root / "tools/packages.txt").exists() else []
    packages = [name for name in packages if name.endswith("-dev") or name == "g++"]
    try:
        known = subprocess.run(["dpkg-query", "-W", *packages], capture_output=True, text=True, check=False).stdout
    except OSError:
        known = ""
    return tool + "".join(left_out()) + known + (root / ".clang-tidy").read_text(encoding="utf-8") + pathlib.Path(__file__).read_text(encoding="utf-8")


def changed(root, commits):
    """The files of the tree that the last `commits` commits changed, or that are not committed. None where git cannot say, or settings are among them."""
    said = ""
    for words in (("log", f"-n{commits}", "--root", "-m", "--name-only", "--relative", "--format="), ("diff", "--name-only", "--relative", "HEAD"),
                  ("ls-files", "--others", "--exclude-standard")):
        try:
            said += subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            return None
    names = {name for name in said.splitlines() if name}
    return None if names & SETTINGS else {(root / name).resolve() for name in names}


def showing(sources, paths, files):
    """Of these sources the ones in which clang-tidy sees `files`: themselves, and for a header the source of its name, else one that includes
    it, itself or by another header."""
    chosen = {path for path in paths if path in files}
    closures = {path: set(sources.closure(path)) for path in paths}
    for header in files - chosen:
        including = [path for path in paths if header in closures[path]]
        chosen.update([path for path in including if path.stem == header.stem] or including[:1])
    return chosen


def findings(root, commands, folder, stamps, say=print, commits=None):
    """What clang-tidy says about these compile commands; a source that is in several targets is looked at once. With `commits`: only about
    what so many last commits changed."""
    root = root.resolve()
    sources, context = Sources(root), versions(root)
    entries = {pathlib.Path(entry["file"]).resolve(): arguments(entry) for entry in commands}
    jobs = [(path, flags) for path, flags in sorted(entries.items()) if root in path.parents]
    keys = {path: sources.key(path, flags, context) for path, flags in jobs}
    stamps.mkdir(parents=True, exist_ok=True)
    due = [(path, flags) for path, flags in jobs if not (stamps / keys[path]).exists()]
    files = changed(root, commits) if commits is not None else None
    if files is not None:
        wanted = showing(sources, [path for path, _ in jobs], files)
        due = [(path, flags) for path, flags in due if path in wanted]
    groups = grouped(sources, due)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / ".clang-tidy").write_text((root / ".clang-tidy").read_text(encoding="utf-8"), encoding="utf-8")
    said = []

    def one(group):
        for path, output in look(group, folder):
            if output is None:
                (stamps / keys[path]).touch()
            else:
                said.append(output)

    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(one, sorted(groups, key=lambda group: -len(group["jobs"]))))
    say(f"clang-tidy: {len(jobs)} sources, {len(due)} of them looked at, in {len(groups)} groups")
    return said
