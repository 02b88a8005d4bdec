# SPDX-License-Identifier: Apache-2.0
"""How the outcomes of one pipeline differ, and which differences are on purpose: NAMED."""
import collections
import re
import typing

from dataset_outcomes import content, digest_of
from dataset_plans import steps_of, written

LIMIT = 60  # Elements of a run, unless only which ones there are is compared.


def fields_shown(flow):
    return [(field.name, field.dtype) for field in flow.fields]


def same(a, b):
    """One element by both; a dimension of 0 hides those after it in JSON, which the digest covers."""
    return len(a) == len(b) and all(x[0] == y[0] and content(*x) == content(*y) and (x[1].size == 0 or x[1].shape == y[1].shape)
                                    for x, y in zip(a, b))


def multiset(elements):
    """As same() compares them; the digest of a run is that of one order, so it tells nothing here."""
    return collections.Counter(digest_of([[(dtype, array if array.size else array.reshape(0)) for dtype, array in element]])
                               for element in elements)


def difference(flow, theirs, ours, limit, epochs):
    """What differs; "" if nothing does."""
    if flow.unordered and not theirs.error and not ours.error:
        return "" if multiset(theirs.elements) == multiset(ours.elements) else "other elements"
    for i, (a, b) in enumerate(zip(theirs.elements, ours.elements)):
        if not same(a, b):
            return f"element {i}"
    if ours.refused and theirs.error:
        return "" if not theirs.elements else "refused when built"
    if len(theirs.elements) != len(ours.elements):
        return "number of elements"
    if bool(theirs.error) != bool(ours.error):
        return "an error"
    if theirs.error != ours.error:
        return "kind of error"
    if theirs.digest != ours.digest:
        return "digest"
    if None not in (theirs.cardinality, ours.cardinality) and theirs.cardinality != ours.cardinality:
        return "cardinality"
    is_whole = not ours.error and len(ours.elements) < limit
    return "a cardinality that is not true" if is_whole and ours.cardinality not in (None, len(ours.elements) // epochs) else ""


class Named(typing.NamedTuple):
    """A difference on purpose."""
    why: str
    holds: typing.Callable  # (chain, what differs, theirs, ours) -> bool


def ops(chain):
    return [own.op for own in steps_of(chain)]


def leaves_elements_out(size, shift=None, stride=1, drop_remainder=False, **_):
    return drop_remainder or stride > 1 or (shift or size) > size


# Each with the place that says so.
NAMED = [
    Named("assert_cardinality refuses a wrong number before the first element if the input knows its number (ops/structure.h)",
          lambda chain, what, theirs, ours: re.search(r"assert_cardinality: (\w+: )?expected", ours.message) and not ours.elements),
    Named("a chain that cannot be made for zeros is refused; tf.data finds out when it makes one (plan_files.md)",
          lambda chain, what, theirs, ours: "fails for an element of zeros" in ours.message and not ours.elements),
    Named("tf.data counts an endless repeat of nothing as endless (datasets.md 4D.2: it ends, as tf.data's own elements do)",
          lambda chain, what, theirs, ours: what == "cardinality" and not theirs.error and len(theirs.elements) < LIMIT and
          theirs.cardinality not in (len(theirs.elements), len(theirs.elements) // 2)),
    Named("a Loader refuses a shard that gets none of the elements; tf.data gives nothing (ops/structure.h)",
          lambda chain, what, theirs, ours: "shard" in ops(chain) and not ours.elements and not theirs.elements and
          "gets none of them" in ours.message),
    Named("an endless repeat of what turns out to be empty is FailedPrecondition, not the end (commands.md 4.10)",
          lambda chain, what, theirs, ours: "repeat" in ops(chain) and ours.error == "FailedPrecondition" and not theirs.error),
    Named("a shuffle of the whole epoch needs positions; tf.data holds the whole epoch in memory (ops/order.h)",
          lambda chain, what, theirs, ours: "a stream has no positions to permute" in ours.message),
    Named("scan is a stream, whose number of elements is not known before its end; tf.data's has that of its input (ops/fold.h)",
          lambda chain, what, theirs, ours: "scan" in ops(chain) and not ours.elements and
          "the number of elements of the input is not known before its end" in ours.message),
    Named("of two errors in one batch the one of the earlier element is told (DESIGN.md 2.5)",
          lambda chain, what, theirs, ours: what == "kind of error" and chain[-1].flow.gathers_errors),
    Named("the number of a file's records, and of other elements, is known where tf.data does not know it (ops/structure.h)",
          lambda chain, what, theirs, ours: "pad_to_cardinality" in ops(chain) and "must have a known cardinal" in theirs.message),
    Named("an error in a batch loses no good element: ignore_errors after batch keeps them (datasets.md 4E.5)",
          lambda chain, what, theirs, ours: "ignore_errors" in ops(chain) and chain[-1].flow.gathers_errors),
    Named("an error in no window, as between two of them, is given; tf.data drops the errors of elements that it leaves out (ops/regroup.h)",
          lambda chain, what, theirs, ours: bool(ours.error) and not theirs.error and
          any(own.op == "window" and leaves_elements_out(**own.args) for own in chain)),
    Named("an element that no bucket pads to fails where it is; tf.data tells it when its bucket's batch is made (ops/bucket.h)",
          lambda chain, what, theirs, ours: bool(ours.error) and "must have length < max(bucket_boundaries)" in theirs.message),
    Named("elements that drop_remainder drops have to fit, too; tf.data never compares their shapes (ops/batch.h)",
          lambda chain, what, theirs, ours: what in ("an error", "number of elements") and not theirs.error and
          (ours.error == "InvalidArgument" and "shape" in ours.message or ours.error == "DataLoss" and "longer than the padded shape" in ours.message) and
          any(own.args.get("drop_remainder") for own in steps_of(chain))),
    Named("each number of a counter is exact; tf.data adds in float16 and loses more with each step (ops/sources.h)",
          lambda chain, what, theirs, ours: what.startswith("element ") and any(
              own.op == "counter" and own.args.get("dtype") in ("float16",) for own in steps_of(chain))),
    Named("a file that is cut in a record is refused before the first element, whatever of it is asked for (ops/files.h)",
          lambda chain, what, theirs, ours: ours.error == "DataLoss" and not ours.elements and not theirs.error and not theirs.elements and
          "fixed_length" in ops(chain)),
    Named("tf.data's ragged_batch cannot make what it has made with int32 row splits",
          lambda chain, what, theirs, ours: "RaggedTensorFromVariant" in theirs.message and "int32" in written(chain)),
    Named("batches of one size with drop_remainder have a known shape, so ragged_batch stacks them; tf.data forgets the size "
          "(ops/bucket.h)",
          lambda chain, what, theirs, ours: not ours.error and any(
              above.op == "ragged_batch" and below.op == "bucket_by_sequence_length" and below.args["drop_remainder"] and
              len(set(below.args["bucket_batch_sizes"])) == 1 for below, above in zip(chain, chain[1:]))),
]


def why_named(chain, what, theirs, ours):
    return next((named.why for named in NAMED if named.holds(chain, what, theirs, ours)), "")
