# SPDX-License-Identifier: Apache-2.0
"""What tests of the verbs of pipeline files share: steps of such a file, and a case that has one."""
import json

from cli_case import Case


def step(op, key="step", **args):
    """A step of a pipeline file; inputs= stands beside op."""
    inputs = args.pop("inputs", None)
    return f'[[{key}]]\nop = "{op}"\n' + (f"inputs = {json.dumps(inputs)}\n" if inputs else f"args = {toml(args)}\n")


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {toml(own)}" for name, own in value.items()) + " }"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, list) else json.dumps(value)


class PlanCase(Case):
    """With a pipeline file: the numbers from 0 to 99 without the multiples of three, shuffled."""

    def setUp(self):
        super().setUp()
        self.plan(step("range", stop=100) + step("filter", predicate="x % 3 != 0") + step("shuffle", window=10))

    def plan(self, text, name="plan.toml"):
        (self.folder / name).write_text(text)
        return name

    def lines(self, *arguments):
        return [json.loads(line) for line in self.expect(0, "run", "plan.toml", "--print", *arguments).stdout.splitlines()]

    def values(self, *arguments):
        return [line["fields"]["x"] for line in self.lines(*arguments)]

    def result(self, *arguments):
        return self.json_of(self.expect(0, "run", "plan.toml", "--json", *arguments).stdout, "headpond.run/1")
