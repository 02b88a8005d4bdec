# SPDX-License-Identifier: Apache-2.0
"""The bounds of each acceptance scenario, over the figures that the driver prints. The same function judges a control."""
import math
import random
import re
import statistics

import reference


class Bounds:
    """Findings of one run: what was asked, the value, the bound, whether it holds. `of_control`, `in_python`, `full`: of which run; a
    control has fewer figures."""

    def __init__(self, of_control=False, in_python=False, full=False):
        self.found, self.of_control, self.in_python, self.full = [], of_control, in_python, full

    def judge(self, check, figures):
        """A figure that is missing is a miss."""
        try:
            check(figures, self)
        except KeyError as missing:
            self.add(f"the figure {missing}", None, "given", False, needed=True)
        return self

    def add(self, what, value, bound, holds, needed=False):
        """`needed`: a control must not miss it either."""
        value = round(value, 4) if isinstance(value, float) else value
        self.found.append({"what": what, "value": value, "bound": bound, "ok": bool(holds), "needed": needed})

    def at_most(self, what, value, bound):
        self.add(what, value, f"<= {bound:g}", value <= bound)

    def at_least(self, what, value, bound):
        self.add(what, value, f">= {bound:g}", value >= bound)

    def within(self, what, value, expected, share):
        self.add(what, value, f"{expected:g} +- {share:.0%}", abs(value - expected) <= share * expected)

    def holds(self, what, condition):
        self.add(what, bool(condition), "true", condition)

    def misses(self):
        return [finding["what"] for finding in self.found if not finding["ok"]]

    def needed_misses(self):
        return [finding["what"] for finding in self.found if finding["needed"] and not finding["ok"]]


median = statistics.median


def ratio(above, below):
    """The median over rounds, so that what happens to the machine during one round is in both."""
    return median(a / b for a, b in zip(above, below, strict=True))


def overlap(figures, bounds):
    blocks = [statistics.fmean(figures["a_step_ms"][i:i + 20]) for i in range(0, len(figures["a_step_ms"]), 20)]
    # On a machine that others use, two bare threads may not keep up with the device either.
    possible = max(median(figures["a_device_ms"]), figures["a_bare_ms"])
    bounds.at_most("a: step over the device's", median(blocks) / possible, 1.02)
    if not bounds.of_control:
        bounds.at_most("b: step over two bare threads'", ratio(figures["b_step_ms"], figures["b_bare_ms"]), 1.05)
    bounds.at_least("c: rate over the serial one", ratio(figures["c_serial_ms"], figures["c_step_ms"]), 3.8)


def chi_square_p(statistic, freedom):
    """The upper tail, by Wilson and Hilferty's approximation: good to a few per cent for more than ten degrees of freedom."""
    z = ((statistic / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / math.sqrt(2 / (9 * freedom))
    return 0.5 * math.erfc(z / math.sqrt(2))


def two_sided(p):
    return 2 * min(p, 1 - p)


def class_counts_p(batches, sizes):
    total = sum(sizes)
    expected = [sum(batches[0]) * size / total for size in sizes]
    statistic = sum((count - mean) ** 2 / mean for counts in batches for count, mean in zip(counts, expected))
    return two_sided(chi_square_p(statistic, len(batches) * (len(sizes) - 1)))


def shuffle_quality(figures, bounds):
    classes = figures["classes"]
    bounds.at_least("p of the class counts of 100 batches", class_counts_p(classes[:100], figures["class_sizes"]), 0.001)
    bounds.at_least("p in the last tenth", class_counts_p(classes[-len(classes) // 10:], figures["class_sizes"]), 0.001)
    if bounds.of_control:
        return
    first = median(figures["first_100_ms"])
    bounds.at_most("first batch, window of 100,000 over 100", median(figures["first_100000_ms"]) / first, 1.5)
    # The scenario has no bound for this one: its records lie in all 20 files, those of a window in one or two.
    bounds.at_most("first batch, whole epoch over 100", median(figures["first_all_ms"]) / first, 3)
    bounds.at_most("longest step over the median, epochs 1 to 4, beside that of the same records in order",
                   figures["gap_over_median"] / figures["in_order_gap_over_median"], 1.2)
    bounds.at_most("MiB that a shuffle of a million adds", figures["shuffle_adds_kib"] / 1024, 16)
    for name, half in (("100", 50), ("100000", 50_000), ("all", 1_000_000 / 3), ("stream_5000", 2500)):
        moved, forecast = figures["moved_" + name], figures["forecasts"][name]
        bounds.within(f"mean displacement, {name}, beside what is documented", moved["mean"], half, 0.1)
        bounds.within(f"mean displacement, {name}, beside the forecast", moved["mean"], forecast["told_moved"], 0.1)
        bounds.holds(f"exactly once, {name}", moved["exactly_once"])
        if name != "all":
            bounds.at_most(f"longest displacement, {name}", moved["most"], 4 * half - 1)
        for figure, what, share in (("first_s", "seconds to the first batch", 0.25), ("fill_s", "seconds until all is filled", 0.25),
                                    ("bytes", "bytes", 0.2)):
            bounds.within(f"{what}, {name}, over the forecast", ratio(forecast["seen"][figure], forecast["told"][figure]), 1, share)


def percentile(values, share):
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def marks_hold(epochs):
    for number, epoch in enumerate(epochs):
        count = 2 if number == 60 else 3
        if epoch["epochs"] != [number] * count or epoch["indices"] != list(range(count)):
            return False
        if number != 60 and sorted(epoch["order"]) != list(range(24)):
            return False
    return True


EDGE = "edge, 99th percentile over the median step, beside that of one long epoch"


def epoch_edge(figures, bounds):
    def late(run, name):
        return percentile(run[name], 0.99) / median(run["step_ms"] + run["edge_ms"])
    edges = [late(run["short"], "edge_ms") for run in figures["runs"]]
    bounds.at_most(EDGE, ratio(edges, [late(run["long"], "step_ms") for run in figures["runs"]]), 1.2)
    rate = ratio(figures["long_epoch_s"], figures["short_epochs_s"])
    bounds.at_least("rate of short epochs over one long one's", rate, 0.95)
    marks = figures["marks"]
    bounds.holds("marks exact, each element once, also after the epoch that was left", marks_hold(marks))
    bounds.holds("the strength changes exactly at epoch 50",
                 all(set(epoch["strength"]) == {2 if number >= 50 else 1} for number, epoch in enumerate(marks)))
    orders = [tuple(epoch["order"]) for number, epoch in enumerate(marks) if number != 60]
    bounds.holds("orders differ by epoch", len(set(orders)) == len(orders))
    bounds.holds("orders repeat by seed", marks == figures["marks_again"])


def any_workers(figures, bounds):
    digests = set(figures["digests"].values())
    bounds.add("digests of all numbers of threads", len(digests), "== 1", len(digests) == 1)
    if bounds.of_control:
        return
    bounds.holds("saved at four threads, gone on at one", set(figures["resumed"]) == digests)
    for case in figures["elastic"]:
        bounds.holds(f"four ranks to {case['ranks']}: the same members", case["same_members"])
        bounds.holds(f"four ranks to {case['ranks']}: each element once", case["each_once"])
        bounds.holds(f"four ranks to {case['ranks']}: one state for all ranks", case["one_state"])


def random_streams(figures, bounds):
    bounds.add("parameter vectors that are shared", figures["shared"], "== 0", figures["shared"] == 0)
    expected = sum(figures["bins"]) / len(figures["bins"])
    statistic = sum((count - expected) ** 2 / expected for count in figures["bins"])
    bounds.at_least("p of uniformity", two_sided(chi_square_p(statistic, len(figures["bins"]) - 1)), 0.001)
    if bounds.of_control:
        return
    bounds.add("parameter vectors", figures["vectors"], "== 600000", figures["vectors"] == 600_000)
    # The driver prints one operator's vectors of a batch, so the first twenty are the first operator's.
    numbers = [[reference.draw(figures["seed"], "crop", i, 0, sample) for i in range(4)] for sample in range(20)]
    bounds.holds("a Python program of the documented formulas gives the same", numbers == figures["first"])
    bounds.holds("an unrelated operator changes no draw", figures["unrelated_operator_changes_nothing"])
    bounds.within("part of the pairs that is flipped", figures["flipped_pairs"] / figures["pairs"], 0.5, 0.02)
    bounds.add("pairs that disagree", figures["disagreeing_pairs"], "== 0", figures["disagreeing_pairs"] == 0)
    bounds.holds("fixed for validation", figures["fixed_on_request"])


def errors_and_stops(figures, bounds):
    thrown = figures["thrown"]
    text = thrown.get("error", "")
    bounds.holds("the error arrives", thrown["failed"])
    bounds.holds("its text, its kind and the operator", all(part in text for part in ("the lens is dirty", "Unknown", "look")))
    bounds.holds("the element's number", "1234" in text)
    if bounds.in_python:
        bounds.holds("it is the program's own exception, with its traceback", thrown.get("own", False))
    bounds.holds("after all good batches before it, in order", thrown["good_before"] == 1230 and thrown["in_order"])
    bounds.at_most("seconds until it arrives", thrown["seconds"], 1)
    bounds.holds("what is after it still comes", thrown["goes_on"])
    if bounds.of_control:
        return
    bounds.holds("a removed file is named", figures["removed"] in figures["removed_error"])
    bounds.at_most("seconds until the log names a function that does not return", figures["blocked_s"], 5)
    said = figures["blocked_log"]
    bounds.holds("its stage, operator and element are named", re.search(
        r"range\|map\|batch does not return: .*, at map\(stays, version=0\), (range, record|position) 150;", said))
    if bounds.in_python:
        bounds.holds("and its stack", " is at\n" in said and "in stays\n    let_go.wait(60)" in said)
    bounds.at_most("seconds to drop a full pipeline", figures["drop_full_s"], 1)
    bounds.at_most("seconds to drop a blocked one", figures["drop_blocked_s"], 2)
    said = "does not return" if bounds.in_python else "left running"  # Python has no abandon_after: the Loader goes on waiting by itself.
    bounds.holds("the blocked stage is named", "|map|" in figures["errors"] and said in figures["errors"])
    bounds.at_most("seconds from an interrupt to the end, the longest", max(figures["interrupt_s"]), 2)
    bounds.holds("each interrupted run ends well and leaves nothing", figures["interrupts_clean"])


def simulated_share(window, seed, samples=2000):
    """The share of two cores that is used when sample i may begin once all before i - window are done."""
    choose = random.Random(seed)
    slow = set(choose.sample(range(samples), samples // 100))
    costs = [100 if i in slow else 1 for i in range(samples)]
    free = [0.0, 0.0]
    done = []  # When all up to this sample were done.
    for i, cost in enumerate(costs):
        worker = free.index(min(free))
        begin = max(free[worker], done[i - window] if i >= window else 0.0)
        free[worker] = begin + cost
        done.append(max(free[worker], done[-1] if done else 0.0))
    return sum(costs) / 2 / max(free)


def slow_sample(figures, bounds):
    bounds.at_least("in order, share of the ideal", ratio(figures["ideal_s"], figures["ordered_s"]), 0.90)
    if bounds.of_control:
        return
    bounds.at_least("what is ready first, share of the ideal", ratio(figures["ideal_s"], figures["unordered_s"]), 0.95)
    bounds.holds("in order: the digest of the serial run", set(figures["digests"]) == {figures["serial_digest"]})
    bounds.holds("what is ready first: the same samples", figures["same_samples"])
    bounds.at_most("bytes at the peak", figures["peak_bytes"], figures["declared_bytes"])
    # Without the window that was asked for, four batches of seven, nothing would be ahead of a slow sample.
    bounds.at_least("bytes at the peak over those of the window", figures["peak_bytes"] / (figures["declared_bytes"] * 4 / 7), 1)
    # A model, without the engine: what a window can reach; the expected shares are known to a point.
    for window, share in ((32, 0.84), (64, 0.94), (128, 0.99)):
        simulated = statistics.fmean(simulated_share(window, seed) for seed in range(30))
        bounds.at_least(f"simulated, window of {window} samples", simulated, share - 0.01)
