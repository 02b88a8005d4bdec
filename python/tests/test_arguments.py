# SPDX-License-Identifier: Apache-2.0
"""Arguments of a wrong type are refused by name; NumPy's scalars are taken where Python's are."""
import numpy as np
import pytest

import headpond as hp

tf1 = hp.tf1


def identity(x):
    return x


def loader(**given):
    return hp.Loader(hp.range(3), **given)


def queue():
    return hp.FIFOQueue(3, "int64", [()])


TYPES = {
    "FIFOQueue: capacity='3': must be an integer": lambda: hp.FIFOQueue("3", ["float32"]),
    "FIFOQueue: capacity=None: must be an integer": lambda: hp.FIFOQueue(None, ["float32"]),
    "FIFOQueue: memory_limit=1000000.0: must be an integer": lambda: hp.FIFOQueue(3, ["float32"], memory_limit=1e6),
    "FIFOQueue: name=1: must be a text": lambda: hp.FIFOQueue(3, ["float32"], name=1),
    "FIFOQueue: names=1: must be a text": lambda: hp.FIFOQueue(3, ["float32"], names=1),
    "FIFOQueue: watchdog='3': must be a number": lambda: hp.FIFOQueue(3, ["float32"], watchdog="3"),
    "RandomShuffleQueue: min_after_dequeue='1': must be an integer": lambda: hp.RandomShuffleQueue(3, "1", ["float32"]),
    "FIFOQueue: shapes=5: must be a list of shapes": lambda: hp.FIFOQueue(3, "int64", 5),
    "FIFOQueue: shapes=[2.0]: must be a list of shapes": lambda: hp.FIFOQueue(3, "int64", [2.0]),
    "PaddingFIFOQueue: shapes=[2, 3]: must be a list of shapes": lambda: hp.PaddingFIFOQueue(3, ["int64", "int64"], [2, 3]),
    "Barrier: shapes='ab': must be a list of shapes": lambda: hp.Barrier("int64", "ab"),
    "batch: shapes=3: must be a list of shapes": lambda: tf1.batch(lambda: 1, 1, dtypes="int64", shapes=3),
    "from_list(): queues=3: must be a list of FIFOQueue": lambda: hp.FIFOQueue.from_list(0, 3),
    "select(): indices=slice(0, 2, None): must be a list of positions: range(start, stop)": lambda: hp.range(3).select(slice(0, 2)),
    "batch(): batch_size=Ellipsis: must be a number, a text, a list of them or a dtype": lambda: hp.range(3).batch(...),
    "tfrecord(): on_damage=Ellipsis: must be a number, a text, a list of them or a dtype": lambda: hp.tfrecord("x", ...),
    "range(): step=Ellipsis: must be a number, a text, a list of them or a dtype": lambda: hp.range(0, 3, ...),
    "StagingArea: capacity='3': must be an integer": lambda: hp.StagingArea(["float32"], capacity="3"),
    "MapStagingArea: ordered=0: must be True or False": lambda: hp.MapStagingArea(["float32"], ordered=0),
    "Barrier: shared_name=3: must be a text": lambda: hp.Barrier(["float32"], [()], shared_name=3),
    "input producer: shuffle=0: must be True or False": lambda: tf1.string_input_producer(["a"], shuffle=0),
    "input producer: num_epochs=1.0: must be an integer": lambda: tf1.string_input_producer(["a"], num_epochs=1.0),
    "range_input_producer: limit='3': must be an integer": lambda: tf1.range_input_producer("3"),
    "batch: batch_size=None: must be an integer": lambda: tf1.batch(lambda: 1, batch_size=None, dtypes="int64"),
    "batch: dynamic_pad=None: must be True or False": lambda: tf1.batch(lambda: 1, batch_size=1, dtypes="int64", dynamic_pad=None),
    "TextLineReader: skip_header_lines='1': must be an integer": lambda: tf1.TextLineReader("1"),
    "FixedLengthRecordReader: record_bytes='1': must be an integer": lambda: tf1.FixedLengthRecordReader("1"),
    "dequeue(): timeout='3': must be a number of seconds, or None": lambda: queue().dequeue(timeout="3"),
    "dequeue(): stop=3: must be a Coordinator, or None": lambda: queue().dequeue(stop=3),
    "dequeue_many(): n='3': must be an integer": lambda: queue().dequeue_many("3"),
    "dequeue_up_to(): n=1.5: must be an integer": lambda: queue().dequeue_up_to(1.5),
    "enqueue(): timeout=[1]: must be a number of seconds, or None": lambda: queue().enqueue(1, timeout=[1]),
    "enqueue(): copy=1: must be True or False": lambda: queue().enqueue(1, copy=1),
    "enqueue_many(): copy='no': must be True or False": lambda: queue().enqueue_many([1], copy="no"),
    "close(): cancel_pending_enqueues=1: must be True or False": lambda: queue().close(1),
    "get(): timeout='3': must be a number of seconds, or None": lambda: hp.StagingArea("int64").get(timeout="3"),
    "put(): stop='x': must be a Coordinator, or None": lambda: hp.StagingArea("int64").put(1, stop="x"),
    "peek(): index='3': must be an integer": lambda: hp.StagingArea("int64").peek("3"),
    "put(): key='a': must be an integer": lambda: hp.MapStagingArea("int64").put("a", 1),
    "put(): indices=5: must be a list of integers": lambda: hp.MapStagingArea("int64").put(1, 1, 5),
    "get(): key='a': must be an integer": lambda: hp.MapStagingArea("int64").get("a"),
    "get(): indices='a': must be an integer": lambda: hp.MapStagingArea("int64").get(1, ["a"]),
    "peek(): timeout='3': must be a number of seconds, or None": lambda: hp.MapStagingArea("int64").peek(1, timeout="3"),
    "insert_many(): component='a': must be an integer": lambda: hp.Barrier("int64", ()).insert_many("a", [], []),
    "insert_many(): keys='abc': must be a list of texts": lambda: hp.Barrier("int64", ()).insert_many(0, "abc", [1, 2, 3]),
    "insert_many(): keys=3: must be a list of texts": lambda: hp.Barrier("int64", ()).insert_many(0, 3, [1]),
    "take_many(): n='1': must be an integer": lambda: hp.Barrier("int64", ()).take_many("1"),
    "take_many(): allow_small_batch=1: must be True or False": lambda: hp.Barrier("int64", ()).take_many(1, 1),
    "take_many(): timeout='3': must be a number of seconds, or None": lambda: hp.Barrier("int64", ()).take_many(1, timeout="3"),
    "read(): queue=3: must be a queue of names of files, as an input producer's queue": lambda: tf1.TFRecordReader().read(3),
    "read(): timeout='3': must be a number of seconds, or None": lambda: tf1.TFRecordReader().read(queue(), timeout="3"),
    "read_up_to(): num_records='3': must be an integer": lambda: tf1.TFRecordReader().read_up_to(queue(), "3"),
    "append(): payload='x': must be bytes: text.encode() makes them of a text": lambda: hp.RecordWriter("out").append("x"),
    "append(): payload=3: must be bytes": lambda: hp.RecordWriter("out").append(3),
    "append(): payload=array([0.]): must be bytes: array.tobytes() makes them of an array": lambda: hp.RecordWriter("out").append(np.zeros(1)),
    "Loader: threads='4': must be an integer": lambda: loader(threads="4"),
    "Loader: epochs=1.5: must be an integer": lambda: loader(epochs=1.5),
    "Loader: epochs='3': must be an integer": lambda: loader(epochs="3"),
    "Loader: rank=None: must be an integer": lambda: loader(rank=None),
    "Loader: deterministic=0: must be True or False": lambda: loader(deterministic=0),
    "Loader: resources=3: must be Resources, or None": lambda: loader(resources=3),
    "Resources: threads='3': must be an integer": lambda: hp.Resources(threads="3"),
    "set_epoch(): epoch='3': must be an integer": lambda: loader(epochs=5).set_epoch("3"),
    "map(): name=3: must be a text": lambda: hp.range(3).map(identity, name=3),
    "filter(): name=3: must be a text": lambda: hp.range(3).filter(identity, name=3),
    "map(): version='1': must be an integer": lambda: hp.range(3).map(identity, version="1"),
    "map(): blocking=1: must be True or False": lambda: hp.range(3).map(identity, blocking=1),
    "map(): serial=1: must be True or False": lambda: hp.range(3).map(identity, serial=1),
    "shuffle(): name=3: must be a text": lambda: hp.range(3).shuffle(name=3),
    "csv(): name=3: must be a text": lambda: hp.csv("a.csv", name=3),
    "check(): elements='3': must be an integer": lambda: hp.range(3).check(elements="3"),
    "check(): threads=1.5: must be an integer": lambda: hp.range(3).check(threads=1.5),
    "explain(): seconds=None: must be a number": lambda: hp.range(3).explain(analyze=True, seconds=None),
    "sequence(): epochs='3': must be an integer": lambda: hp.range(3).sequence(epochs="3"),
    "write_shards(): shards='2': must be an integer": lambda: hp.range(3).write_shards("out", shards="2"),
    "write_shards(): resume=1: must be True or False": lambda: hp.range(3).write_shards("out", resume=1),
    "write_npy(): threads=None: must be an integer": lambda: hp.range(3).write_npy("out", threads=None),
    "save(): threads=1.5: must be an integer": lambda: hp.range(3).save("out", threads=1.5),
    "Coordinator: clean_stop_kinds='OutOfRange': must be a list of texts": lambda: hp.Coordinator("OutOfRange"),
    "Coordinator: clean_stop_kinds=3: must be a text": lambda: hp.Coordinator([3]),
    "wait_for_stop(): timeout='3': must be a number": lambda: hp.Coordinator().wait_for_stop("3"),
    "join(): stop_grace_period='3': must be a number": lambda: hp.Coordinator().join("3"),
    "join() takes no threads, unlike TensorFlow's: a Coordinator joins those that were started for it. Its argument is stop_grace_period, a number of "
    "seconds": lambda: hp.Coordinator().join([]),
    "start(): body=3: must be a function": lambda: hp.Coordinator().start("a", 3),
    "start(): name=None: must be a text": lambda: hp.Coordinator().start(None, identity),
    "QueueRunner: queue=3: must be a queue": lambda: hp.QueueRunner(3, [identity]),
    "QueueRunner: producers=3: must be a function": lambda: hp.QueueRunner(queue(), [3]),
    "QueueRunner: producers must be a list of functions, one for each thread: [produce] * 4": lambda: hp.QueueRunner(queue(), identity),
    "QueueRunner: queue_closed_kinds='OutOfRange': must be a list of texts": lambda: hp.QueueRunner(queue(), [identity], "OutOfRange"),
    "QueueRunner: cancel_op=3: must be a function": lambda: hp.QueueRunner(queue(), [identity], cancel_op=3),
    "close_with_error(): exception='x': must be an exception": lambda: queue().close_with_error("x"),
    "from_list(): queues=3: must be a list of FIFOQueue": lambda: hp.FIFOQueue.from_list(0, [3]),
    "QueueRunner.start(): coordinator=3: must be a Coordinator": lambda: hp.QueueRunner(queue(), [identity]).start(3),
    "LooperThread.loop(): coordinator=3: must be a Coordinator": lambda: hp.LooperThread.loop(3, 1, identity),
    "LooperThread.loop(): interval='x': must be a number": lambda: hp.LooperThread.loop(hp.Coordinator(), "x", identity),
    "LooperThread.loop(): body=3: must be a function": lambda: hp.LooperThread.loop(hp.Coordinator(), 1, 3),
    "LooperThread.loop(): stop_loop=3: must be a function": lambda: hp.LooperThread.loop(hp.Coordinator(), 1, identity, stop_loop=3),
    "start_queue_runners(): coord=3: must be a Coordinator": lambda: tf1.start_queue_runners(3),
    "limit_epochs: num_epochs='3': must be an integer": lambda: tf1.limit_epochs(1, "3"),
    "filter(): predicate=3: must be a function or an expression": lambda: hp.range(3).filter(3),
    "flat_map(): function=3: must be a function": lambda: hp.range(3).flat_map(3, output=("int64", ())),
    "scan(): scan_func=3: must be a function": lambda: hp.range(3).scan(0, 3, output=("int64", ())),
    "from_generator(): make=3: must be a function": lambda: hp.from_generator(3, ("int64", ())),
    "from_generator(): seek=3: must be a function": lambda: hp.from_generator(iter, ("int64", ()), seek=3),
    "expr(): text=3: must be a text": lambda: hp.expr(3),
    "list_labelled_folder(): extensions='png': must be a list of texts": lambda: hp.list_labelled_folder(".", "png"),
    "digit_set(): train_images='x': must be an integer": lambda: hp.digit_set("d", train_images="x"),
    "a name of a file, or a list of them, is needed, not 3": lambda: hp.expand_files(3),
    "RunLog: folder=b'x': must be a text or a path": lambda: hp.RunLog(b"x"),
    "RunLog: folder=None: must be a text or a path": lambda: hp.RunLog(None),
    "RunLog: trace_steps=3: must be (from, to)": lambda: hp.RunLog("", trace_steps=3),
    "RunLog: trace_steps='a': must be an integer": lambda: hp.RunLog("", trace_steps=("a", "b")),
    "RunLog: tag_style=None: must be a text": lambda: hp.RunLog("", tag_style=None),
    "RunLog: trace_files=['json']: must be a text": lambda: hp.RunLog("", trace_files=["json"]),
    "RunLog.watch(): waits=3: must be a WaitAccount": lambda: hp.RunLog("").watch(hp.FIFOQueue(3, ["int64"]), waits=3),
    "RunLog.scalar(): tag=None: must be a text": lambda: hp.RunLog("").scalar(None, 1),
    "RunLog.text(): markdown=None: must be a text": lambda: hp.RunLog("").text("a", None),
    "RunLog.write_timeline(): path=3: must be a text or a path": lambda: hp.RunLog("").write_timeline(3),
    "write_timeline(): path=None: must be a text or a path": lambda: hp.write_timeline(None),
    "write_timeline(): process_name=None: must be a text": lambda: hp.write_timeline("a.json", process_name=None),
    "QueueMonitor: sample_every='x': must be a number": lambda: hp.QueueMonitor(sample_every="x"),
    "QueueMonitor: tag_style=None: must be a text": lambda: hp.QueueMonitor(tag_style=None),
    "QueueMonitor: events=3: must be an EventWriter": lambda: hp.QueueMonitor(events=3),
    "QueueMonitor: totals=3: must be a function that returns a dict": lambda: hp.QueueMonitor(totals=3),
    "QueueMonitor.watch(): queue=3: must be a queue": lambda: hp.QueueMonitor().watch(3),
    "EventWriter: folder=3: must be a text or a path": lambda: hp.EventWriter(3),
    "EventWriter: flush_every=None: must be a number": lambda: hp.EventWriter("x", flush_every=None),
    "WaitAccount: name=3: must be a text": lambda: hp.WaitAccount(3),
    "trace.start(): events_per_thread='3': must be an integer": lambda: hp.trace.start("3"),
    "trace.span(): name=None: must be a text": lambda: hp.trace.span(None),
    "trace.counter(): value=1.5: must be an integer": lambda: hp.trace.counter("a", 1.5),
    "trace.instant(): name=3: must be a text": lambda: hp.trace.instant(3),
    "progress(): total='3': must be an integer": lambda: hp.progress([], total="3"),
    "progress(): description=None: must be a text": lambda: hp.progress([], description=None),
    "diagnose() takes a Loader or a queue, not int": lambda: hp.diagnose(3),
    "diagnose(): watched=3: must be what QueueMonitor.watch() returned": lambda: hp.diagnose(hp.FIFOQueue(3, ["int64"]), 3, hp.WaitAccount()),
    "batch(): batch_size cannot be a Dataset": lambda: hp.range(3).batch(hp.range(2)),
    "range(): stop cannot be a Dataset": lambda: hp.range(hp.range(3)),
    "gain_db(): db cannot be a Dataset": lambda: hp.gain_db(hp.range(3))}


@pytest.mark.parametrize("message", TYPES)
def test_a_wrong_type_names_the_argument(message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError) as caught:
        TYPES[message]()
    assert str(caught.value) == message


RANGES = {
    "FIFOQueue: capacity=1180591620717411303424: must be in": lambda: hp.FIFOQueue(2**70, ["float32"]),
    "FIFOQueue: watchdog=-1: must be above 0; None switches it off": lambda: hp.FIFOQueue(3, ["float32"], watchdog=-1),
    "FIFOQueue: watchdog=nan: must be above 0": lambda: hp.FIFOQueue(3, ["float32"], watchdog=float("nan")),
    "a dimension of a shape is an integer or None, not 'a'": lambda: hp.FIFOQueue(3, ["float32"], [("a",)]),
    "FixedLengthRecordReader: header_bytes=-1: must be in": lambda: tf1.FixedLengthRecordReader(1, -1),
    "Loader: threads=1099511627776: must be in": lambda: loader(threads=2**40),
    r"check\(\): elements=-1: must be in \[0, ": lambda: hp.range(3).check(elements=-1),
    r"check\(\): threads=-1: must be in \[0, ": lambda: hp.range(3).check(threads=-1),
    r"check\(\): memory=0: must be in \[1, ": lambda: hp.range(3).check(memory=0),
    r"check\(\): run_ahead=-1: must be in \[0, ": lambda: hp.range(3).check(run_ahead=-1),
    r"batch: batch_size must be an integer below 2\^63, not an integer from 2\^63 on": lambda: hp.range(3).batch(2**63),
    "batch: batch_size is an integer that 64 bits cannot hold": lambda: hp.range(3).batch(2**64),
    r"RunLog: folder='\\udcff': the character '\\udcff' is not valid Unicode text": lambda: hp.RunLog("\udcff"),
    r"RunLog.watch\(\): name='a\\ud800': the character '\\ud800' is not": lambda: hp.RunLog("").watch(loader(), "a\ud800"),
    r"RunLog.scalar\(\): tag='\\ud800': the character": lambda: hp.RunLog("").scalar("\ud800", 1),
    r"RunLog.text\(\): markdown='a{190,}\.\.\.: the character '\\ud800' is": lambda: hp.RunLog("").text("a", "a" * 300 + "\ud800"),
    r"map\(\): name='\\ud800': the character": lambda: hp.range(3).map(identity, name="\ud800"),
    r"trace.span\(\): name='\\ud800': the character": lambda: hp.trace.span("\ud800"),
    r"trace.start\(\): events_per_thread=-1: must be in \[1, ": lambda: hp.trace.start(-1),
    r"RunLog: folder='a\\x00b': no name of a file has a character 0": lambda: hp.RunLog("a\0b"),
    "EventWriter: folder='': must name a folder": lambda: hp.EventWriter(""),
    "EventWriter: flush_every=-1": lambda: hp.EventWriter("x", flush_every=-1),
    r"write_timeline\(\): path='': must name a file": lambda: hp.write_timeline(""),
    r"diagnose\(\): watched, waits, batch, producers and memory are of a queue": lambda: hp.diagnose(loader(), batch=3),
    r"progress\(\): total=-1: must be in": lambda: hp.progress([], total=-1),
    r"dequeue_many\(\): n=1180591620717411303424: must be in \[-2\*\*63, 2\*\*63\)": lambda: queue().dequeue_many(2**70),
    r"dequeue\(\): timeout: a number beyond those of float": lambda: queue().dequeue(timeout=10**400),
    r"digit_set\(\): train_images=-1: must be in \[0, ": lambda: hp.digit_set("d", train_images=-1),
    r"LooperThread.loop\(\): interval=-1: must be in \[0, ": lambda: hp.LooperThread.loop(hp.Coordinator(), -1, identity),
    r"Resources: memory=0: must be in \[1, ": lambda: hp.Resources(memory=0),
    "pin_memory=True is for a Loader with memory of its own": lambda: loader(resources=hp.Resources(), format="torch", pin_memory=True),
    "MapStagingArea: no component 5; there are 1": lambda: hp.MapStagingArea("int64").put(1, 1, [5]),
    "timeout is not a number": lambda: hp.FIFOQueue(3, ["float32"]).dequeue(timeout=float("nan")),
    "the function returned no fields": lambda: hp.range(3).map(lambda x: {}),
    r"map: output= has no fields": lambda: hp.range(3).map(lambda x: {}, output={})}


@pytest.mark.parametrize("message", RANGES)
def test_a_value_out_of_range_names_the_argument(message):
    with pytest.raises(hp.InvalidArgumentError, match=message):
        RANGES[message]()


def test_scalars_of_numpy_are_arguments():
    with hp.Loader(hp.range(4).batch(np.int64(2)), threads=np.int32(1), epochs=np.int64(1), consumer_helps=np.True_, deterministic=np.bool_(True)) as batches:
        assert [one.tolist() for one in batches] == [[0, 1], [2, 3]]
    made = hp.FIFOQueue(np.int64(3), ["int64"], memory_limit=np.int64(100), shapes=[()], watchdog=np.float32(3))
    made.enqueue(np.int64(1), timeout=np.float64(1), copy=np.False_)
    assert made.dequeue_many(np.int32(1)) == [1] and made.capacity == 3
    area = hp.MapStagingArea(["int64", "int64"])
    area.put(np.int64(7), (1, 2), np.array([0, 1]))
    assert area.get(np.uint8(7), (np.int64(1),)) == (7, 2)
    assert tf1.range_input_producer(np.int64(3), shuffle=np.False_, num_epochs=np.int32(1)) is not None


def test_what_is_no_state_is_told_so():
    for saves in (hp.Loader(hp.range(3)), hp.range(3).sequence()):
        saved = saves.state_dict()
        for none in (None, [], {}, {"state": saved["state"]}):
            with pytest.raises(hp.InvalidArgumentError, match=r"not a state: state_dict\(\) gives a dict"):
                saves.load_state_dict(none)
        for damaged in (None, 3, "a", "\xe9"):
            with pytest.raises(hp.DataLossError, match="the state is damaged"):
                saves.load_state_dict({**saved, "state": damaged})
        with pytest.raises(hp.DataLossError, match="the state is damaged"):
            saves.load_state_dict({"version": 1})
        saves.load_state_dict(saved)


def test_a_function_of_a_field_that_is_not_there():
    named = hp.zip(a=hp.range(3), b=hp.range(3))
    for step in (identity, hp.invert()):
        with pytest.raises(hp.InvalidArgumentError, match="'c'"):
            named.map("c", step)
    with pytest.raises(hp.InvalidArgumentError, match="map: no field 'c' in 'a', 'b'"):
        named.map("c", identity, output=hp.i64)
    for bare, field in ((hp.range(3), "y"), (hp.zip(hp.range(3), hp.range(3)), "x")):
        with pytest.raises(TypeError, match="the fields have no names"):
            bare.map(field, identity)


def test_a_field_without_a_name_is_called_x():
    assert list(hp.range(3).map("x", lambda x: x + 1).sequence()) == [1, 2, 3]
    assert list(hp.range(3).map("x", lambda x, rng: x + 1, lambda x: 2 * x, output=hp.i64).sequence()) == [2, 4, 6]


def test_inputs_without_names_stay_so():
    assert list(hp.interleave([hp.range(2), hp.range(5, 7)]).sequence()) == [0, 5, 1, 6]
    pairs = hp.zip(hp.range(2), hp.range(2))
    assert list(hp.interleave([pairs, pairs]).sequence()) == [(0, 0), (0, 0), (1, 1), (1, 1)]
    assert next(hp.interleave([hp.zip(x=hp.range(2)), hp.range(2)]).sequence()) == {"x": 0}


def test_noise_is_a_dataset():
    sounds = hp.from_tensor_slices({"x": np.ones((4, 800), np.float32)})
    noises = hp.from_tensor_slices({"n": np.random.default_rng(1).normal(size=(3, 800)).astype(np.float32)})
    by_function = noises.map("n", lambda n: -n)
    mixed = sounds.map("x", hp.mix_noise(noises, low_snr_db=5, high_snr_db=5))
    changed = [np.abs(one["x"] - 1).max() > 0.1 for one in mixed.sequence()]
    assert changed == [True] * 4
    first = next(sounds.map("x", hp.mix_noise(noises), hp.random_apply([hp.mix_noise(by_function)], 0.5)).sequence())
    assert first["x"].shape == (800,)
    del by_function
    again = [one["x"] for one in hp.Loader(mixed)]
    assert all(np.array_equal(one, other["x"]) for one, other in zip(again, mixed.sequence()))
    one = hp.mix_noise(noises)(np.ones(800, np.float32), rng=np.random.default_rng(3))
    assert one.shape == (800,)
    with pytest.raises(hp.InvalidArgumentError, match="noise"):
        sounds.map("x", hp.mix_noise(hp.range(3)))


class Raises:
    """A value whose conversion fails for reasons of its own."""

    def fail(self, *_):
        raise KeyboardInterrupt("of the value")
    __float__ = __index__ = __iter__ = fail


@pytest.mark.parametrize("call", [
    lambda: queue().dequeue(timeout=Raises()), lambda: queue().dequeue_many(Raises()),
    lambda: hp.MapStagingArea("int64").put(1, 1, Raises()), lambda: hp.Barrier("int64", ()).insert_many(0, Raises(), [1])])
def test_what_a_value_raises_by_itself_stays_as_it_is(call):
    with pytest.raises(KeyboardInterrupt, match="of the value"):
        call()


class Wrong(Raises):
    def fail(self, *_):
        raise TypeError("not now")
    __index__ = __iter__ = fail


class WrongIndex:
    __index__ = Wrong.fail


@pytest.mark.parametrize("call", [
    lambda: queue().dequeue_many(Wrong()), lambda: hp.MapStagingArea("int64").put(1, 1, Wrong()), lambda: hp.FIFOQueue(Wrong(), "int64"),
    lambda: hp.MapStagingArea("int64").put(1, 1, (one + "" for one in [1])), lambda: hp.range(3).batch(WrongIndex())])
def test_a_type_error_of_a_value_is_the_cause(call):
    with pytest.raises(TypeError, match=r"must be (an integer|a list of integers)$") as raised:
        call()
    assert isinstance(raised.value.__cause__, TypeError) and not raised.value.__cause__.args[0].startswith(("put", "dequeue"))


def test_a_type_that_is_never_an_integer_is_no_cause():
    for call in (lambda: queue().dequeue_many("3"), lambda: hp.MapStagingArea("int64").put(1, 1, 5), lambda: hp.FIFOQueue("3", "int64")):
        with pytest.raises(TypeError, match="must be") as raised:
            call()
        assert raised.value.__cause__ is None


def test_a_value_may_have_half_of_a_surrogate_pair():
    class Odd:
        def __repr__(self):
            return "\ud800"

    with pytest.raises(TypeError, match=r"^dequeue_many\(\): n=\\ud800: must be an integer$"):
        queue().dequeue_many(Odd())


def test_a_released_memoryview_says_so(tmp_path):
    view = memoryview(b"x")
    view.release()
    with hp.RecordWriter(tmp_path / "out") as writer:
        with pytest.raises(ValueError, match="released"):
            writer.append(view)
        with pytest.raises(TypeError, match=r"append\(\): payload=<memory at .*: must be bytes"):
            writer.append(memoryview(b"abcd")[::2])
        writer.append(np.ones(3, np.uint8))


def test_a_long_value_is_cut_between_characters():
    with pytest.raises(TypeError) as raised:
        queue().dequeue_many("a" + "\u00f6" * 300)
    assert str(raised.value) == f"dequeue_many(): n='a{chr(0xf6) * 198}...: must be an integer"


def test_resources_have_the_memory_of_their_loaders():
    both = hp.Resources(threads=1, memory=1 << 30)
    with pytest.raises(hp.InvalidArgumentError, match=r"memory=5, resources=<headpond.Resources, .*: the memory is that of the resources: hp.Resources\(memory=5\)"):
        loader(resources=both, memory=5)
    assert loader(resources=both, threads=1).next() == 0
