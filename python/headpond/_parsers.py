# SPDX-License-Identifier: Apache-2.0
"""Parsers of messages as objects: for map(), and for a value without a dataset. Datasets have methods of the same names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._operators import given_by_name
from ._steps import Parser


def parse_example(features: Mapping[str, Any]) -> Parser:
    """hp.parse_example({"image": (hp.u8, (28, 28)), "label": hp.i64})(record): the fields of a serialized tf.train.Example."""
    return Parser("parse_example", given_by_name("parse_example", ["features"], (features,), {}))


def parse_sequence_example(context: Mapping[str, Any] | None = None, lists: Mapping[str, Any] | None = None) -> Parser:
    """The same of a tf.train.SequenceExample: the features of its context, then those of its lists."""
    return Parser("parse_sequence_example", given_by_name("parse_sequence_example", ["context", "lists"], (context, lists), {}))


def parse_json(fields: Mapping[str, Any]) -> Parser:
    """The same of a JSON object, such as a line of a JSON Lines file."""
    return Parser("parse_json", given_by_name("parse_json", ["fields"], (fields,), {}))
