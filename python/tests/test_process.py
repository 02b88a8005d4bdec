# SPDX-License-Identifier: Apache-2.0
"""Interrupts and the end of the process, each in a process of its own."""
import os
import platform
import random
import signal
import subprocess
import sys
import textwrap
import time

import pytest

from counts import count

WAITS = {
    "next": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\nready()\nloader.next()",
    "dequeue": "queue = hp.FIFOQueue(1, hp.i64)\nready()\nqueue.dequeue()",
    "enqueue": "queue = hp.FIFOQueue(1, hp.i64)\nqueue.enqueue(1)\nready()\nqueue.enqueue(1)",
    "join": "c = hp.Coordinator()\nc.start('waits', lambda: done.wait())\nready()\nc.join()",
    "wait_for_stop": "c = hp.Coordinator()\nready()\nc.wait_for_stop()",
    "staging": "area = hp.StagingArea(hp.i64)\nready()\narea.get()",
    "sequence": "ready()\nnext(hp.range(10**12).filter('x < 0').sequence())",
    "building": "ready()\nhp.range(10**12).filter('x < 0').map(lambda x: x)",
    "close": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\nstart(loader)\n"
             "ready()\nloader.close()",
    "function": "ready()\nlist(hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=0))",
}
HEAD = """
import sys, threading, time
import numpy
import headpond as hp
done = threading.Event()
def ready():
    print("ready", flush=True)
def start(loader):
    try:
        loader.try_next()
    except hp.DeadlineExceededError:
        began.wait()
began = threading.Event()
def slow(x):
    began.set()
    while not done.wait(0.01):
        pass
    return x
"""


@pytest.mark.parametrize("where", WAITS)
def test_control_c_ends_a_wait(where):
    body = textwrap.indent(WAITS[where], "    ")
    program = f"{HEAD}\ntry:\n{body}\nexcept KeyboardInterrupt:\n    done.set()\n    print('interrupted', flush=True)\n"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (out, err, process.returncode) == ("interrupted\n", "", 0)


def test_nothing_is_lost_by_an_interrupt_while_next_waits():
    program = HEAD + """
import os, signal
import numpy
loader = hp.Loader(hp.range(30).map(lambda x: time.sleep(0.02) or x, output=(hp.i64, ())), threads=1, consumer_helps=False)
threading.Thread(target=lambda: [time.sleep(0.11) or os.kill(os.getpid(), signal.SIGINT) for _ in range(3)], daemon=True).start()
got = []
interrupts = 0
while len(got) < 30:
    try:
        value = loader.next()
        if value is None:
            break
        got.append(int(value))
    except KeyboardInterrupt:
        interrupts += 1
print(got == list(range(30)), interrupts >= 1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "True True\n", done.stderr


def test_after_an_interrupt_a_sequence_tells_the_epoch_that_had_begun():
    program = HEAD + """
import os, signal
last = 3_000_000
while True:  # So many that the signal comes before they are seen.
    sequence = hp.range(last + 1).filter(f"x == {last}").sequence(epochs=2)
    began = time.monotonic()
    assert next(sequence) == last and (sequence.epoch, sequence.index) == (0, 0)
    if time.monotonic() - began > 1:
        break
    last *= 2
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    next(sequence)
    print("the end came first")
except KeyboardInterrupt:
    print(sequence.epoch, sequence.index)
state = sequence.state_dict()
print(state["epoch"], state["index"])
loader = hp.Loader(sequence.dataset, epochs=2)
loader.load_state_dict(state)
print(int(loader.next()) == last, loader.next())
print(next(sequence) == last, sequence.epoch, sequence.index, list(sequence))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "1 -1\n1 -1\nTrue None\nTrue 1 0 []\n", done.stderr


# Each goes on after an interrupt, until nothing is left, and prints what it has.
INTERRUPTED = {
    "next": """
loader = hp.Loader(hp.range(60).map(lambda x: time.sleep(0.01) or x, output=(hp.i64, ())), threads=1, consumer_helps=False)
goes_on(lambda: take(loader.next()))""",
    "dequeue": """
queue = hp.FIFOQueue(4, hp.i64)
left = iter(range(60))
c = hp.Coordinator()
hp.QueueRunner(queue, [lambda: queue.enqueue(time.sleep(0.01) or next(left))]).start(c)
def dequeue():
    try:
        take(queue.dequeue())
    except hp.OutOfRangeError:
        take(None)
goes_on(dequeue, may_lose=True)""",
    "join": """
c = hp.Coordinator()
def work():
    for number in range(60):
        time.sleep(0.01)
        got.append(number)
c.start("works", work)
goes_on(lambda: take(c.join()))""",
    "write_shards": """
import tempfile
folder = tempfile.mkdtemp()
data = hp.range(60).map(lambda x: time.sleep(0.01) or str(int(x)).encode(), output=(hp.bytes, ()), serial=True)
goes_on(lambda: take(data.write_shards(folder, shards=3, resume=True) and None))
got = sorted(int(one) for one in hp.tfrecord(folder + "/*.tfrecord").sequence())""",
    "function": """
loader = hp.Loader(hp.range(60).map(lambda x: time.sleep(0.01) or x, output=(hp.i64, ())), threads=0)
goes_on(lambda: take(loader.next()), may_lose=True)""",
}
GOES_ON = HEAD + """
got, ended = [], []
def take(one):
    ended.append(True) if one is None else got.append(int(one))
lost = 0
def goes_on(step, may_lose=False):
    global lost
    ready()
    while not ended:
        try:
            step()
        except KeyboardInterrupt:
            lost += may_lose
            print("interrupted", flush=True)
"""


@pytest.mark.parametrize("where", INTERRUPTED)
def test_control_c_at_any_moment_loses_nothing(where):
    """But in a function of the program's own, and between the end of dequeue() and the next instruction: there the element."""
    moments = random.Random(f"{where} 1")
    for _ in range(count(2, 50)):
        program = GOES_ON + INTERRUPTED[where] + "\nprint(len(got) + lost >= 60, got == sorted(set(got)), len(got) >= 59)"
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout.readline() == "ready\n"
            time.sleep(moments.uniform(0.05, 0.25))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert (out, err, process.returncode) == ("interrupted\nTrue True True\n", "", 0)


def test_control_a_wait_without_the_look_does_not_end():
    program = HEAD + """
import ctypes
c, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)
c.pthread_mutex_lock(mutex)
ready()
c.pthread_mutex_lock(mutex)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=count(0.5, 2))
        process.kill()


HANDLERS = {
    "join": "c.join()",
    "wait_for_stop": "c.wait_for_stop()",
    "dequeue": "q.dequeue()",
}


@pytest.mark.parametrize("where", HANDLERS)
def test_a_signal_handlers_own_exception_is_raised(where):
    program = HEAD + f"""
import os, signal
c = hp.Coordinator()
c.start("waits", c.wait_for_stop)
q = hp.FIFOQueue(3, hp.i64)
def on(*ignored):
    q.enqueue(1)
    c.request_stop()
    raise SystemExit(3)
signal.signal(signal.SIGTERM, on)
threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGTERM)).start()
{HANDLERS[where]}
while True:
    time.sleep(0.1)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stderr, done.returncode) == ("", 3)


def test_a_collection_on_a_loaders_own_thread_does_not_wait_for_it():
    program = HEAD + """
import gc, os
class Holder:
    pass
dropped = threading.Event()
def collects(x):
    if x > 0:
        dropped.wait()
        gc.collect()
    return x
def make():
    holder = Holder()
    holder.loader = hp.Loader(hp.range(10**6).map(collects, output=(hp.i64, ())), threads=2, consumer_helps=False)
    holder.me = holder
    holder.loader.next()
gc.disable()
make()
dropped.set()
ended = time.monotonic() + 20
def threads():
    names = []
    for one in os.listdir("/proc/self/task"):
        try:
            names.append(open(f"/proc/self/task/{one}/comm").read())
        except OSError:
            pass
    return [name for name in names if name.startswith("headpond/")]
while threads() and time.monotonic() < ended:
    time.sleep(0.01)
print(len(threads()))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_bfloat16_is_looked_for_by_one_thread_or_several(tmp_path):
    (tmp_path / "ml_dtypes.py").write_text("import time\ntime.sleep(0.3)\nimport numpy\nbfloat16 = numpy.float16\n")
    program = HEAD + """
def go():
    hp.from_generator(lambda e: iter([1.0]), (hp.bf16, ())).sequence()
threads = [threading.Thread(target=go) for _ in range(2)]
[one.start() for one in threads]
[one.join() for one in threads]
print("end")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False,
                          env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"})
    assert (done.stdout, done.stderr) == ("end\n", "")


ENDS = {
    "function that never returns": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\n"
                                   "start(loader)",
    "loader": "loader = hp.Loader(hp.range(10**6).map(lambda x: x, output=(hp.i64, ())).batch(3), threads=2)\nloader.next()",
    "function that gives the lock up": "loader = hp.Loader(hp.range(10**6).map(lambda x: time.sleep(0.02) or x, output=(hp.i64, ())), threads=2)\n"
                                       "loader.next()",
    "generator": "loader = hp.Loader(hp.from_generator(lambda e: iter(range(10**6)), (hp.i64, ())), threads=2)\nloader.next()",
    "runner": "q = hp.FIFOQueue(2, hp.i64)\nc = hp.Coordinator()\nhp.QueueRunner(q, [lambda: q.enqueue(1)]).start(c)\nq.dequeue()",
    "cycle": "class A: pass\na = A()\na.me = a\na.loader = hp.Loader(hp.range(99).map(lambda x: x).batch(2), threads=2)\na.loader.next()",
    "waiting": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\n"
               "threading.Thread(target=loader.next, daemon=True).start()\ntime.sleep(0.1)\nthreading.Timer(0.2, done.set).start()",
    "object of a thread that ends for long": "class Slow:\n    def __del__(self):\n        for _ in range(250): time.sleep(0.01)\nlocal = threading.local()\n"
                                             "def keeps(x):\n    local.slow = getattr(local, 'slow', None) or Slow()\n    time.sleep(0.001)\n    return x\n"
                                             "loader = hp.Loader(hp.range(10**6).map(keeps, output=(hp.i64, ()), blocking=True), threads=2, io_threads=4)\n"
                                             "for _ in range(20): loader.next()",
    "thread that closes a Loader": "loader = hp.Loader(hp.range(10**5).map(hp.expr('x + 1')).batch(10), threads=2)\n"
                                   "for _ in range(20): loader.next()\n"
                                   "threading.Thread(target=loader.close, daemon=True).start()",
    "batches": "kept = list(hp.Loader(hp.range(1000).batch(100)))",
    "error": "hp.Loader(hp.range(3)).load_state_dict({})",
}


REPORTED = {"function that never returns": "~Loader is waiting for functions",  # If the processor had time for the report.
            "object of a thread that ends for long": ": the end of this thread does not return"}


@pytest.mark.parametrize("what", ENDS)
def test_the_process_ends_while_things_live(what):
    program = f"{HEAD}\ntry:\n{textwrap.indent(ENDS[what], '    ')}\nexcept hp.Error:\n    pass\nprint('end')\n"
    for _ in range(count(3, 25)):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
        assert (done.stdout, done.returncode) == ("end\n", 0)
        assert done.stderr == "" or what in REPORTED and REPORTED[what] in done.stderr


def test_a_thread_that_waits_for_the_lock_when_the_program_ends_stops():
    """Without the hook, with functions that never give the lock up: threads are where they take it when the interpreter ends. What the
    main thread frees last takes long, so that they see that."""
    program = f"""{HEAD}
import atexit
atexit.unregister(hp._exit)
numbers = list(range(20_000))
data = hp.range(10**6).map(numbers.count, output=(hp.i64, ()), name="count").batch(64)
loaders = [hp.Loader(data, threads=1, consumer_helps=False) for _ in range(3)]
for loader in loaders: loader.next()
class EndsLate:
    def __del__(self):
        sum(iter(range(3_000_000)))
ends_late = EndsLate()
"""
    for _ in range(count(3, 25)):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
        assert (done.stderr, done.returncode) == ("", 0)


def test_control_without_the_hook_a_process_does_not_end_well():
    program = f"""{HEAD}
import atexit
atexit.unregister(hp._exit)
{ENDS["function that gives the lock up"]}
"""
    ends = []
    for _ in range(count(5, 25)):
        try:
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=10, check=False)
            ends.append((done.returncode, done.stderr))
        except subprocess.TimeoutExpired:
            ends.append("it hangs")
    assert any(end != (0, "") for end in ends)


def test_lines_of_the_log_at_the_exit():
    """They are Python's up to the package's own end."""
    program = """
import atexit, logging, sys
def log():
    next(hp.range(256, 254, -1).map(hp.expr("x", dtype=hp.u8)).ignore_errors(log_warning=True).sequence())
atexit.register(log)
import headpond as hp
atexit.register(log)
logging.basicConfig(format="%(name)s %(levelname)s", stream=sys.stdout)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "headpond WARNING\n"
    assert done.stderr.startswith("headpond warning: ignore_errors: InvalidArgument") and done.stderr.count("\n") == 1


def test_threads_of_the_engine_let_go_of_objects_while_other_threads_end():
    """They have no lock then; the interpreter's list of calls up to 3.11 looked at the state of a thread that had ended."""
    program = """
import headpond as hp
data = hp.from_generator(lambda epoch: iter(range(96)), (hp.i64, ()), name="numbers").batch(8)
loaders = [hp.Loader(data, epochs=None) for _ in range(4)]
for loader in loaders:
    loader.next()
state = loaders[0].state_dict()
for _ in range(ROUNDS):
    for loader in loaders:
        loader.load_state_dict(state)
    for loader in loaders:
        loader.next()
"""
    program = program.replace("ROUNDS", str(count(1500, 6000)))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=False)
    assert (done.stderr, done.returncode) == ("", 0)


def test_import_prints_nothing_and_needs_no_numpy_yet():
    program = "import sys, headpond; print('numpy' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == ("False False\n", "")


@pytest.mark.parametrize("has_mark", [True, False])
def test_a_child_of_fork_is_refused_instead_of_waiting(has_mark):
    """The control: a child that the system makes without the handlers of fork(), which leave the mark, waits for threads that it does not
    have."""
    program = f"""{HEAD}
import ctypes, os
loader = hp.Loader(hp.range(10**7).batch(10), threads=2, consumer_helps=False)
loader.next()
of_fork = 57
pid = os.fork() if {has_mark} else ctypes.PyDLL(None).syscall(of_fork)
if pid == 0:
    try:
        while loader.next() is not None:
            pass
    except hp.FailedPreconditionError:
        os._exit(3)
    os._exit(4)
end = time.monotonic() + 5
while time.monotonic() < end and (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
    time.sleep(0.01)
if ended == (0, 0):
    os.kill(pid, 9)
    os.waitpid(pid, 0)
print("waits" if ended == (0, 0) else os.waitstatus_to_exitcode(ended[1]), loader.next() is not None)
"""
    if not has_mark and platform.machine() != "x86_64":
        pytest.skip("the number of the call is that of x86_64")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("3 True\n" if has_mark else "waits True\n", "")


OF_MAIN = """
import traceback
import headpond as hp
class Own(Exception):
    pass
def function(x):
    if x == 500:
        raise Own("no 500")
    return x
class Wrapped:
    def __init__(self, batches):
        self.batches = batches
    def __iter__(self):
        return self
    def __next__(self):
        try:
            return next(self.batches)
        except Own as error:
            raise hp.UnknownError(str(error)) from None
batches = {wrap}(hp.Loader(hp.range(1000).map(function, name="f", output=(hp.i64, ())), threads=2).flat())
numbers = []
try:
    for one in batches:
        numbers.append(int(one))
except Own as error:
    assert type(error) is Own and error.args == ("no 500",)
    assert [frame.name for frame in traceback.extract_tb(error.__traceback__)][-1] == "function"
    assert any("500" in note and "map" in note for note in getattr(error, "__notes__", ["map, 500"]))
assert numbers == list(range(500))
assert [int(one) for one in batches] == list(range(501, 1000))
"""


@pytest.mark.parametrize("wrap, ends_well", [("", True), ("Wrapped", False)])
def test_an_exception_of_the_program_leaves_next_as_it_is(wrap, ends_well):
    """The control is a binding that gives an error of its own."""
    done = subprocess.run([sys.executable, "-c", OF_MAIN.format(wrap=wrap)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode == 0) == ends_well, done.stderr
    assert ends_well or "UnknownError: no 500" in done.stderr


SUB_INTERPRETER = """
import sys
def interpreters():
    for name in "_interpreters", "_xxsubinterpreters":
        try:
            return __import__(name)
        except ImportError:
            pass
    sys.exit("this Python has no module for sub-interpreters")
made = interpreters()
{before}
one = made.create()
made.run_string(one, "try:\\n    import headpond\\n    print('imported')\\nexcept ImportError as error:\\n    print(error)", shared={{}})
made.destroy(one)
import headpond as hp
print([int(x) for x in hp.Loader(hp.range(4).map(lambda x: x + 1))])
"""


@pytest.mark.parametrize("before", ["", "import headpond"])
def test_a_sub_interpreter_is_refused(before):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", SUB_INTERPRETER.format(before=before)], capture_output=True, text=True, timeout=30,
                          check=False)
    if "no module for sub-interpreters" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert (done.stderr, done.returncode) == ("", 0)
    refused, works = done.stdout.splitlines()
    assert "main interpreter only" in refused and works == "[1, 2, 3, 4]"
