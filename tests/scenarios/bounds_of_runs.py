# SPDX-License-Identifier: Apache-2.0
"""The bounds of the scenarios about what a run says of itself, about its memory, and about trainings."""
from bounds import median, ratio

STAGES = "share of the planted mistakes whose reason, stage and operator are found"
WAIT = "reported wait against a stopwatch's: 1 is 1 % or 0.1 ms a step, the worst run"
PEAK = "MiB at the peak over the budget"


def starved_trainer(figures, bounds):
    planted = figures["planted"]
    named = [run for run in planted if run["code"] != "none"]
    bounds.at_least(STAGES, sum(run["right"] for run in planted) / len(planted), 0.9)
    bounds.at_most(WAIT, max(run["wait_error"] for run in planted), 1)
    if bounds.of_control:
        return
    bounds.holds("each has a reason", len(named) == len(planted))
    for run in figures["silent"]:
        bounds.holds(run["name"], run["right"])
    told = [run for run in planted if "told" in run]
    near = sum(abs(run["gained"] / run["told"] - 1) <= 0.2 for run in told)
    bounds.at_least("share of the changes made whose gain is within 20 % of the forecast", near / max(len(told), 1), 0.8)
    bounds.at_most("time of a batch with a trace over that without", ratio(figures["traced_ms"], figures["untraced_ms"]), 1.01)
    bounds.holds("the verdict as text", all(run["text"].startswith(run["code"]) for run in planted + figures["silent"]))
    if not bounds.in_python:  # RunLog, which writes it, is C++'s.
        bounds.holds("the verdict as JSON", figures["json"]["reason_code"] in figures["json"]["verdict"])
    bounds.add("what a checker of trace events finds in the timeline", figures["timeline_faults"], "nothing",
               not figures["timeline_faults"])


def memory_ceiling(figures, bounds):
    def peak(mib):
        return max(max(values) for values in mib.values())
    mib = figures["mib"]
    bounds.at_most(PEAK, peak(mib) / figures["budget_mib"], 1.25)
    bounds.holds("each blob comes once in each epoch", figures["blobs_of_epoch"] == [600] * figures["epochs"])
    if bounds.of_control:
        return
    epochs = [median(mib[f"epoch {number}"]) for number in range(figures["epochs"])]
    bounds.at_most("last epoch over the second one", epochs[-1] / epochs[1], 1.01)
    bounds.at_most("pause over its first second", max(mib["pause"]) / max(mib["first second of the pause"]), 1.01)
    limited = figures["limited"]
    bounds.holds("without a setting, the system gives 2 GiB: all blobs",
                 limited["is_limited"] and limited["blobs_of_epoch"] == [600, 600])
    bounds.at_most("MiB of that at the peak over 1 GiB, the budget without a setting", peak(limited["mib"]) / 1024, 1.25)
    error = figures["large_error"]
    bounds.holds("an element beyond the budget: named, with both sizes",
                 error.startswith("ResourceExhausted") and "element 0" in error and "8000000" in error and "4000000" in error)
    bounds.at_most("seconds until it is", figures["large_s"], 5)


STORED = {"model.pt", "optimizer.pt", "data.state"}


def accuracy_of(name):
    return f"{name}: test accuracy within 300 steps"


def differ_of(name):
    return f"{name}: steps whose loss is not that of the run that was never stopped"


def train_from_cpp(figures, bounds):
    for name in ("images", "sounds"):
        run = figures[name]
        bounds.at_least(accuracy_of(name), run["accuracy"], 0.95)
        if not bounds.of_control or name == "images":
            bounds.at_most(differ_of(name), run["differ"], 0)
        if bounds.of_control:
            continue
        bounds.at_most(f"{name}: steps", run["steps"], 300)
        bounds.holds(f"{name}: the accuracy is also that of the run that was never stopped", run["same_accuracy"])
        bounds.add(f"{name}: signals that stopped it", run["stopped_by"], "2 and 9", run["stopped_by"] == [2, 9])
        bounds.at_least(f"{name}: times that it went on after its begin, of those that it was started again",
                        run["went_on"], max(run["started_again"], 1))
        bounds.at_most(f"{name}: data's processor time over the steps'", run["data_over_model"], 0.5)
        bounds.at_most(f"{name}: part of the training's time that it waits for batches", run["wait_share"], 0.05)
        bounds.holds(f"{name}: a checkpoint has model, optimiser and iterator", STORED <= set(run["stored"]))
        bounds.at_most(f"{name}: lines of the program", run["lines"], 80)
    if bounds.of_control:
        return
    tensors = figures["tensors"]
    bounds.holds("tensors lie where their batches do", tensors["batches"] > 0 and tensors["shared"] == tensors["batches"])
    bounds.at_most("copies that would count as that", tensors["copies_shared"], 0)
    bounds.holds("a field that is not there is named, with those that are",
                 all(word in tensors["error"] for word in ("picture", "path", "file", "label")))
