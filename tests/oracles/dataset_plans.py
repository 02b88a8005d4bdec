# SPDX-License-Identifier: Apache-2.0
"""What a random pipeline is made of, and what it says: as a pipeline file, and as a dataset of tf.data.

A pipeline is a list of steps (a chain). A step knows its text (`op`, `args`, `inputs`) and a function that makes the dataset of
tf.data. `Flow` says what comes out of it, so that the next step fits. Elements of tf.data are tuples of tensors, or a tensor where
there is one field.
"""
import dataclasses
import json
import typing

import tensorflow as tf


class Field(typing.NamedTuple):
    name: str
    dtype: str  # NumPy's name, or "bytes"
    dims: tuple = ()  # None: differs from element to element

    def is_number(self):
        return self.dtype != "bytes"

    def computes(self):
        """Whether an expression may use it."""
        return self.dtype not in ("bytes", "float16")

    def is_integer(self):
        return self.dtype.startswith(("int", "uint"))


@dataclasses.dataclass(frozen=True)
class Flow:
    """What a chain gives."""
    fields: tuple
    most: float = 0  # elements at most
    fails: bool = False  # an element may be an error
    unordered: bool = False  # only which elements there are is compared
    gathers_errors: bool = False  # a batch may have met an error
    stuck: bool = False  # an error may come again for ever in tf.data

    @property
    def endless(self):
        return self.most == float("inf")

    def but(self, **changes):
        return dataclasses.replace(self, **changes)


@dataclasses.dataclass
class Step:
    op: str
    args: dict
    build: typing.Callable  # (datasets, outer) -> dataset; outer: tensors by name, in a chain that is made for an element
    flow: Flow
    inputs: tuple = ()  # (name, chain)
    nested: tuple = ()  # (name, chain): of the argument `chain`


def pack(components):
    return components[0] if len(components) == 1 else tuple(components)


def build(chain, outer=None):
    """The dataset of tf.data."""
    datasets = []
    for step in chain:
        below = [build(own, outer) for _, own in step.inputs] if step.inputs else datasets
        datasets = [step.build(below, outer)]
    return datasets[0]


def flattened(dataset):
    """With elements that are one flat tuple."""
    return dataset.map(lambda *parts: pack(tf.nest.flatten(parts)))


def toml(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(name)} = {toml(own)}" for name, own in value.items()) + " }"
    return "[" + ", ".join(map(toml, value)) + "]" if isinstance(value, (list, tuple)) else json.dumps(value)


def written(chain, key="step"):
    """The text of a pipeline file."""
    text, chains = "", {}
    for step in chain:
        text += f"[[{key}]]\nop = {json.dumps(step.op)}\n"
        text += f"inputs = {json.dumps([name for name, _ in step.inputs])}\n" if step.inputs else ""
        text += f"args = {toml(step.args)}\n" if step.args else ""
        chains.update(dict(step.inputs))
        chains.update(dict([step.nested] if step.nested else []))
    return text + "".join(written(own, f"chain.{name}") for name, own in chains.items())


def steps_of(chain):
    """All steps, those of inputs and nested chains too."""
    for step in chain:
        for _, own in [*step.inputs, *([step.nested] if step.nested else [])]:
            yield from steps_of(own)
        yield step


# ---- expressions ----------------------------------------------------------------------------------------------------------

class Expression(typing.NamedTuple):
    text: str
    value: typing.Callable  # (components by name, outer) -> a tensor of int64 or float64
    is_float: bool
    dims: tuple
    fails: bool


def wide(tensor):
    """As an expression sees a field."""
    is_float = tensor.dtype.is_floating
    return tf.cast(tensor, tf.float64 if is_float else tf.int64)


def alike(a, b):
    if a.dtype == b.dtype:
        return a, b
    return tf.cast(a, tf.float64), tf.cast(b, tf.float64)


def truth(tensor):
    return tf.not_equal(tensor, tf.zeros([], tensor.dtype))


def flag(tensor):
    return tf.cast(tensor, tf.int64)


def divided(a, b, by_integers=tf.truncatediv):
    """tf.truncatediv by 0 is an error of the kind Internal; here it is InvalidArgument."""
    if a.dtype == tf.float64:
        return a / b if by_integers is tf.truncatediv else tf.truncatemod(a, b)
    with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.not_equal(b, 0)), [0])]):
        return by_integers(a, b)


BINARY = {
    "+": tf.add, "-": tf.subtract, "*": tf.multiply, "/": divided, "%": lambda a, b: divided(a, b, tf.truncatemod),
    "<": lambda a, b: flag(a < b), "<=": lambda a, b: flag(a <= b), ">": lambda a, b: flag(a > b), ">=": lambda a, b: flag(a >= b),
    "==": lambda a, b: flag(tf.equal(a, b)), "!=": lambda a, b: flag(tf.not_equal(a, b)),
    "&&": lambda a, b: flag(truth(a) & truth(b)), "||": lambda a, b: flag(truth(a) | truth(b)),
}


def literal(rng, is_float):
    if is_float:
        number = rng.choice([0.5, 1.5, -2.25, 1e3, 0.1])
        return Expression(f"({number})", lambda own, outer: tf.constant(number, tf.float64), True, (), False)
    number = rng.randint(-3, 9)
    return Expression(f"({number})", lambda own, outer: tf.constant(number, tf.int64), False, (), False)


def leaf(rng, fields, outer_fields):
    choices = [field for field in fields if field.computes()]
    if outer_fields and rng.random() < 0.3:
        field = rng.choice(outer_fields)
        return Expression(f"({{{field.name}}})", lambda own, outer: wide(outer[field.name]), False, (), False)
    if not choices or rng.random() < 0.25:
        return literal(rng, rng.random() < 0.2)
    field = rng.choice(choices)
    is_float = field.dtype.startswith("float")
    return Expression(field.name, lambda own, outer: wide(own[field.name]), is_float, field.dims, False)


def binary(rng, fields, outer_fields, depth, risky):
    op = rng.choice(list(BINARY))
    safe_right = op in ("/", "%") and not risky
    left = over(rng, fields, outer_fields, depth - 1, risky and op not in ("&&", "||"))
    right = literal(rng, rng.random() < 0.2) if safe_right else over(rng, fields, outer_fields, depth - 1, risky and op not in ("&&", "||"))
    if safe_right and right.text in ("(0)",):
        right = Expression("(7)", lambda own, outer: tf.constant(7, tf.int64), False, (), False)
    is_float = (left.is_float or right.is_float) and op in "+-*/%"
    fails = left.fails or right.fails or (op in ("/", "%") and not safe_right)
    return Expression(f"({left.text} {op} {right.text})",
                      lambda own, outer: BINARY[op](*alike(left.value(own, outer), right.value(own, outer))),
                      is_float, left.dims or right.dims, fails)


def thrown_at(inner, number):
    def value(own, outer):
        x = inner.value(own, outer)
        with tf.control_dependencies([tf.debugging.Assert(tf.reduce_all(tf.not_equal(x, tf.cast(number, x.dtype))), [0])]):
            return tf.identity(x)
    return Expression(f"throw_at({inner.text}, {number})", value, inner.is_float, inner.dims, True)


def expression(rng, fields, outer_fields=(), depth=2, risky=False):
    """Over the scalars of `fields`, and at most one of its arrays."""
    arrays = [field for field in fields if field.dims and field.computes()]
    usable = [field for field in fields if not field.dims] + ([rng.choice(arrays)] if arrays and rng.random() < 0.7 else [])
    return over(rng, usable, outer_fields, depth, risky)


def over(rng, fields, outer_fields, depth, risky):
    kind = rng.random()
    if depth <= 0 or kind < 0.2:
        return leaf(rng, fields, outer_fields)
    if kind < 0.3:
        inner = over(rng, fields, outer_fields, depth - 1, risky)
        minus = rng.random() < 0.5
        return Expression(f"({'-' if minus else '!'}{inner.text})",
                          lambda own, outer: -inner.value(own, outer) if minus else flag(~truth(inner.value(own, outer))),
                          inner.is_float and minus, inner.dims, inner.fails)
    if risky and kind < 0.5:
        return thrown_at(over(rng, fields, outer_fields, depth - 1, False), rng.randint(0, 12))
    return binary(rng, fields, outer_fields, depth, risky)
