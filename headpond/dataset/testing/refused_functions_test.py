#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the compiler says of functions that map, filter, flat_map, interleave and random_map cannot call, one error each, which
lists what they support; and of tensors that are read as characters or texts.

  refused_functions_test.py COMPILER [OPTION...]
"""
import subprocess
import sys
import tempfile

HEAD = """#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/ops.h"

using namespace headpond;
struct Overloaded {
  int operator()(int) const;
  int operator()(float) const;
};
"""
GOOD = """
int plain(int x) noexcept { return x; }
Step good[] = {
    map([](int64_t x) noexcept { return x; }),
    map(&plain),
    map(std::function<float(float)>()),
    map("x", [](std::span<const float> x, const Tensor&) -> Result<std::string> { return std::string(x.size(), 'x'); }),
    map([](const Element& all) { return all; }),
    map([](std::string_view text) { return std::tuple(text.size(), Tensor()); }),
    filter([](uint8_t x, bool) { return x > 0; }),
    flat_map([](int64_t x) { return range(x); }),
    flat_map([](const Element&) -> Result<Dataset> { return range(3); }),
    interleave([](std::span<const int64_t> x, std::string_view) noexcept { return range(x[0]); }),
    random_map([](float x, Random& random) { return x + random.uniform(); }),
    random_map([](const Element& all, Random&) { return all; }),
    random_map([](Random& random) noexcept -> Result<double> { return random.uniform(); }),
};
auto text = Tensor().bytes_at(0);
auto bytes = Tensor().as<uint8_t>();
"""
NO_TYPES = "The types of the function's arguments are not known"
ARGUMENT = "An argument of the function has a type that no field can be read as. Supported:"
RESULT = "The result of the function has a type that cannot become a field. Supported:"
MUTABLE = "A mutable function may give another result for the same element"
MUTABLE_DATASET = "A mutable function may give another dataset for the same element"
DATASET = "The function returns a Dataset, or a Result<Dataset>."
RANDOM = "The function takes what map's function takes, and then a Random&: (int64_t x, Random& random)"
REFUSED = [
    ("map([](auto x) { return x; })", NO_TYPES),
    ("map(Overloaded())", NO_TYPES),
    ("map(5)", NO_TYPES),
    ("map([n = 0](int x) mutable { return x + n++; })", MUTABLE),
    ("map([](const std::string& x) { return x; })", ARGUMENT),
    ("map([](std::span<float> x) { return x[0]; })", ARGUMENT),
    ("map([](long double x) { return x > 0; })", ARGUMENT),
    ("map([](int, const Element&) { return 1; })", ARGUMENT),
    ("map([](int) {})", RESULT),
    ("map([](int) { return \"text\"; })", RESULT),
    ("map([](int) { return std::vector<int>(); })", RESULT),
    ("map(\"x\", [](int) { return std::tuple(1, std::optional<int>()); })", RESULT),
    ("filter([](std::vector<int> x) { return x.empty(); })", ARGUMENT),
    ("flat_map([](auto x) { return range(x); })", NO_TYPES),
    ("flat_map([](std::vector<bool> x) { return range(x.size()); })", ARGUMENT),
    ("flat_map([](int64_t x) { return x; })", DATASET),
    ("interleave([](int64_t) {})", DATASET),
    ("interleave([n = 3](int64_t) mutable { return range(n++); })", MUTABLE_DATASET),
    ("random_map([](auto x, Random&) { return x; })", NO_TYPES),
    ("random_map([](int64_t x) { return x; })", RANDOM),
    ("random_map([] { return 1; })", RANDOM),
    ("random_map([](Random& random, int64_t x) { return x; })", RANDOM),
    ("random_map([](std::vector<char> x, Random&) { return x.size(); })", RANDOM),
    ("random_map([](int64_t, Random&) { return std::vector<float>(); })", RESULT),
    ("random_map([n = 0](int64_t x, Random&) mutable { return x + n++; })", MUTABLE),
]
# What a tensor of bytes is not read as: an error for each type names what reads it.
TEXTS = ["as<char>()", "as<std::string>()"]


def compile_text(command, text):
    with tempfile.NamedTemporaryFile("w", suffix=".cc") as source:
        source.write(HEAD + text)
        source.flush()
        all_errors = ["-ferror-limit=0"] if "clang" in command[0] else []  # g++ has no limit.
        return subprocess.run([*command, "-std=c++20", "-fsyntax-only", *all_errors, source.name], capture_output=True, text=True)


def main():
    command = sys.argv[1:]
    good = compile_text(command, GOOD)
    assert good.returncode == 0, "control: what is supported does not compile:\n" + good.stderr
    bad = compile_text(command, "".join(f"Step bad{i} = {code};\n" for i, (code, _) in enumerate(REFUSED)))
    errors = [line for line in bad.stderr.splitlines() if "error: " in line]
    for kind in (NO_TYPES, ARGUMENT, RESULT, MUTABLE, MUTABLE_DATASET, DATASET, RANDOM):
        wanted = sum(said == kind for _, said in REFUSED)
        found = sum(kind in line for line in errors)
        assert found == wanted, f"{found} instead of {wanted} errors '{kind}':\n{bad.stderr}"
    assert len(errors) == len(REFUSED), "errors that say something else:\n" + bad.stderr
    for name in ("std::optional<int>", "std::vector<int>", "std::span<float"):
        assert name in bad.stderr or name.replace("std::", "") in bad.stderr, f"the error does not name {name}:\n{bad.stderr}"
    texts = compile_text(command, "Tensor tensor;\n" + "".join(f"auto text{i} = tensor.{code};\n" for i, code in enumerate(TEXTS)))
    named = [line for line in texts.stderr.splitlines() if "error: " in line and "with bytes_at(i)" in line]
    assert len(named) == len(TEXTS), "errors that do not name bytes_at:\n" + texts.stderr


if __name__ == "__main__":
    main()
