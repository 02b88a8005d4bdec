# SPDX-License-Identifier: Apache-2.0
"""Interrupts and the end of the process, each in a process of its own."""
import signal
import subprocess
import sys
import textwrap
import time

import pytest

WAITS = {
    "next": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\nready()\nloader.next()",
    "dequeue": "queue = hp.FIFOQueue(1, hp.i64)\nready()\nqueue.dequeue()",
    "enqueue": "queue = hp.FIFOQueue(1, hp.i64)\nqueue.enqueue(1)\nready()\nqueue.enqueue(1)",
    "join": "c = hp.Coordinator()\nc.start('waits', lambda: done.wait())\nready()\nc.join()",
    "wait_for_stop": "c = hp.Coordinator()\nready()\nc.wait_for_stop()",
    "staging": "area = hp.StagingArea(hp.i64)\nready()\narea.get()",
    "function": "ready()\nlist(hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=0))",
}
HEAD = """
import sys, threading, time
import headpond as hp
done = threading.Event()
def ready():
    print("ready", flush=True)
def slow(x):
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


ENDS = {
    "loader": "loader = hp.Loader(hp.range(10**6).map(lambda x: x, output=(hp.i64, ())).batch(3), threads=2)\nloader.next()",
    "generator": "loader = hp.Loader(hp.from_generator(lambda e: iter(range(10**6)), (hp.i64, ())), threads=2)\nloader.next()",
    "runner": "q = hp.FIFOQueue(2, hp.i64)\nc = hp.Coordinator()\nhp.QueueRunner(q, [lambda: q.enqueue(1)]).start(c)\nq.dequeue()",
    "cycle": "class A: pass\na = A()\na.me = a\na.loader = hp.Loader(hp.range(99).map(lambda x: x).batch(2), threads=2)\na.loader.next()",
    "waiting": "loader = hp.Loader(hp.range(9).map(slow, output=(hp.i64, ())), threads=1, consumer_helps=False)\n"
               "threading.Thread(target=loader.next, daemon=True).start()\ntime.sleep(0.1)\nthreading.Timer(0.2, done.set).start()",
    "batches": "kept = list(hp.Loader(hp.range(1000).batch(100)))",
    "error": "hp.Loader(hp.range(3)).load_state_dict({})",
}


@pytest.mark.parametrize("what", ENDS)
def test_the_process_ends_while_things_live(what):
    program = f"{HEAD}\ntry:\n{textwrap.indent(ENDS[what], '    ')}\nexcept hp.Error:\n    pass\nprint('end')\n"
    for _ in range(5):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
        assert (done.stdout, done.stderr, done.returncode) == ("end\n", "", 0)


def test_import_prints_nothing_and_needs_no_numpy_yet():
    program = "import sys, headpond; print('numpy' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=False)
    assert (done.stdout, done.stderr) == ("False False\n", "")
