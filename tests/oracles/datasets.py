#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random pipelines, each by tf.data and by `headpond run`: all elements, their dtypes and shapes, where the first error is and of
which kind, and the cardinality must agree.

  datasets.py PROGRAM [--pipelines 2000] [--seed 1] [--first 0] [--only OPERATOR] [--show]

Needs TensorFlow and xxhash (tests/slow/datasets.py makes an environment with them). Pipeline N of a seed is always the same. A
pipeline that differs is printed, cut down to its first steps that still differ. Where the two differ on purpose is in NAMED (dataset_differences.py).
Ends with 1 if one differs, if a control fails, or if tf.data crashes or never ends for more than 5 pipelines and 1 % of them.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import typing

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # Else it says that it has them.
import tensorflow as tf  # noqa: E402

import dataset_operators  # noqa: E402
import dataset_regrouping  # noqa: E402,F401
from dataset_differences import LIMIT, difference, ops, why_named  # noqa: E402
from dataset_files import Files  # noqa: E402
from dataset_operators import INT, MOST, ROWS, SOURCES, step  # noqa: E402
from dataset_outcomes import CALL, Headpond, Outcome, by_tf_data  # noqa: E402
from dataset_plans import Field, Flow, Step, steps_of, written  # noqa: E402

# Seconds without a result, more than these calls and TensorFlow's start take: tf.data goes through something for ever, as ignore_errors
# does above an error that comes again.
LONGEST = 4 * CALL + 40
CONTROLS = 900  # Seconds for all controls.


# ---- draws ------------------------------------------------------------------------------------------------------------------

class Number(typing.NamedTuple):
    """A count: in a chain that is made for an element it may be one of its fields."""
    toml: object
    value: typing.Callable  # (outer) -> number or tensor


class Draw:
    def __init__(self, rng, files, known):
        self.rng, self.files, self.known = rng, files, known
        self.outer = ()  # Integer fields of the element that this chain is made for.
        self.depth = 2
        self.chains = 0

    def chance(self, part):
        return self.rng.random() < part

    def number(self, low, high):
        if self.outer and self.chance(0.3):
            name = self.rng.choice(self.outer).name
            return Number(f"{{{name}}}", lambda outer: tf.cast(outer[name], tf.int64))
        number = self.rng.randint(low, high)
        return Number(number, lambda outer: number)

    def name(self):
        self.chains += 1
        return f"c{self.chains}"

    def extended(self, chain, count, only=None):
        for _ in range(count):
            flow = chain[-1].flow
            fitting = [draw for name, (fits, draw) in ROWS.items()
                       if name in self.known and fits(flow) and (only is None or name in only) and
                       (self.depth > 0 or name not in ("flat_map", "interleave"))]
            ignore = ROWS["ignore_errors"]
            if ignore[1] in fitting and self.chance(0.3):
                fitting = [ignore[1]]
            if fitting and len(flow.fields) < 12 and (flow.most <= MOST or flow.endless):
                chain = [*chain, self.rng.choice(fitting)(self, flow)]
        return chain

    def chain(self):
        """A name, and a chain of a few steps."""
        self.depth -= 1
        sources = [draw for name, draw in SOURCES.items() if name in self.known - UNORDERED and (self.depth > 0 or name in SIMPLE)]
        made = self.name(), self.extended(self.rng.choice(sources)(self), self.rng.randint(0, 2), set(ROWS) - UNORDERED)
        self.depth += 1
        return made

    def alike(self, count, kind=None, fails=True):
        """Chains with the same field."""
        kind = kind or self.rng.choice(["ints", "ints", "batches", "texts"])
        made = []
        for _ in range(count):
            if kind == "texts":
                chain = self.rng.choice([SOURCES["text_lines"], SOURCES["tfrecord"], SOURCES["list_files"]])(self)
            else:
                chain = SOURCES["range"](self)
                if self.chance(0.4):
                    chain.append(doubled(chain[-1].flow))
            chain = self.extended(chain, self.rng.randint(0, 2), PLAIN | ({"filter"} if fails and kind != "texts" else set()))
            if kind == "batches":
                chain = self.extended(chain, 1, {"batch"})
            made.append((self.name(), chain))
        return made

    def nested(self, flow):
        """The chain of flat_map or interleave over `flow`."""
        outer, self.outer = self.outer, tuple(dataset_operators.int_scalars(flow.fields))
        self.depth -= 1
        if self.outer and self.chance(0.5):
            stop = self.rng.choice(self.outer).name
            chain = [Step("range", {"stop": f"{{{stop}}}"},
                          lambda datasets, outer: tf.data.Dataset.range(tf.cast(outer[stop], tf.int64)), Flow(INT, 5)),
                     step("take", {"count": 5}, lambda ds: ds.take(5), Flow(INT, 5))]
        else:
            names = [field.name for field in flow.fields]
            fixed = not any(None in field.dims for field in flow.fields)
            chain = ([Step("element", {}, lambda datasets, outer: tf.data.Dataset.from_tensors(
                         outer[names[0]] if len(names) == 1 else tuple(outer[name] for name in names)), Flow(flow.fields, 1))]
                     if fixed else SOURCES["range"](self))
        chain = self.extended(chain, self.rng.randint(0, 3), NESTABLE)
        self.depth += 1
        self.outer = outer
        return self.name(), chain


def doubled(flow):
    return step("map", {"function": "x * 2 + 1"}, lambda ds: ds.map(lambda x: x * 2 + 1), flow.but(fields=INT))


SIMPLE = {"range", "npy", "tfrecord", "text_lines", "list_files", "fixed_length"}
UNORDERED = {"shuffle", "sample_from_datasets"}
PLAIN = {"take", "skip", "shard", "repeat", "prefetch", "cache"}
NESTABLE = {"map", "filter", "take", "skip", "repeat", "batch", "enumerate", "take_while", "shard", "flat_map", "interleave", "unbatch"}


def drawn(files, known, seed, number, only):
    """Pipeline `number`; None if it lacks the operator `only`."""
    rng = random.Random(f"{seed} {number}")
    draw = Draw(rng, files, known)
    chain = draw.extended(rng.choice([source for name, source in SOURCES.items() if name in known])(draw), rng.randint(1, 5))
    return chain if only is None or only in [own.op for own in steps_of(chain)] else None


# ---- runs --------------------------------------------------------------------------------------------------------------------

class Oracle:
    def __init__(self, args, folder, results):
        self.args = args
        self.headpond = Headpond(args.program, folder)
        self.files = Files(pathlib.Path(folder) / "data")
        self.known = {name for name in {*ROWS, *SOURCES} if self.headpond.knows(name)}
        if "interleave" in self.known:
            self.known.add("interleave_inputs")
        if self.headpond.takes("range", "output_type"):
            self.known.add("typed_range")
        if self.headpond.takes("cache", "filename"):
            self.known.add("cache.filename")
        self.counts = collections.Counter()
        self.named = collections.Counter()
        self.facts = collections.Counter()
        self.failed = []
        self.results = results
        self.by_tf_data = by_tf_data

    def fail(self, number):
        """Saved at once: what comes next may never end. `number` isn't counted as compared before the end of check()."""
        if number not in self.failed:
            self.failed.append(number)
        self.results.save(self, number)

    def compared(self, chain, number, change=None):
        """What differs, and both outcomes. `change`: of Headpond's chain."""
        flow = chain[-1].flow
        rng = random.Random(number)
        limit = 100_000 if flow.unordered else LIMIT
        epochs = 2 if not flow.fails and not flow.endless and rng.random() < 0.2 else 1
        self.results.begin(number, "tf.data", chain)
        theirs = self.by_tf_data(chain, limit, epochs)
        own = change(chain) if change else chain
        self.results.begin(number, "headpond", own)
        ours = self.headpond.run(written(own), own[-1].flow.fields, limit, epochs, rng.choice([0, 1, 2]))
        return difference(flow, theirs, ours, limit, epochs), theirs, ours

    def check(self, number):
        chain = drawn(self.files, self.known, self.args.seed, number, self.args.only)
        if chain is None:
            return
        what, theirs, ours = self.compared(chain, number)
        self.counts.update(set(ops(chain)))
        self.note(theirs, ours)
        self.check_window(chain, number)
        if self.args.show:
            print(number, ops(chain), len(theirs.elements), theirs.error or theirs.cardinality, what or "the same", flush=True)
        if not what:
            return
        why = why_named(chain, what, theirs, ours)
        if why:
            self.named[why] += 1
            return
        self.report(number, chain, what, theirs, ours)
        self.fail(number)
        smaller, *found = self.smallest(chain, number)
        if len(list(steps_of(smaller))) < len(list(steps_of(chain))):
            self.report(f"{number}, cut down", smaller, *found)

    def check_window(self, chain, number):
        """Before a shuffle with a window, elements are numbered: each moves by less than two windows."""
        at = next((i for i, own in enumerate(chain) if own.op == "shuffle" and "window" in own.args), None)
        if at is None or "index" in [field.name for field in chain[at - 1].flow.fields]:
            return
        numbered = ROWS["enumerate"][1](Draw(random.Random(number), self.files, self.known), chain[at - 1].flow)
        start, window = numbered.args["start"], chain[at].args["window"]
        text = written([*chain[:at], numbered, Step("shuffle", {"window": window}, None, numbered.flow)])
        ours = self.headpond.run(text, numbered.flow.fields, 100_000, 1, 2)
        indices = [int(element[0][1]) - start for element in ours.elements]
        bad = [i for i, index in enumerate(indices) if abs(i - index) >= 2 * window]
        self.facts["shuffle windows checked"] += 1
        if bad or sorted(indices) != list(range(len(indices))):
            print(f"---- pipeline {number}: an element moved by two windows or more, or is missing: {indices}\n{text}", flush=True)
            self.fail(number)

    def note(self, theirs, ours):
        self.facts["pipelines"] += 1
        self.facts["elements"] += len(theirs.elements)
        self.facts["without an element"] += not theirs.elements
        self.facts["errors in both"] += bool(theirs.error and ours.error)
        self.facts["cardinality said by both"] += None not in (theirs.cardinality, ours.cardinality)

    def smallest(self, chain, number):
        """The first steps, or a chain inside, that still differ."""
        inside = [own for own_step in chain for _, own in own_step.inputs]
        for smaller in [*inside, *(chain[:count] for count in range(1, len(chain)))]:
            what, *outcomes = self.compared(smaller, number)
            if what and not why_named(smaller, what, *outcomes):
                return self.smallest(smaller, number) if len(smaller) < len(chain) or smaller in inside else (smaller, what, *outcomes)
        return (chain, *self.compared(chain, number))

    @staticmethod
    def report(number, chain, what, theirs, ours):
        print(f"---- pipeline {number}: {what}\n{written(chain)}")
        for name, outcome in (("tf.data", theirs), ("headpond", ours)):
            shown = [[f"{dtype}{list(array.shape)} {array.tolist()}" for dtype, array in element] for element in outcome.elements[:12]]
            print(f"{name}: {len(outcome.elements)} elements, cardinality {outcome.cardinality}, {outcome.error or 'no error'}")
            print(*(f"  {', '.join(element)}"[:300] for element in shown), sep="\n")
            print(f"  {outcome.message.strip()[:600]}" if outcome.message else "", flush=True)

    def control(self):
        """A pipeline that Headpond runs with one element more, or with floats in place of integers, must be noticed."""
        rejected = 0
        for number in range(1000):
            chain = drawn(self.files, self.known, "control", number, None)
            flow = chain[-1].flow
            theirs = by_tf_data(chain, LIMIT, 1)
            if flow.fails or flow.unordered or theirs.error or len(theirs.elements) < 3:
                continue
            count = len(theirs.elements) - 2

            def taken(more, below=chain, flow=flow):
                return [*below, step("take", {"count": count + more}, lambda ds: ds.take(count), flow.but(most=count))]
            assert not self.compared(taken(0), number)[0] and self.compared(taken(0), number, lambda _: taken(1))[0], written(taken(1))
            rejected += 1
            if rejected == 10:
                break
        integers = [*SOURCES["range"](Draw(random.Random(3), self.files, self.known))]
        asfloat = [*integers, step("map", {"function": "x * 1.0"}, None, integers[-1].flow.but(fields=(Field("x", "float64"),)))]
        assert self.compared(integers, 0, lambda _: asfloat)[0], "float64 was taken for int64"
        print(f"controls rejected: {rejected} of 10 with an element more, 1 of 1 with another dtype", flush=True)
        assert rejected == 10

    def crash(self):
        """For a control of check_controls(): pipeline 0 differs, and TensorFlow crashes while it is cut down."""
        self.args.seed, self.args.only = "control", None
        self.compared = lambda chain, number: ("a planted difference", Outcome([]), Outcome([]))
        self.smallest = lambda chain, number: os.kill(os.getpid(), signal.SIGKILL)
        self.check(0)

    def lose(self):
        """For a control of check_controls(): TensorFlow crashes at pipeline 0."""
        self.args.seed, self.args.only = "control", None
        self.by_tf_data = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
        self.check(0)


class Lost(typing.NamedTuple):
    """A pipeline that was not compared."""
    number: int
    who: str = "not begun"  # Who was asked for it.
    plan: str = ""


class Results:
    """What was compared so far; in a file, as TensorFlow may crash at any pipeline, or never come to its end."""
    def __init__(self, path, first):
        self.path, self.next = path, first
        self.now = path.with_suffix(".now") if path else None
        self.counts, self.named, self.facts = collections.Counter(), collections.Counter(), collections.Counter()
        self.failed, self.crashed, self.endless = [], [], []

    def save(self, oracle, following):
        """`following`: the pipeline that comes next; the one that is compared while it isn't done."""
        text = json.dumps([following, oracle.counts, oracle.named, oracle.facts, oracle.failed])
        self.path.write_text(text)

    def begin(self, number, who, chain):
        """Before something that may never come to its end."""
        if self.now:
            self.now.write_text(json.dumps(Lost(number, who, written(chain))))

    def take(self):
        if not self.path.exists():
            return
        self.next, counts, named, facts, failed = json.loads(self.path.read_text())
        self.path.unlink()
        self.counts.update(counts), self.named.update(named), self.facts.update(facts)
        self.failed += failed

    def lose(self, status):
        """The child ended at pipeline `next`, which isn't lost if it was found to differ."""
        if self.next not in self.failed:
            lost = Lost(*json.loads(self.now.read_text())) if self.now.exists() else Lost(self.next)
            (self.endless if status is None else self.crashed).append(lost if lost.number == self.next else Lost(self.next))
        self.next += 1


def run(args, results):
    with tempfile.TemporaryDirectory() as folder:
        oracle = Oracle(args, folder, results)
        if args.part != "pipelines":
            return {"controls": oracle.control, "crash": oracle.crash, "lose": oracle.lose}[args.part]()
        for number in range(args.first, args.last):
            oracle.check(number)
            results.save(oracle, number + 1)


def ended(command, results, longest=LONGEST):
    """The exit status; None if it was killed, as nothing was compared for so long."""
    with subprocess.Popen(command) as child:
        seen, since = None, time.time()
        while True:
            try:
                return child.wait(1)
            except subprocess.TimeoutExpired:
                now = results.path.stat().st_mtime_ns if results.path.exists() else None
                if now != seen:
                    seen, since = now, time.time()
                elif time.time() - since > longest:
                    child.kill()
                    return None


def part(name, results, *arguments):
    return [sys.executable, __file__, *sys.argv[1:], "--part", name, "--results", results.path, *arguments]


def check_controls(folder, args):
    results = Results(folder / "controls.json", args.first)
    if ended(part("controls", results), results, CONTROLS) != 0:
        sys.exit(f"the controls failed, or took more than {CONTROLS} s")
    status = ended(part("crash", results), results)
    results.take()
    if status != -signal.SIGKILL or results.failed != [0]:
        sys.exit("a difference that was found is lost if its pipeline doesn't come to an end")
    print("control: a difference is kept if its pipeline doesn't come to an end", flush=True)
    results = Results(folder / "lost.json", 0)
    results.lose(ended(part("lose", results, "--first", "0"), results))
    if not (len(results.crashed) == 1 and results.crashed[0].who == "tf.data" and "[[step]]" in results.crashed[0].plan):
        sys.exit("a pipeline that doesn't come to an end is not shown")
    print("control: a pipeline that doesn't come to an end is shown", flush=True)


def compare_all(folder, args):
    results = Results(folder / "results.json", args.first)
    while results.next < args.last:
        now = ["--first", str(results.next), "--pipelines", str(args.last - results.next)]
        status = ended(part("pipelines", results, *now), results)
        results.take()
        if status is not None and status > 0:
            sys.exit(f"ended with {status} at pipeline {results.next}")
        if status != 0:
            results.lose(status)
    return results


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--pipelines", type=int, default=2000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    parser.add_argument("--results", type=pathlib.Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    args.last = args.first + args.pipelines
    if args.part:
        return run(args, Results(args.results, args.first))
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        check_controls(pathlib.Path(folder), args)
        results = compare_all(pathlib.Path(folder), args)
    print(f"seed {args.seed}, TensorFlow {tf.__version__}: " + ", ".join(f"{count} {what}" for what, count in results.facts.items()))
    print("pipelines with each operator: " + ", ".join(f"{op} {count}" for op, count in sorted(results.counts.items())))
    print("of no pipeline: " + (", ".join(sorted({*ROWS, *SOURCES} - set(results.counts))) or "none"))
    for why, count in results.named.items():
        print(f"named difference, {count} times: {why}")
    lost, most_lost = len(results.endless) + len(results.crashed), args.pipelines // 100 + 5
    for what, pipelines in ((f"no result within {LONGEST} s", results.endless), ("ended by a signal", results.crashed)):
        print(f"{what}, {len(pipelines)} times", *(f"---- pipeline {one.number}, of {one.who}\n{one.plan}" for one in pipelines[:40]), sep="\n")
    if lost > most_lost:
        print(f"{lost} pipelines were not compared; more than {most_lost} are a failure")
    print(f"{len(results.failed)} differ: {results.failed[:40]}, {time.time() - began:.0f} s")
    sys.exit(1 if results.failed or lost > most_lost else 0)


if __name__ == "__main__":
    main()
