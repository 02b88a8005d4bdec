# SPDX-License-Identifier: Apache-2.0
"""What Loader.stats() gives: the members of C++'s structs in headpond/engine/loader_stats.h, by their names."""

from __future__ import annotations

from typing import TypedDict


class ThreadsSeen(TypedDict):
    """What threads did when somebody looked: they computed, or were in a lock, a file, a timer, a network, something else."""

    runs: int
    locked: int
    reads: int
    sleeps: int
    talks: int
    other: int
    unknown: int


class OperatorCost(TypedDict):
    """What an operator costs for one element, on one thread; sampled."""

    op: str
    ns: float
    cpu_ns: float
    bytes: float
    read_bytes: float
    seen: ThreadsSeen
    title: str


class TaskTimes(TypedDict):
    """The threads' time in the tasks of one kind: wall_ns is the sum of the next three; lock_ns is the part of blocked_ns in which functions
    waited for the interpreter's lock."""

    tasks: int
    wall_ns: float
    cpu_ns: float
    queue_ns: float
    blocked_ns: float
    lock_ns: float


class StageTotals(TypedDict):
    """Sums of a stage since the Loader was made, over all epochs."""

    open: TaskTimes
    make: TaskTimes
    elements: int
    takes: int
    late: int
    starved_ns: float
    full_ns: float
    refused_ns: float
    read_bytes: int
    holes: int
    errors: int


class StageStats(TypedDict):
    """Figures of a stage that runs ahead; docs/monitoring.md says what each figure means."""

    name: str
    blocking: bool
    units: int
    elements: int
    element_ns: float
    unit_ns: float
    target: int
    ahead: int
    ready: int
    mean_ready: float
    unit_bytes: int
    operators: list[OperatorCost]
    totals: StageTotals
    starved_p50_ns: int
    starved_p99_ns: int
    idle_p50_ns: int
    idle_p99_ns: int
    mean_ahead: float
    ready_bytes: int
    ready_bytes_peak: int
    seen: ThreadsSeen


class CallTimes(TypedDict):
    """Calls of next() of one kind: how many there were, and how long they took."""

    calls: int
    p50_ns: int
    p99_ns: int


class StepStats(TypedDict):
    """Where the time of steps went: in calls for a batch, by what made them wait, and in the program between them."""

    steps: int
    call_ns: float
    startup_ns: float
    edge_ns: float
    burst_ns: float
    sustained_ns: float
    work_ns: float
    helped_ns: float
    startup: CallTimes
    edge: CallTimes
    burst: CallTimes
    sustained: CallTimes
    work_cpu_share: float
    work_queue_share: float


class ThreadTimes(TypedDict):
    """Time of the Loader's threads of one kind: in all, in tasks that have ended, and asleep for lack of one."""

    alive_ns: float
    tasks_ns: float
    idle_ns: float


class OperatorMemory(TypedDict):
    """The memory that was allocated for an operator: now, and the most so far."""

    op: str
    stage: str
    bytes: int
    peak: int


class FailedCounts(TypedDict):
    """How many failures an on_error met. `step`: its line in Dataset.plan(), from 1; None if a function made it."""

    op: str
    failed: int
    skipped: int
    substituted: int
    step: int | None


class FunctionStats(TypedDict):
    """Figures of a function of Python in the dataset: how often it was called, and what it and waiting for the interpreter's lock took.

    Of a function with serial=True lock_wait_ns also has the waits for its turn.
    """

    name: str
    calls: int
    lock_wait_ns: int
    function_ns: int


class LoaderStats(TypedDict):
    """A Loader's figures so far; docs/monitoring.md says what each figure means. C++ has all of them but functions."""

    batches: int
    waits: int
    wait_ns: int
    first_wait_ns: int
    helped: int
    memory_in_use: int
    memory_peak: int
    memory_limit: int
    memory_free: int
    memory_held: int
    memory_held_peak: int
    memory: list[OperatorMemory]
    threads: int
    io_threads: int
    inline_now: bool
    stages: list[StageStats]
    steps: StepStats
    defects: int
    failed: list[FailedCounts]
    elements: int
    bytes: int
    compute_times: ThreadTimes
    io_times: ThreadTimes
    functions: list[FunctionStats]
