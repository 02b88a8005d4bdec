# SPDX-License-Identifier: Apache-2.0
"""A Loader's figures: all members of C++'s structs, by their names and with their types."""
import pathlib
import re
import time
import types
import typing

import pytest

import headpond as hp

ROOT = pathlib.Path(__file__).parents[2]
HEADERS = "".join((ROOT / "headpond" / name).read_text() for name in ("engine/loader_stats.h", "dataset/failed_element.h"))
STRUCTS = ("ThreadsSeen", "OperatorCost", "TaskTimes", "StageTotals", "StageStats", "CallTimes", "StepStats", "OperatorMemory", "FailedCounts",
           "ThreadTimes", "LoaderStats")
PLAIN = {"int64_t": int, "int": int, "double": float, "bool": bool, "std::string": str}
ONLY_PYTHON = {"functions": list[hp.FunctionStats]}


def type_of(text):
    """The type of Python for a type of C++."""
    if inner := re.fullmatch(r"std::vector<(.*)>", text):
        return list[type_of(inner[1])]
    if inner := re.fullmatch(r"std::optional<(.*)>", text):
        return type_of(inner[1]) | None
    return PLAIN[text] if text in PLAIN else getattr(hp, text)


def members(header, struct):
    """{member: type of Python}"""
    body = re.search(rf"struct {struct} {{\n(.*?)\n}};", re.sub(r"//.*", "", header), re.DOTALL)[1]
    lines = re.findall(r"([\w:<>]+) (\w[^;]*);", body)
    assert len(lines) == body.count(";")
    return {re.match(r"\w+", name)[0]: type_of(kind) for kind, names in lines for name in re.split(r",\s*", names)}


def expected(struct, header=HEADERS):
    return members(header, struct) | (ONLY_PYTHON if struct == "LoaderStats" else {})


@pytest.mark.parametrize("struct", STRUCTS)
def test_types_have_the_members_of_cpp(struct):
    assert typing.get_type_hints(getattr(hp, struct)) == expected(struct)


def test_control_a_new_member_of_cpp():
    header = HEADERS.replace("int64_t waits = 0;", "int64_t waits = 0, naps = 0;").replace("double ns = 0;", "int64_t ns = 0;", 1)
    assert typing.get_type_hints(hp.LoaderStats) != expected("LoaderStats", header)
    assert typing.get_type_hints(hp.OperatorCost) != expected("OperatorCost", header)


def check(value, kind):
    """That a value is what its type says, and all that is in it; returns how many classes of dicts were seen."""
    if typing.is_typeddict(kind):
        hints = typing.get_type_hints(kind)
        assert list(value) == list(hints)
        return {kind.__name__}.union(*(check(value[name], one) for name, one in hints.items()))
    if typing.get_origin(kind) is list:
        return set().union(*(check(one, typing.get_args(kind)[0]) for one in value))
    if isinstance(kind, types.UnionType):
        kind = type(None) if value is None else typing.get_args(kind)[0]
    assert type(value) is kind, (value, kind)
    return set()


def test_stats_have_what_their_types_say():
    def function(x):
        if x == 7:
            raise ValueError("seven")
        return x

    data = hp.range(40).map(function, output=(hp.i64, ())).on_error(policy="skip", max_errors=2).batch(8)
    loader = hp.Loader(data)
    batches = list(loader)
    stats = loader.stats()
    assert check(stats, hp.LoaderStats) | {"OperatorCost"} == {*STRUCTS, "FunctionStats"}  # Perhaps nothing was sampled yet.
    assert (stats["batches"], stats["elements"], stats["bytes"]) == (5, 39, 39 * 8) and stats["functions"][0]["calls"] >= 40
    assert [(one["skipped"], one["failed"], one["step"]) for one in stats["failed"]] == [(1, 0, 3)]
    assert stats["stages"][0]["totals"]["elements"] == 5 == len(batches) and stats["steps"]["steps"] == 5
    times = stats["compute_times"]
    assert 0 < times["tasks_ns"] + stats["steps"]["helped_ns"] and times["tasks_ns"] + times["idle_ns"] <= times["alive_ns"]
    assert stats["memory_held"] >= 39 * 8 and [one["op"] for one in stats["memory"]][0] == "range"


def test_operators_are_there_when_they_were_sampled():
    loader, end = hp.Loader(hp.range(1 << 20).shuffle().batch(256), epochs=None), time.monotonic() + 60
    batches = loader.flat()
    while not (stages := loader.stats()["stages"]) or not stages[0]["operators"]:
        assert time.monotonic() < end
        for _ in range(100):
            next(batches)
    assert "OperatorCost" in check(loader.stats(), hp.LoaderStats)
    assert [one["op"] for one in stages[0]["operators"]] == ["range", "shuffle"]


def test_stats_name_the_stages():
    loader = hp.Loader(hp.range(100).shuffle().batch(8))
    list(loader)
    stats = loader.stats()
    assert stats["batches"] == 13 and stats["stages"] and "batch" in stats["stages"][0]["name"]


@pytest.mark.parametrize("header, struct, store", [
    ("queue/queue.h", "QueueStats", lambda: hp.FIFOQueue(8, hp.i64, ())),
    ("queue/staging/staging_area.h", "StagingStats", lambda: hp.StagingArea(hp.i64)),
    ("queue/staging/staging_area.h", "StagingStats", lambda: hp.MapStagingArea(hp.i64))])
def test_queues_and_staging_areas_have_all_figures(header, struct, store):
    text = re.sub(r"int64_t\s+", "int64_t ", (ROOT / "headpond" / header).read_text())
    assert {name: type(value) for name, value in store().stats().items()} == members(text, struct)


def test_a_queue_tells_how_full_it_was_and_how_large():
    queue = hp.FIFOQueue(8, hp.i64, ())
    for i in range(3):
        queue.enqueue(i)
    queue.dequeue()
    stats = queue.stats()
    assert (stats["enqueue_size_mean"], stats["dequeue_size_mean"], stats["size_peak"]) == (2, 3, 3)
    assert (stats["bytes"], stats["bytes_peak"]) == (16, 24)


def test_a_staging_area_tells_how_full_it_was_and_who_waited():
    area = hp.StagingArea(hp.i64, capacity=1)
    area.put(5)
    with pytest.raises(hp.DeadlineExceededError):
        area.put(6, timeout=0.02)
    area.get()
    stats = area.stats()
    assert (stats["puts"], stats["gets"], stats["put_waits"], stats["get_waits"]) == (1, 1, 1, 0)
    assert stats["put_wait_ns"] >= 20e6 and stats["put_wait_p99_ns"] >= 20e6 and stats["bytes_peak"] == 8
