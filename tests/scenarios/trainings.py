# SPDX-License-Identifier: Apache-2.0
"""Scenario 20: the example programs that train, run, stopped and started again as their users do it."""
import concurrent.futures
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import threading
import time

from processes import LIMIT_S, Missed, Skipped

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
from check_events import TABLE  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
LOSS = re.compile(r"epoch (\d+), batch (\d+): loss (\S+)\n")
RESULT = re.compile(r"test accuracy after (\d+) steps: ([\d.]+); the training waited ([\d.]+) % of its time for batches\n")
TICKS = os.sysconf("SC_CLK_TCK")
SAVE_STEPS = 10  # Of both programs.


class Training:
    """A program, what it trains on, and for how long: steps of the pictures, epochs of the sounds."""

    def __init__(self, driver, name, folder, length):
        self.driver, self.source = driver, EXAMPLES / f"{name}.cc"
        self.program = pathlib.Path(driver.program).parents[2] / "examples" / name
        self.folder, self.length = os.path.join(driver.place, folder), length

    def start(self, model, length=None):
        command = [self.program, self.folder, str(length or self.length), os.path.join(self.driver.place, model)]
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, "XDG_CACHE_HOME": os.path.join(self.driver.place, "kept")})


def trainings(driver):
    return {"images": Training(driver, "20_train_images", "pictures", 300 if driver.full else 140),
            "sounds": Training(driver, "18_train_spoken", "sounds", 12 if driver.full else 4)}


def processor_s(path):
    """Of a process, or of one of its threads."""
    fields = pathlib.Path(path).read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


class Part:
    """What one process said. `stop`: after so many steps, and so many seconds more, it gets a signal."""

    def __init__(self, process, stop=None):
        self.losses, self.said, self.times = {}, [], []
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        for line in process.stderr:
            found = LOSS.fullmatch(line)
            if not found:
                self.said.append(line)
                continue
            self.losses[tuple(map(int, found.group(1, 2)))] = found[3]
            if stop is None:  # It is still in this step.
                pid = process.pid
                self.times.append((processor_s(f"/proc/{pid}/stat"), processor_s(f"/proc/{pid}/task/{pid}/stat")))
            elif len(self.losses) == stop[0]:
                time.sleep(stop[1])
                process.send_signal(stop[2])
        output, _ = process.communicate()
        limit.cancel()
        self.status, self.result = process.returncode, RESULT.fullmatch(output)

    def finished(self):
        if self.status != 0 or not self.result:
            raise Missed(f"a training: status {self.status}: {''.join(self.said)[-500:]}")
        return self

    def data_over_model(self):
        """Processor time of all other threads over that of the thread that trains, from the first step to the last one."""
        (all_0, own_0), (all_1, own_1) = self.times[0], self.times[-1]
        return (all_1 - all_0 - (own_1 - own_0)) / (own_1 - own_0)


def differences(whole, parts):
    """How many steps have another loss than the whole run's in one of the parts, or are in one of both only."""
    seen = {}
    for part in parts:
        for step, loss in part.losses.items():
            seen.setdefault(step, set()).add(loss)
    return sum(seen.get(step) != {whole.losses.get(step)} for step in set(seen) | set(whole.losses))


def broken(training, whole, choose):
    """The parts of a run that is stopped at random moments, by turns interrupted and killed, and goes on."""
    parts, steps = [], len(whole.losses)
    for kill in range(8 if training.driver.full else 3):
        left = steps - len(set().union(*(part.losses for part in parts))) // SAVE_STEPS * SAVE_STEPS
        least = 2 if parts else SAVE_STEPS + 2
        stop = (choose.randrange(least, max(left // 2, least) + 1), choose.uniform(0, 0.3), (signal.SIGINT, signal.SIGKILL)[kill % 2])
        parts.append(Part(training.start("broken-" + training.program.name), stop))
    parts.append(Part(training.start("broken-" + training.program.name)).finished())
    return parts


def stopped_figures(training, whole, choose):
    parts = broken(training, whole, choose)
    later = [min(part.losses) for part in parts[1:] if part.losses]  # One may find that nothing is left to do.
    return {"differ": differences(whole, parts), "same_accuracy": parts[-1].result.group(1, 2) == whole.result.group(1, 2),
            "stopped_by": sorted({-part.status for part in parts if part.status < 0}),
            "went_on": sum(first > (0, 0) for first in later), "started_again": len(later)}


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ crc >> 8
    return f"{crc ^ 0xFFFFFFFF:08x}"


def newest(model):
    return max(pathlib.Path(model).glob("checkpoint-*"), key=lambda path: int(path.name.split("-")[1]))


def forget_position(model):
    """The newest checkpoint gets the data position of the first one, which is that of the begin."""
    checkpoint, state = newest(model), (pathlib.Path(model) / "checkpoint-0" / "data.state").read_bytes()
    text = (checkpoint / "manifest.json").read_text(encoding="ascii")
    manifest = json.loads(text)
    at = manifest["files"].index("data.state")
    manifest["bytes"][at], manifest["crc32c"][at] = len(state), crc32c(state)
    del manifest["checksum"]
    body = json.dumps(manifest, separators=(",", ":"))[:-1]
    (checkpoint / "manifest.json").write_text(f'{body},"checksum":"{crc32c(body.encode())}"}}\n', encoding="ascii")
    (checkpoint / "data.state").write_bytes(state)


def forgotten(training):
    """(a run of 3 x SAVE_STEPS steps, the parts of one that forgets its data position after 2 x SAVE_STEPS)."""
    whole = Part(training.start("whole", 3 * SAVE_STEPS)).finished()
    parts = [Part(training.start("forgets", 2 * SAVE_STEPS)).finished()]
    forget_position(os.path.join(training.driver.place, "forgets"))
    return whole, parts + [Part(training.start("forgets", 3 * SAVE_STEPS)).finished()]


def shift_labels(driver):
    """Of the training's files each has the next label; those of the test stay."""
    train = pathlib.Path(driver.place, "pictures/train")
    kinds = sorted(path.name for path in train.iterdir())
    for kind in kinds:
        (train / kind).rename(train / f"{kind}.old")
    for kind, other in zip(kinds, kinds[1:] + kinds[:1]):
        (train / f"{kind}.old").rename(train / other)
    sounds = pathlib.Path(driver.place, "sounds")
    old = [path for path in sounds.iterdir() if int(path.stem.split("_")[2]) >= 5]
    for path in [path.rename(path.with_suffix(".old")) for path in old]:
        path.rename(sounds / f"{(int(path.name[0]) + 1) % 10}{path.stem[1:]}.wav")


def control(driver):
    shift_labels(driver)
    all_trainings = trainings(driver)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        shifted = {name: pool.submit(lambda one: Part(one.start("shifted-" + one.program.name)).finished(), training)
                   for name, training in all_trainings.items()}
        whole, parts = pool.submit(forgotten, all_trainings["images"]).result()
        accuracy = {name: float(part.result().result[2]) for name, part in shifted.items()}
    return {"images": {"accuracy": accuracy["images"], "differ": differences(whole, parts)},
            "sounds": {"accuracy": accuracy["sounds"]}}


def ours(driver):
    """Alone: what is measured. Two at a time: what is stopped and goes on."""
    figures, wholes, choose = {}, {}, random.Random(20)
    for name, training in trainings(driver).items():
        wholes[name] = whole = Part(training.start("whole-" + training.program.name)).finished()
        checkpoint = newest(os.path.join(driver.place, "whole-" + training.program.name))
        figures[name] = {"accuracy": float(whole.result[2]), "steps": int(whole.result[1]), "wait_share": float(whole.result[3]) / 100,
                         "data_over_model": whole.data_over_model(), "stored": sorted(path.name for path in checkpoint.iterdir()),
                         "lines": len(training.source.read_text(encoding="utf-8").splitlines())}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        stopped = {name: pool.submit(stopped_figures, training, wholes[name], random.Random(choose.randrange(1 << 32)))
                   for name, training in trainings(driver).items()}
        for name, found in stopped.items():
            figures[name].update(found.result())
    command = [pathlib.Path(driver.program).with_name("headpond_scenarios_tensors"), os.path.join(driver.place, "pictures")]
    figures["tensors"] = json.loads(subprocess.run(command, stdout=subprocess.PIPE, timeout=LIMIT_S, check=True).stdout)
    return figures


def train_from_cpp(driver, mode):
    if not all(training.program.exists() for training in trainings(driver).values()) or not driver.figures("corpus")["jpeg"]:
        raise Skipped("the programs are not built: they need libtorch and libjpeg-turbo")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    return control(driver) if mode == "control" else ours(driver)
