# SPDX-License-Identifier: Apache-2.0
"""More rows of dataset_operators.py: operators that take batches apart, or gather elements otherwise than one after the other."""
import tensorflow as tf

from dataset_operators import finite, ordered, paddings, ragged, row, stacked, step
from dataset_plans import Field, expression, pack


def batches(flow):
    return finite(flow) and all(field.dims for field in flow.fields)


def gathered(flow, fields, fails=False, **changes):
    fails = flow.fails or fails
    return flow.but(fields=tuple(fields), fails=fails, gathers_errors=flow.gathers_errors or fails, **changes)


@row(batches)
def unbatch(draw, flow):
    fields = [Field(field.name, field.dtype, field.dims[1:]) for field in flow.fields]
    return step("unbatch", {}, lambda ds: ds.unbatch(), gathered(flow, fields, len(fields) > 1, most=flow.most * 6))


@row(batches)
def rebatch(draw, flow):
    sizes = draw.rng.choice([draw.rng.randint(1, 5), [draw.rng.randint(1, 4) for _ in range(draw.rng.randint(1, 3))]])
    drop = draw.chance(0.3)
    fields = [Field(field.name, field.dtype, (None, *field.dims[1:])) for field in flow.fields]
    return step("rebatch", {"batch_size": sizes, "drop_remainder": drop}, lambda ds: ds.rebatch(sizes, drop_remainder=drop),
                gathered(flow, fields, len(fields) > 1 or any(None in field.dims[1:] for field in fields), most=flow.most * 6))


def small(flow):
    return finite(flow) and all(len(field.dims) < 3 for field in flow.fields)


def integer(draw, flow):
    """An integer that follows from an element: (text, function of the components)."""
    lengths = [i for i, field in enumerate(flow.fields) if field.dims or field.dtype == "bytes"]
    if lengths and draw.chance(0.8):
        at = draw.rng.choice(lengths)
        if flow.fields[at].dims:
            return flow.fields[at].name, lambda *components: tf.shape(components[at], tf.int64)[0]
        return flow.fields[at].name, lambda *components: tf.cast(tf.strings.length(components[at]), tf.int64)
    made = expression(draw.rng, [field for field in flow.fields if field.is_integer() and not field.dims], (), 1)
    names = [field.name for field in flow.fields]
    if made.is_float:
        return "(3)", lambda *components: tf.constant(3, tf.int64)
    return f"(({made.text}) * ({made.text}) % 9)", lambda *components: square(made.value(dict(zip(names, components)), None))


def square(value):
    return tf.truncatemod(value * value, tf.constant(9, tf.int64))


@row(lambda flow: small(flow) and not any(None in field.dims[1:] for field in flow.fields))
def bucket_by_sequence_length(draw, flow):
    text, length = integer(draw, flow)
    boundaries = sorted(draw.rng.sample(range(1, 9), draw.rng.randint(1, 3)))
    sizes = [draw.rng.randint(1, 4) for _ in range(len(boundaries) + 1)]
    drop, whole = draw.chance(0.3), draw.rng.choice([{}, {}, {"pad_to_bucket_boundary": True}, {"no_padding": True}])
    given, values = paddings(draw, flow) if "no_padding" not in whole and draw.chance(0.3) else ({}, None)
    # tf.data keeps a group whose batch fails, as with an element that no boundary fits: its error comes again for ever.
    args = {"element_length_func": text, "bucket_boundaries": boundaries, "bucket_batch_sizes": sizes, "drop_remainder": drop, **whole, **given}
    return step("bucket_by_sequence_length", args,
                lambda ds: ds.bucket_by_sequence_length(lambda *components: tf.cast(length(*components), tf.int32), boundaries, sizes,
                                                        padding_values=values and pack(values), drop_remainder=drop, **whole),
                gathered(flow, stacked(flow, 0, False), bool(whole), stuck=flow.stuck or "pad_to_bucket_boundary" in whole))


def padded(draw):
    return draw.rng.choice(["batch", "padded_batch"])


@row(small)
def group_by_window(draw, flow):
    text, key = integer(draw, flow)
    size, how = draw.rng.randint(1, 5), padded(draw)
    return step("group_by_window", {"key_func": text, "window_size": size, "reduce_func": how},
                lambda ds: ds.group_by_window(key, lambda _, own: getattr(own, how)(size), window_size=size),
                gathered(flow, stacked(flow, 0, False), how == "batch" and ragged(flow)))


@row(small)
def window(draw, flow):
    size, shift, stride = draw.rng.randint(1, 5), draw.rng.choice([None, 1, 2, 4, 7]), draw.rng.choice([1, 1, 2, 3])
    drop, how = draw.chance(0.4), padded(draw)
    args = {"size": size, "stride": stride, "drop_remainder": drop, "reduce_func": how, **({"shift": shift} if shift else {})}

    def stack(*parts):
        whole = parts[0] if len(parts) == 1 else tf.data.Dataset.zip(parts)
        return getattr(whole, how)(size, drop_remainder=drop)
    return step("window", args, lambda ds: ds.window(size, shift, stride, drop).flat_map(stack),
                gathered(flow, stacked(flow, size, drop), how == "batch" and ragged(flow)))


@row(lambda flow: ordered(flow) and small(flow.but(most=0)) and not any("row_splits" in field.name for field in flow.fields))
def ragged_batch(draw, flow):
    size, drop, dtype = draw.rng.randint(1, 5), draw.chance(0.3), draw.rng.choice(["int64", "int64", "int32"])
    fields = []
    for field in flow.fields:
        if None not in field.dims:
            fields.append(Field(field.name, field.dtype, (size if drop else None, *field.dims)))
            continue
        last = max(i for i, dim in enumerate(field.dims) if dim is None)
        fields.append(Field(field.name, field.dtype, (None, *field.dims[last + 1:])))
        fields += [Field(f"{field.name}.row_splits{f'_{i}' if i else ''}", dtype, (None,)) for i in range(last + 1)]

    def parts(*components):
        flat = []
        for one in components:
            flat += [one.flat_values, *one.nested_row_splits] if isinstance(one, tf.RaggedTensor) else [one]
        return pack(flat)
    return step("ragged_batch", {"batch_size": size, "drop_remainder": drop, "row_splits_dtype": dtype},
                lambda ds: ds.ragged_batch(size, drop, tf.as_dtype(dtype)).map(parts), gathered(flow, fields))


@row(lambda flow: ordered(flow) and small(flow.but(most=0)) and len(flow.fields) == 1)
def sparse_batch(draw, flow):
    size, field = draw.rng.randint(1, 5), flow.fields[0]
    shape = [draw.rng.choice([-1, (dim or 5) + draw.rng.randint(0, 2)]) for dim in field.dims]
    rank = len(shape) + 1
    fields = [Field(f"{field.name}.indices", "int64", (None, rank)), Field(f"{field.name}.values", field.dtype, (None,)),
              Field(f"{field.name}.shape", "int64", (rank,))]
    return step("sparse_batch", {"batch_size": size, "row_shape": shape},
                lambda ds: ds.sparse_batch(size, [None if dim < 0 else dim for dim in shape]).map(lambda own: (own.indices, own.values, own.dense_shape)),
                gathered(flow, fields, any(dim is None and own >= 0 for dim, own in zip(field.dims, shape))))


@row(lambda flow: finite(flow) and not flow.fails)
def snapshot(draw, flow):
    """Elements stay what they are; tf.data's files have another format."""
    return step("snapshot", {"path": draw.files.fresh()}, lambda ds: ds, flow)
