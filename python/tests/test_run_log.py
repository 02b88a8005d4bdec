# SPDX-License-Identifier: Apache-2.0
"""hp.RunLog: what a run does, in a folder."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import headpond as hp


def data(stop=400):
    return hp.range(stop).shuffle().map(lambda x: {"x": np.full(8, x)}, output={"x": (hp.i64, (8,))}).batch(8)


def lines_of(folder, kind):
    """Those lines of run.jsonl that are a "pipeline", or a "point"."""
    lines = [json.loads(line) for line in (pathlib.Path(folder) / "run.jsonl").read_text().splitlines()]
    return [line[kind] for line in lines if kind in line]


def test_a_run_leaves_its_files_and_its_batches_are_the_same(tmp_path):
    whole = [batch["x"].tolist() for batch in hp.Loader(data(), seed=2)]
    loader = hp.Loader(data(), seed=2)
    with hp.RunLog(tmp_path / "run", write_every=0) as log:
        log.watch(loader)
        assert log.folder == str(tmp_path / "run") and pathlib.Path(log.events_path).parent == tmp_path / "run"
        got = []
        for batch in loader:
            with log.step():
                got.append(batch["x"].tolist())
        log.scalar("loss", 0.5)
        log.text("note", "# a note")
        names = {name for row in log.profile() for name in row["name"].split("|")}  # Together if none of their calls was measured.
        assert names >= {"range", "shuffle", "map", "batch"}
        assert log.diagnose().code == "none"  # Such a short run has no reason.
        written = log.write_timeline(tmp_path / "now.json")
    assert got == whole and written["spans"] >= 50
    names = {path.name for path in (tmp_path / "run").iterdir()}
    assert names >= {"run.jsonl", "verdict.json", "profile.json", "report.html", "timeline.json"} and any("tfevents" in name for name in names)
    verdict = json.loads((tmp_path / "run/verdict.json").read_text())
    assert verdict["reason_code"] == "none" and [one["name"] for one in verdict["pipelines"]] == [""]
    timeline = json.loads((tmp_path / "run/timeline.json").read_text())
    assert sum(event.get("name") == "step" for event in timeline["traceEvents"]) == 50
    assert "<html" in (tmp_path / "run/report.html").read_text()
    log.close()  # Again.
    with pytest.raises(hp.FailedPreconditionError, match="RunLog: it was closed"):
        log.watch(loader)


def test_the_program_reads_the_folder(tmp_path):
    loader = hp.Loader(data())
    with hp.RunLog(tmp_path, trace=False, report=False) as log:
        log.watch(loader, "train")
        assert len(list(loader)) == 50
    assert not (tmp_path / "timeline.json").exists() and not (tmp_path / "report.html").exists()
    done = subprocess.run([sys.executable, "-m", "headpond", "diagnose", "--run", str(tmp_path)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and "none" in done.stdout, done.stderr


def test_a_loader_is_watched_on_after_it_was_restored(tmp_path):
    loader = hp.Loader(data(), epochs=2)
    with hp.RunLog(tmp_path, trace=False, write_every=1000) as log:
        log.watch(loader, "train")
        state = [loader.next() for _ in range(10)] and loader.state_dict()
        loader.load_state_dict(state)
        assert sum(1 for _ in loader.flat()) == 90
    counted = [one["loader"]["batches"] for one in lines_of(tmp_path, "pipeline") if one["name"] == "train"]
    assert counted[0] == 10 and counted[-1] == 90, "the second one counts from its own begin"
    assert [one["name"] for one in json.loads((tmp_path / "verdict.json").read_text())["pipelines"]][-1] == "train"


def test_what_is_not_watched_any_more_is_not_written(tmp_path):
    loader = hp.Loader(data(), epochs=2)
    with hp.RunLog(tmp_path, trace=False, write_every=1000) as log:
        watch = log.watch(loader)
        assert len(list(loader)) == 50
        watch.close()
        loader.load_state_dict(loader.state_dict())
        assert len(list(loader)) == 50
    assert [one["loader"]["batches"] for one in lines_of(tmp_path, "pipeline")] == [50]


def test_a_watch_ends_with_its_block(tmp_path):
    loader = hp.Loader(data(), epochs=2)
    with hp.RunLog(tmp_path, trace=False, write_every=1000) as log:
        with log.watch(loader):
            assert len(list(loader)) == 50
        assert len(list(loader)) == 50
    assert [one["loader"]["batches"] for one in lines_of(tmp_path, "pipeline")] == [50]


@pytest.mark.parametrize("area", [hp.StagingArea, hp.MapStagingArea])
def test_a_staging_area(tmp_path, area):
    staged = area(["int64"], capacity=3)
    with hp.RunLog(tmp_path, trace=False) as log:
        log.watch(staged, "to_device")
        for key in range(2):
            staged.put(key) if area is hp.StagingArea else staged.put(key, key)
        staged.get()
    figures = [one["figures"] for point in lines_of(tmp_path, "point") for one in point["hand_offs"] if one["name"] == "to_device"][-1]
    assert (figures["capacity"], figures["size"]) == (3, 1), figures


def test_the_timeline_of_chosen_steps_and_of_a_signal(tmp_path):
    loader = hp.Loader(data(), epochs=-1)
    with hp.RunLog(tmp_path, sample_every=0.001, write_every=0, trace_steps=(3, 5), trace_signal=signal.SIGUSR2) as log:
        log.watch(loader)

        def step_until_there_is(name):
            for batch in loader.flat():
                with log.step():
                    assert batch
                if (tmp_path / name).exists():
                    return

        step_until_there_is("timeline-3.json")
        before = set(tmp_path.glob("timeline-*.json"))
        os.kill(os.getpid(), signal.SIGUSR2)
        while set(tmp_path.glob("timeline-*.json")) == before:
            loader.next()
    steps = [event["args"]["step"] for event in json.loads((tmp_path / "timeline-3.json").read_text())["traceEvents"] if event.get("name") == "step"]
    assert steps == [3, 4, 5]
    assert signal.getsignal(signal.SIGUSR2) == signal.SIG_DFL


def test_a_log_without_a_timeline_writes_none(tmp_path):
    with hp.RunLog(tmp_path / "first") as first, first.step():
        pass  # The trace keeps this step.
    with pytest.raises(hp.FailedPreconditionError, match="records no timeline: it was closed"):
        first.write_timeline(tmp_path / "now.json")
    with hp.RunLog(tmp_path / "second", trace=False) as log, pytest.raises(hp.FailedPreconditionError, match="records no timeline: it was opened without"):
        log.write_timeline(tmp_path / "now.json")
    assert not (tmp_path / "now.json").exists()
    with hp.RunLog(tmp_path / "third") as log:
        assert log.write_timeline(tmp_path / "now.json")["spans"] == 0, "the step was another log's"
        with pytest.raises(hp.InvalidArgumentError, match="path=''"):
            log.write_timeline("")


def test_a_short_run_has_its_pipeline_in_its_only_point(tmp_path):
    loader = hp.Loader(data())
    with hp.RunLog(tmp_path, trace=False, write_every=1000) as log:
        log.watch(loader, "train")
        assert len(list(loader)) == 50
    points = lines_of(tmp_path, "point")
    assert [[one["name"] for one in point["pipelines"]] for point in points] == [["train"]]


def test_a_queue_and_its_consumer(tmp_path):
    queue, waits = hp.FIFOQueue(8, ["int64"], [()], name="numbers"), hp.WaitAccount()

    def produce():
        for number in range(200):
            queue.enqueue(number)
        queue.close()

    with hp.RunLog(tmp_path, sample_every=0.001, write_every=0, trace=False) as log:
        log.watch(queue, "consumer", waits=waits, batch=1, producers=1)
        log.watch(waits, "alone")
        producer = threading.Thread(target=produce)
        producer.start()
        assert sum(1 for _ in waits.measure(queue)) == 200
        producer.join()
    assert {one["name"] for one in lines_of(tmp_path, "pipeline")} == {"consumer", "alone"}
    assert any(one["name"] == "numbers" for point in lines_of(tmp_path, "point") for one in point["hand_offs"])


def test_wrong_arguments(tmp_path):
    for given, message in (({"sample_every": 0}, "sample each 0 ms"), ({"write_every": -1}, "write_every=-1"), ({"tag_style": "x"}, "tag_style='x'"),
                           ({"trace_keep": "x"}, "trace_keep='x': must be one of first, newest"), ({"trace_files": "x"}, "trace_files='x'"),
                           ({"trace_probes": "x"}, "trace_probes='x'"), ({"trace_steps": (3, 2)}, "trace_steps"), ({"trace_steps": (0, 2)}, "trace_steps"),
                           ({"trace_events_per_thread": 0}, "trace_events_per_thread"), ({"trace_signal": signal.SIGKILL}, "trace on signal 9"),
                           ({"trace_signal": 999}, "trace on signal 999: must be a signal that a program can handle")):
        with pytest.raises(hp.InvalidArgumentError, match=message):
            hp.RunLog(tmp_path / "none", **given)
    for given, message in (({"report": 1}, "RunLog: report=1: must be True or False"), ({"write_every": "1"}, "RunLog: write_every='1'")):
        with pytest.raises(TypeError, match=message):
            hp.RunLog(tmp_path / "none", **given)
    assert not (tmp_path / "none").exists()
    with hp.RunLog(tmp_path / "run") as log, pytest.raises(TypeError, match=r"RunLog.watch\(\) takes a Loader, a queue, a staging area or a WaitAccount, not Dataset"):
        log.watch(hp.range(3))
    queue, waits, loader = hp.FIFOQueue(8, ["int64"], [()], name="q"), hp.WaitAccount(), hp.Loader(hp.range(3))
    with hp.RunLog(tmp_path / "other", trace=False) as log:
        for source, given, message in ((queue, {"name": "x"}, "a queue has a name of its own"), (queue, {"batch": 3}, "of a queue with waits="),
                                       (loader, {"waits": waits}, "of a queue with waits="), (waits, {"memory": 7}, "of a queue with waits="),
                                       (queue, {"waits": waits, "memory": -5}, "memory=-5")):
            with pytest.raises(hp.InvalidArgumentError, match=message):
                log.watch(source, **given)
    with pytest.raises(hp.FailedPreconditionError, match=r"RunLog.scalar\(\): it was closed"):
        log.scalar("loss", 1.0)
    (tmp_path / "file").write_text("")
    with pytest.raises(hp.Error, match="file"):
        hp.RunLog(tmp_path / "file")


ENDS = """
import os, sys
import headpond as hp
log = hp.RunLog(sys.argv[1], trace=False, write_every=1000)
loader = hp.Loader(hp.range(100).batch(10))
log.watch(loader)
queue = hp.FIFOQueue(8, ["int64"], [()], name="q")
watched = log.watch(queue)
assert len(list(loader)) == 10
"""


def run(program, *arguments):
    return subprocess.run([sys.executable, "-c", program, *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)


def test_the_end_of_the_interpreter_closes_the_log(tmp_path):
    done = run(ENDS, tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and (tmp_path / "report.html").exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork()")
def test_a_child_of_fork_leaves_the_parents_log_alone(tmp_path):
    done = run(ENDS + """
lines = open(sys.argv[1] + "/run.jsonl").read()
child = os.fork()
if child == 0:
    watched.close()
    del watched
    try:
        log.scalar("loss", 1.0)
    except hp.FailedPreconditionError as error:
        print("child:", error)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert open(sys.argv[1] + "/run.jsonl").read() == lines, "the child wrote"
log.scalar("loss", 2.0)
""", tmp_path)
    assert (done.returncode, done.stderr) == (0, "") and "child: RunLog was made before fork()" in done.stdout
    assert (tmp_path / "report.html").exists()


def test_a_full_disk_ends_no_run(tmp_path):
    done = run("""
import resource, signal, sys
import headpond as hp
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))
try:
    with hp.RunLog(sys.argv[1], trace=False, report=False) as log:
        for step in range(2000):
            with log.step():
                log.scalar("loss", step)
        print("all steps")
except hp.ResourceExhaustedError as error:
    print("told:", error)
with hp.RunLog(sys.argv[1] + "/other", trace=False, report=False) as log:
    for step in range(2000):
        log.text("note", "text")
    raise KeyError("the program's own")
""", tmp_path)
    assert "all steps" in done.stdout and "told: " in done.stdout, done
    assert "KeyError: \"the program's own\"\n" in done.stderr
