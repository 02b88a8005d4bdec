# SPDX-License-Identifier: Apache-2.0
"""The bounds of the scenarios about files, states, lengths and caches; the others are in bounds.py."""
import math
import os

from bounds import median, ratio


EARLY = "shuffled by a manifest: first batch over a listing of the folder"


def first_batch(figures, bounds):
    early = ratio(figures["manifest_s"], figures["listing_s"])
    bounds.at_most(EARLY, early, 0.5)
    if bounds.of_control:
        return
    bounds.at_most("seconds to start", median(figures["start_s"]), 0.3)
    bounds.at_most("seconds to the first batch, with an index", median(figures["indexed_s"]), 0.5)
    bounds.at_most("seconds to the first batch, without", median(figures["unindexed_s"]), 2)
    bounds.at_most("16 threads over one", ratio(figures["sixteen_threads_s"], figures["one_thread_s"]), 1.3)
    bounds.at_most("listed in order: seconds to the first batch", median(figures["listed_s"]), 2)
    bounds.at_most("calls that read, or bytes, while a pipeline is built", figures["reads_while_building"], 0)


RESUMED = "kills after which the joined stream differs"


def exact_resume(figures, bounds):
    bounds.at_most(RESUMED, len(figures["differ"]), 0)
    bounds.holds("each run has two epochs", figures["epochs_have_batches"])
    if bounds.of_control:
        return
    bounds.at_least("pairs of seed and kill", figures["pairs"], 16)
    early, late = median(figures["restore_at_10_ms"]), median(figures["restore_at_90_ms"])
    bounds.at_most("seconds to restore", max(early, late) / 1e3, 2)
    bounds.at_most("restore at 90 % of the epoch over at 10 %", late / early, 1.2)
    bounds.at_most("KiB of the largest state", figures["state_bytes"] / 1024, 64)
    bounds.at_most("time in state() over a step of 20 ms", ratio(figures["save_ms"], figures["step_ms"]), 0.005)
    bounds.holds("a state right after a restore is the one restored", figures["same_state_after_restore"])
    bounds.holds("an epoch that is left early: the next one is whole", figures["after_an_early_break"])
    for name, text in figures["refused"].items():
        bounds.holds(f"another pipeline is refused, and '{name}' named", name in text)


def left_out_exactly(figures):
    return sorted(figures["left_out"]) == sorted(figures["undecodable"]) and figures["delivered"] == figures["decodable"]


def names_all(text, file, record, offset):
    return os.path.basename(file) in text and f"record {record}" in text and str(offset) in text


def is_named(log, frame):
    return any(os.path.basename(frame["path"]) in line for line in log)


def frames(figures, bounds):
    for frame in figures["frames"]:
        kind, fail, skip = frame["kind"], frame["fail"], frame["skip"]
        if not frame["is_error"]:
            as_planted = fail["as_planted"] and skip["as_planted"] and frame["alone"] == len(frame["readable"])
            bounds.holds(f"{kind}: no error, and all that is in it", not fail["error"] and not skip["error"] and as_planted)
        else:
            bounds.holds(f"{kind}, fail: file, record and offset are named",
                         names_all(fail["error"], frame["path"], frame["record"], frame["offset"]))
            bounds.holds(f"{kind}, skip: exactly what is readable", skip["as_planted"] and skip["good"] == 50 and not skip["error"])
            if kind != "a flipped bit":  # on_error has a list of what is lost by records.
                bounds.holds(f"{kind}, skip: the log names the skipped record", is_named(figures["log"], frame))


def damaged_files(figures, bounds):
    bounds.holds("it ends", figures["ended"])
    if bounds.of_control:
        return
    bounds.at_least("planted cases", figures["planted"], 40)
    bounds.holds("skip: the list is that of the undecodable ones", left_out_exactly(figures))
    bounds.add("skip: lines without offset, operator or position", len(figures["unplaced"]), "== 0", not figures["unplaced"])
    bounds.at_most("sounds: steps of 16 bits from the reference", figures["farthest"] * 32768, 1)
    bounds.at_most("images: mean difference from what was drawn, of 255, the worst", figures["images_apart"], 2)
    failing = figures["failing"]
    bounds.holds("fail: the message names file, record and step",
                 all(part in failing["error"] for part in (os.path.basename(failing["file"]), f"record {failing['record']}",
                                                            "decode")))
    bounds.holds("fail: what is written down has record, offset and key",
                 (failing["written_record"], failing["written_offset"], failing["written_key"])
                 == (failing["record"], failing["offset"], failing["record"]))
    bounds.holds("substitute: exactly in the places of the undecodable ones", figures["substitutes_exact"])
    bounds.holds("too many: an error that names the limit", figures["limited_status"] == 1 and "max_errors" in figures["limited_error"])
    bounds.at_most("time over that of clean files", ratio(figures["odd_s"], figures["clean_s"]), 1.2)
    bounds.at_most("seconds of the longest stall", figures["longest_stall_s"], 1)
    bounds.holds("the length is corrected or unknown", figures["length"] == "unknown")
    bounds.holds("resumes after skips are exact", figures["resumes_exact"])
    frames(figures, bounds)


WRONG = "combinations with a fault"
LOAD = "elements of the busiest of the threads over the mean, beside that of two bare threads"


def uneven_shards(figures, bounds):
    bounds.at_most(WRONG, len(figures["faults"]), 0)
    bounds.at_most(LOAD, ratio(figures["load_most_over_mean"], figures["bare_most_over_mean"]), 1.2)
    if bounds.of_control:
        return
    bounds.at_most("sets of steps for one number of ranks and one policy", figures["steps_of_a_kind"], 1)
    for name, found in figures["rank_without_data"].items():
        bounds.at_most(f"a rank without data, {name}: milliseconds of four ranks", found["ms"], 1000)
        refused = {"shard": 1, "distribute, drop": 4, "distribute, pad": 0}[name]  # drop: the whole batch, so all ranks.
        bounds.add(f"a rank without data, {name}: of four ranks refused", found["refused"], f"== {refused}", found["refused"] == refused)
    bounds.holds("distribute, pad: the last rank has its batch in both epochs", figures["rank_without_data"]["distribute, pad"]["what"] == "2 batches")


def waste(epoch):
    return 1 - epoch["real"] / epoch["padded"]


VIOLATIONS = "bucket: batches above the budget"


def token_budget(figures, bounds):
    limits = {"bucket": 0.06}
    if not bounds.of_control:
        limits.update(shapes=1.1 * figures["best_shapes_waste"], pack=0.03)
    for name, limit in limits.items():
        epochs = figures[name]["epochs"]
        bounds.at_most(f"{name}: batches above the budget", sum(epoch["violations"] for epoch in epochs), 0)
        bounds.at_most(f"{name}: part that is padding", max(waste(epoch) for epoch in epochs), round(limit, 4))
        bounds.holds(f"{name}: each text once, with its own tokens",
                     len(epochs) == 2 and all(epoch["exactly_once"] and epoch["wrong"] == 0 for epoch in epochs))
        bounds.at_most(f"{name}: seconds to the first batch", figures[name]["first_batch_s"], 1)
        if not bounds.of_control:
            bounds.holds(f"{name}: resumes inside a bucket are exact", figures[name]["resumes_exact"])
            bounds.at_most(f"{name}: KiB of a state", figures[name]["state_bytes"] / 1024, 64)
    if bounds.of_control:
        return
    for name, found in figures["oversized"].items():
        bounds.holds(f"{name}: a text above the budget is one error, and no other is lost",
                     found["errors"] == 1 and found["tokens"] == 19_800)
    sounds = figures["sounds"]
    bounds.holds("sounds: no batch above its minute, each once", sounds["violations"] == 0 and sounds["rows"] == sounds["count"])


STALE = "a changed parameter: elements of the old cache"


def cache_life(figures, bounds):
    images, changed = figures["images"], figures["changed"]
    bounds.at_most(STALE, changed["wrong"], 0)
    bounds.at_least("a changed parameter: decodes", changed["decodes"], images)
    if bounds.of_control:
        return
    bounds.holds("a changed parameter: the log says that a cache begins", any("cache" in line for line in changed["log"]))
    after = figures["after_kill"]
    bounds.at_least("part of the decodes that is saved after the kill", 1 - after["decodes_by_epoch"][0] / images, 0.55)
    bounds.at_most("decodes in the next epoch", after["decodes"] - after["decodes_by_epoch"][0], 0)
    everything = [after, changed, figures["quota"], *figures["two"], figures["rest"], figures["flipped"], figures["again"]]
    total = images * (images - 1) // 2
    bounds.holds("each element once an epoch, and right", all(
        found["wrong"] == 0 and found["sum"] == total * (found["elements"] // images) and found["elements"] % images == 0
        for found in everything))
    bounds.add("warnings of a limit of 50 MB", len(figures["quota"]["log"]), "== 1", len(figures["quota"]["log"]) == 1)
    bounds.add("files of locks", len(figures["lock_files"]), "== 0", not figures["lock_files"])
    quiet = [after, *figures["two"], figures["partial"], figures["rest"], figures["again"]]
    bounds.at_most("warnings of whole and partial passes", sum(len(warnings(found)) for found in quiet), 0)
    flipped = figures["flipped"]
    bounds.holds("a flipped byte: one element is made again, and said",
                 flipped["decodes"] == 1 and len(warnings(flipped)) == 1)
    if bounds.full:
        bounds.at_most("peak of the memory over the budget", figures["again"]["peak_bytes"] / figures["budget"], 1.25)


def warnings(found):
    return [line for line in found["log"] if "begins" not in line]


SIZES = (1000, 10_000, 100_000)
WEIGHTS = (0.7, 0.2, 0.1)


def shares_within(counts, sigmas):
    total = sum(counts)
    return all(abs(count - total * weight) <= sigmas * math.sqrt(total * weight * (1 - weight)) + 1
               for count, weight in zip(counts, WEIGHTS))


def mixtures(figures, bounds):
    for name, found in figures.items():
        bounds.holds(f"{name}: nothing twice", found["twice"] == 0)
        bounds.holds(f"{name}: the log names the first that has ended, once",
                     sum("dataset 0 of 3 has no element for draw" in line or "dataset 0 of 3 has ended before draw" in line
                         for line in found["log"]) == 1)
        if name.startswith("exact"):
            exact = all(abs(count - found["total"] * weight) <= 3 for count, weight in zip(found["counts"], WEIGHTS))
            bounds.holds(f"{name}: shares exact, to the end of the first", exact and found["counts"][0] == SIZES[0])
            continue
        bounds.holds(f"{name}: shares within 3 sigma until the first ends", shares_within(found["at_first_end"], 3))
        if name.startswith("until one"):
            after = found["total"] - sum(found["at_first_end"])
            bounds.holds(f"{name}: the end is where the ended one is drawn", found["counts"][0] == SIZES[0] and after < 20)
        else:
            bounds.holds(f"{name}: all of all", found["counts"] == list(SIZES))


DISJOINT = "splits are disjoint in all epochs"


def true_lengths(figures, bounds):
    bounds.holds(DISJOINT, figures["splits_disjoint"])
    bounds.holds("a split is the same in each epoch", figures["splits_complete"])
    bounds.holds("no old record moves when others are added", figures["old_records_stay"])
    flagged = figures["parts"] if bounds.of_control else 0
    bounds.add("parts of which explain and check say that they change with the epoch", figures["flagged"], f"== {flagged}",
               figures["flagged"] == flagged, needed=True)
    if bounds.of_control:
        return
    graphs = figures["known"] + figures["unknown"] + figures["refused"]
    bounds.at_least("random graphs, with those of which a Loader refuses a shard without data", graphs, 200)
    bounds.at_most("part of them that is refused", figures["refused"] / graphs, 0.02)
    bounds.add("graphs that say another number", len(figures["wrong"]), "== 0", not figures["wrong"])
    mixtures(figures["mixtures"], bounds)
    bounds.add("steps of a run over epochs of seven", figures["steps"], "== 5000", figures["steps"] == 5000)
    bounds.add("edges that were seen", figures["edges"], "== 714", figures["edges"] == 714)
    bounds.add("steps of a repeated epoch", figures["repeated_steps"], "== 5000", figures["repeated_steps"] == 5000)
