# SPDX-License-Identifier: Apache-2.0
"""The benches python.* of `headpond bench`, which starts this with the Python that has the package (cli/bench/children/python_bench.cc).

  benches.py describe BENCH                              its rounds, systems, figures and targets
  benches.py measure SYSTEM SECONDS CPUS FOLDER          the figures of one system, in this process

Both print lines of words between tabs. A system is known as BENCH/NAME, a figure as BENCH/NAME/FIGURE; of a system that is not installed
the version is empty.
"""
import importlib.metadata
import importlib.util
import os
import sys

from systems import SYSTEMS

# What of SYSTEMS is in a bench, and how many CPUs it has.
PARTS = {"ready": [("ready", 1)], "handoff": [("handoff", 2)], "first": [("first", 2)], "import": [("import", 1)],
         "mnist": [("mnist", 1), ("mnist_2", 2)], "lock": [("lock", 2)]}
ROUNDS = {"import": 11}
OURS = {"headpond", "NumPy", "C++"}  # Others are peers.

# figure: (case, in which {} is the system, metric, unit, which is better). Systems are compared in the same case.
FIGURES = {
    "ready": {"us": ("100 kB by reference", "us_per_batch", "us", "lower")},
    "handoff": {"small_us": ("32 x 784 f32", "us_per_batch", "us", "lower"), "large_us": ("38.5 MB u8", "us_per_batch", "us", "lower")},
    "first": {"ms": ("a process to its first batch", "ms", "ms", "lower")},
    "import": {"ms": ("import of {}", "ms", "ms", "lower"), "mb": ("import of {}", "memory_mb", "MB", "lower")},
    "mnist": {"k_per_s": ("one CPU", "thousand_examples_per_s", "k/s", "higher")},
    "mnist_2": {"k_per_s": ("two CPUs", "thousand_examples_per_s", "k/s", "higher")},
    "lock": {"released_2_by_1": ("two threads by one, a function that lets the lock go", "ratio", "x", "higher"),
             "held_by_loop": ("by a plain loop, a function that holds the lock", "ratio", "x", "higher"),
             "step_by_alone": ("a step beside a pipeline by one alone", "ratio", "x", "lower")},
}

# bench: [(id, text, the figure itself or how many times or how much more another one, at least or at most, bound, figures)]
TARGETS = {
    "ready": [("nodes", "us more than nodes, by reference", "more", "<=", 0.3, "ready/headpond/us", "ready/nodes/us")],
    "handoff": [("small", "us, 32 x 784 f32", "value", "<=", 5, "handoff/headpond/small_us"),
                ("large", "us, 38.5 MB u8", "value", "<=", 10, "handoff/headpond/large_us")],
    "first": [("all", "ms to the first batch", "value", "<=", 130, "first/headpond/ms"),
              ("numpy", "ms more than a process with NumPy alone", "more", "<=", 31, "first/headpond/ms", "first/NumPy/ms")],
    "import": [("time", "ms after NumPy", "value", "<=", 30, "import/headpond/ms"),
               ("memory", "MB after NumPy", "value", "<=", 10, "import/headpond/mb")],
    "mnist": [("cpp", "times C++", "times", ">=", 0.8, "mnist/headpond/k_per_s", "mnist/C++/k_per_s"),
              ("numpy", "times NumPy's own loop", "times", ">=", 1, "mnist/headpond/k_per_s", "mnist/NumPy/k_per_s"),
              ("mlx", "times mlx-data", "times", ">=", 3, "mnist/headpond/k_per_s", "mnist/mlx-data/k_per_s"),
              ("nodes", "times nodes", "times", ">=", 5, "mnist/headpond/k_per_s", "mnist/nodes/k_per_s"),
              ("tf_data", "times tf.data's usual form", "times", ">=", 10, "mnist/headpond/k_per_s", "mnist/tf.data/k_per_s")],
    "lock": [("released", "two threads by one, a function that lets the lock go", "value", ">=", 1.8, "lock/headpond/released_2_by_1"),
             ("held", "by a plain loop, a function that holds it", "value", ">=", 0.95, "lock/headpond/held_by_loop"),
             ("step", "a step beside a pipeline by one alone", "value", "<=", 1.02, "lock/headpond/step_by_alone")],
}


def version_of(module):
    """Empty: it is not installed."""
    top = module.split(".")[0]
    if importlib.util.find_spec(top) is None:
        return ""
    names = importlib.metadata.packages_distributions().get(top, [top])
    try:
        return importlib.metadata.version(names[0])
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def described(bench):
    """The lines of a bench: "mnist"."""
    lines = [("rounds", ROUNDS.get(bench, 5))]
    versions = {module: version_of(module) for part, _ in PARTS[bench] for module, _ in SYSTEMS[part].values()}
    for part, cpus in PARTS[bench]:
        for name, (module, _) in SYSTEMS[part].items():
            lines.append(("system", f"{part}/{name}", name, module, "own" if name in OURS else "peer", cpus, versions[module]))
            lines += [("figure", f"{part}/{name}", figure, case.format(name), *facts) for figure, (case, *facts) in FIGURES[part].items()]
    return lines + [("target", f"python.{bench}.{name}", *words) for name, *words in TARGETS[bench]]


def pss_mib():
    """Of this process, now."""
    with open("/proc/self/smaps_rollup") as file:
        return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024


def measured(system, seconds, cpus, folder):
    part, name = system.split("/", 1)
    os.sched_setaffinity(0, [int(cpu) for cpu in cpus.split(",")])
    os.environ.update(OMP_NUM_THREADS="1", HEADPOND_BENCH_FOLDER=folder)
    figures = SYSTEMS[part][name][1](float(seconds))
    return [("figure", *one) for one in {**figures, "pss_mib": pss_mib()}.items()]


if __name__ == "__main__":
    lines = described(sys.argv[2].removeprefix("python.")) if sys.argv[1] == "describe" else measured(*sys.argv[2:])
    print("\n" + "\n".join("\t".join(map(str, line)) for line in lines))
