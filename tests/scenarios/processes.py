# SPDX-License-Identifier: Apache-2.0
"""The scenarios that need several processes: fresh ones, killed ones, two at once, one that a watchdog ends."""
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import check_timeline  # noqa: E402

LIMIT_S = 600
NOT_BUILT_IN = 77  # The driver's status.
DRIVER_IN_PYTHON = str(pathlib.Path(__file__).resolve().parent / "python" / "driver.py")


class Missed(Exception):
    """The driver gave no figures."""


class Skipped(Exception):
    """What the scenario needs is not on this machine."""


def written_files(folder):
    """Size and time of the last write of each file that a corpus has."""
    found = {}
    for file in pathlib.Path(folder).rglob("*"):
        if file.is_file() and file.name not in ("corpus.json", "corpus_files.json"):
            facts = file.stat()
            found[str(file.relative_to(folder))] = [facts.st_size, facts.st_mtime_ns]
    return found


class Driver:
    """A driver with the folders of one scenario: `place` is its own, `files` that of the corpus, which all modes and both
    interfaces share. `python`: the interpreter that has the package, for the driver in Python; None: the one in C++."""

    def __init__(self, program, number, full, place, files, python=None):
        self.program, self.number, self.full, self.place, self.files, self.python = program, number, full, place, files, python

    def command(self, mode, values):
        pairs = [word for name, value in values.items() for word in ("--with", f"{name}={value}")]
        driver = [self.program] if self.python is None else [self.python, DRIVER_IN_PYTHON]
        return [*driver, str(self.number), mode, "--place", self.place] + (["--full"] if self.full else []) + pairs

    def start(self, mode, kept="kept", **values):
        """A process; `kept` is its folder for what Headpond keeps of files."""
        env = {**os.environ, "XDG_CACHE_HOME": os.path.join(self.place, kept)}
        return subprocess.Popen(self.command(mode, values), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=env)

    def finish(self, process, limit=LIMIT_S):
        """(status, output, errors); Missed at the limit."""
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Missed(f"{' '.join(process.args[1:4])}: no end after {limit} s") from None
        return process.returncode, output, errors

    def run(self, mode, kept="kept", **values):
        return self.finish(self.start(mode, kept, **values))

    def read(self, process):
        status, output, errors = self.finish(process)
        if status == NOT_BUILT_IN:
            raise Skipped(errors.strip())
        if status != 0:
            raise Missed(f"{' '.join(process.args[1:4])}: status {status}: {errors.strip()[-500:]}")
        return {**json.loads(output), "errors": errors}

    def figures(self, mode, kept="kept", **values):
        return self.read(self.start(mode, kept, **values))

    def corpus(self):
        """Puts the files that the driver in C++ writes into the place, with what it says of them as corpus.json, and returns that. All
        modes have the same files under names of their own, so none may write into them: whoever changes one makes a new file."""
        said, known = pathlib.Path(self.files, "corpus.json"), pathlib.Path(self.files, "corpus_files.json")
        if not said.exists():
            writer = Driver(self.program, self.number, self.full, self.files, self.files)
            figures = writer.figures("corpus")
            known.write_text(json.dumps(written_files(self.files)), encoding="utf-8")
            said.write_text(json.dumps(figures), encoding="utf-8")
            for file in pathlib.Path(self.files).rglob("*"):
                if file.is_file():
                    file.chmod(0o444)
        before, now = json.loads(known.read_text(encoding="utf-8")), written_files(self.files)
        changed = [name for name in before if now.get(name) != before[name]]
        if changed:
            raise Missed(f"a file that all modes share was written to: {changed[0]}")
        shutil.copytree(self.files, self.place, copy_function=os.link, dirs_exist_ok=True)
        return json.loads(said.read_text(encoding="utf-8"))


def one(driver, mode):
    return driver.figures(mode)


def with_files(driver, mode):
    driver.corpus()
    return driver.figures(mode)


def shuffle_quality(driver, mode):
    driver.corpus()
    figures = driver.figures(mode)
    if mode == "ours":
        peaks = [driver.figures(kind)["peak_kib"] for kind in ("memory_shuffled", "memory_plain")]
        figures["shuffle_adds_kib"] = peaks[0] - peaks[1]
    return figures


def starved_trainer(driver, mode):
    figures = driver.figures(mode)
    if mode == "ours":
        folder = pathlib.Path(figures["folder"])
        if driver.python is None:  # RunLog, which writes the file, is C++'s.
            figures["json"] = json.loads((folder / "verdict.json").read_text(encoding="utf-8"))["pipelines"][0]
        figures["timeline_faults"] = check_timeline.check((folder / "timeline.json").read_bytes())[0]
    return figures


def memory_ceiling(driver, mode):
    figures = driver.figures(mode)
    if mode == "ours":
        figures["limited"] = driver.figures("limited")
    return figures


def first_batch(driver, mode):
    """By what is measured, figures of processes of their own, which take turns."""
    driver.corpus()
    rounds = range(-1, 5)  # The first one warms up.
    if mode == "control":
        firsts = [(driver.figures("eager")["first_batch_s"], driver.figures("listing")["listing_s"]) for _ in rounds][1:]
        return {"manifest_s": [first for first, _ in firsts], "listing_s": [listing for _, listing in firsts]}
    taken = {name: [] for name in ("start_s", "indexed_s", "unindexed_s", "one_thread_s", "sixteen_threads_s", "manifest_s",
                                   "listed_s", "listing_s")}
    reads = []
    for number in rounds:
        began = time.monotonic()
        driver.figures("start")
        now = {"start_s": time.monotonic() - began, "listing_s": driver.figures("listing")["listing_s"]}
        for name, kind, kept, values in (
                ("unindexed_s", "records", f"new{number}", {}), ("indexed_s", "records", f"new{number}", {}),
                ("one_thread_s", "records", f"new{number}", {"threads": 1}),
                ("sixteen_threads_s", "records", f"new{number}", {"threads": 16}),
                ("manifest_s", "manifest", f"new{number}", {}), ("listed_s", "directory", f"new{number}", {})):
            figures = driver.figures(kind, kept, **values)
            now[name] = figures["first_batch_s"]
            if driver.python is None:
                reads.append((figures["read_calls"], figures["read_bytes"]))
        if number >= 0:
            for name, value in now.items():
                taken[name].append(value)
    if driver.python is not None:  # Python reads its modules meanwhile, so the builds are looked at alone.
        built = [driver.figures("building", kind=kind) for kind in ("records", "manifest", "directory")]
        reads = [(figures["read_calls"], figures["read_bytes"]) for figures in built]
    return {**taken, "reads_while_building": max(max(pair) for pair in reads)}


def parts(driver, seed, **values):
    """(epoch and digest of each batch, state after the last one, in hexadecimal; whether it was killed)."""
    out = os.path.join(driver.place, "part")
    status, _, errors = driver.run("part", seed=seed, out=out, **values)
    if status not in (0, -signal.SIGKILL):
        raise Missed(f"part: status {status}: {errors.strip()[-500:]}")
    lines = pathlib.Path(out).read_text(encoding="ascii").split("\n")[:-1]  # A line that was not ended does not count.
    fields = [line.split(" ") for line in lines]
    return [tuple(line[:2]) for line in fields], fields[-1][2] if fields else "", status != 0


def joined(driver, seed, kills, **values):
    """The batches of a run that is killed after `kills[0]` batches, goes on, is killed after `kills[1]` more, and so on."""
    state_file = os.path.join(driver.place, "state")
    taken, state, _ = parts(driver, seed, kill=kills[0], **values)
    for kill in list(kills[1:]) + [-1]:
        pathlib.Path(state_file).write_text(state, encoding="ascii")
        more, last, _ = parts(driver, seed, **{"from": state_file}, kill=kill, **values)
        taken, state = taken + more, last or state
    return taken


def exact_resume(driver, mode):
    driver.corpus()
    choose = random.Random(9)
    extra = {"producer": 1} if mode == "control" else {}
    pairs = 4 if mode == "control" else 100 if driver.full else 16
    differ, epochs = [], set()
    for pair in range(pairs):
        seed = choose.randrange(2, 1_000_000)
        whole, _, _ = parts(driver, seed)
        lengths = [sum(1 for epoch, _ in whole if epoch == str(number)) for number in range(2)]
        epochs.add(tuple(length > 0 for length in lengths))
        special = [1, lengths[0], lengths[0] + 1, len(whole) - 1]
        kills = [special[pair // 2 % 4] if pair < 8 else choose.randrange(1, len(whole))]
        if pair % 4 == 3:  # Twice in one epoch.
            kills = [choose.randrange(1, lengths[0] // 2), choose.randrange(1, lengths[0] // 2)]
        if joined(driver, seed, kills, later_us=choose.randrange(0, 4000), **extra) != whole:
            differ.append({"seed": seed, "kills": kills})
    figures = {} if mode == "control" else driver.figures("ours")
    return {**figures, "pairs": pairs, "differ": differ, "epochs_have_batches": epochs == {(True, True)}}


def damaged_files(driver, mode):
    driver.corpus()
    if mode == "control":
        try:
            driver.finish(driver.start("control"), limit=10)
            return {"ended": True}
        except Missed:
            return {"ended": False}
    figures = driver.figures("ours")
    status, _, errors = driver.run("limited")
    return {**figures, "ended": True, "limited_status": status, "limited_error": errors.strip()}


def interrupt(driver, after_s):
    """(seconds from the signal to the end, whether it ended well and left nothing)."""
    with subprocess.Popen(driver.command("victim", {}), cwd=driver.place, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as victim:
        ready = victim.stderr.readline() == "ready\n"
        time.sleep(after_s)
        began = time.monotonic()
        victim.send_signal(signal.SIGINT)
        try:
            output, errors = victim.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            victim.kill()
            return 20.0, False
        elapsed = time.monotonic() - began
    try:
        os.killpg(victim.pid, 0)
        alone = False
    except ProcessLookupError:
        alone = True
    return elapsed, ready and alone and victim.returncode == 0 and not errors and "batches" in json.loads(output)


def errors_and_stops(driver, mode):
    figures = driver.figures(mode)
    if mode == "control":
        return figures
    choose = random.Random(5)
    with tempfile.TemporaryDirectory() as place:
        alone = Driver(driver.program, 13, driver.full, place, place, driver.python)
        shared = set(os.listdir("/dev/shm")) if os.path.isdir("/dev/shm") else set()
        ends = [interrupt(alone, choose.uniform(0, 0.3)) for _ in range(50 if driver.full else 12)]
        more = set(os.listdir("/dev/shm")) - shared if shared else set()
        left = os.listdir(place) + [name for name in more if "headpond" in name]
    figures["interrupt_s"] = [round(seconds, 4) for seconds, _ in ends]
    figures["interrupts_clean"] = all(clean for _, clean in ends) and not left
    return figures


def flip_a_byte(folder):
    """In the middle of the largest file below the folder."""
    largest = max((path for path in pathlib.Path(folder).rglob("*") if path.is_file()), key=lambda path: path.stat().st_size)
    with open(largest, "r+b") as file:
        file.seek(largest.stat().st_size // 2)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 1]))


def cache_life(driver, mode):
    images = driver.corpus()["images"]
    if mode == "control":  # The key does not have what changed: the function's version is the old one.
        driver.figures("epochs", folder="a")
        return {"images": images, "changed": driver.figures("epochs", folder="a", brighter=9)}
    status, _, errors = driver.run("epochs", folder="a", kill_at=images * 6 // 10)
    if status != -signal.SIGKILL:
        raise Missed(f"the run that is killed: status {status}: {errors[-500:]}")
    found = {"images": images, "after_kill": driver.figures("epochs", folder="a", epochs=2)}
    found["changed"] = driver.figures("epochs", folder="a", brighter=9, version=1)
    found["quota"] = driver.figures("epochs", folder="quota", epochs=2, disk=50_000_000)
    two = [driver.start("epochs", folder="two", seed=seed) for seed in (1, 2)]
    found["two"] = [driver.read(process) for process in two]
    found["lock_files"] = [path.name for path in pathlib.Path(driver.place).rglob("*") if "lock" in path.name]
    found["partial"] = driver.figures("epochs", folder="partial", elements=10)
    found["rest"] = driver.figures("epochs", folder="partial")
    flip_a_byte(os.path.join(driver.place, "two"))
    found["flipped"] = driver.figures("epochs", folder="two")
    if driver.full:  # In the quick form there are fewer bytes than the budget has.
        found["budget"] = 512 << 20
    found["again"] = driver.figures("epochs", folder="two", epochs=2, memory=512 << 20)
    return found
