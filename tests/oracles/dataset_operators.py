# SPDX-License-Identifier: Apache-2.0
"""The operators that random pipelines are made of, a row each: whether it fits, its arguments, and the same in tf.data.

A new operator is a function with @row beside those below. It is drawn as soon as `headpond run` knows its name.
"""
import tensorflow as tf

from dataset_plans import Field, Flow, Step, build, expression, flattened, pack, truth

ROWS = {}  # name -> (fits, draw)
X = "x"
INT = (Field(X, "int64"),)
BYTES = (Field(X, "bytes"),)
ENDLESS = float("inf")
MOST = 500  # Elements, about; longer pipelines say nothing more.


def finite(flow):
    return not flow.endless and not flow.unordered


def ordered(flow):
    return not flow.unordered


def row(fits=ordered):
    """Draws are functions (draw, flow) -> Step."""
    def add(function):
        ROWS[function.__name__.rstrip("_")] = (fits, function)
        return function
    return add


def step(op, args, on_dataset, flow):
    return Step(op, args, lambda datasets, outer: on_dataset(datasets[0]), flow)


def by_name(flow, components):
    return {field.name: component for field, component in zip(flow.fields, components)}


def int_scalars(fields):
    return [field for field in fields if field.is_integer() and not field.dims]


# ---- one element at a time ------------------------------------------------------------------------------------------------

@row(lambda flow: True)
def map_(draw, flow):
    made = expression(draw.rng, flow.fields, draw.outer, 2, draw.chance(0.25) and not flow.unordered)
    into = draw.rng.choice([*(field.name for field in flow.fields), "y", "z"]) if draw.chance(0.4) else None
    field = Field(into or X, "float64" if made.is_float else "int64", made.dims)
    names = [own.name for own in flow.fields]
    fields = list(flow.fields) if into else []
    if into in names:
        fields[names.index(into)] = field
    else:
        fields.append(field)

    def build_map(datasets, outer):
        def function(*components):
            own = by_name(flow, components)
            return pack([made.value(own, outer) if one is field else own[one.name] for one in fields])
        return datasets[0].map(function)
    args = {"function": made.text, **({"into": into} if into else {})}
    return Step("map", args, build_map, flow.but(fields=tuple(fields), fails=flow.fails or made.fails))


def by_predicate(op, draw, flow, method):
    scalars = [field for field in flow.fields if not field.dims]
    made = expression(draw.rng, scalars, draw.outer, 2, draw.chance(0.1) and not flow.unordered)

    def build_it(datasets, outer):
        return method(datasets[0])(lambda *components: truth(made.value(by_name(flow, components), outer)))
    return Step(op, {"predicate": made.text}, build_it, flow.but(fails=flow.fails or made.fails))


@row(lambda flow: not flow.endless)
def filter_(draw, flow):
    return by_predicate("filter", draw, flow, lambda dataset: dataset.filter)


@row()
def take_while(draw, flow):
    return by_predicate("take_while", draw, flow, lambda dataset: dataset.take_while)


@row()
def scan(draw, flow):
    """With a state of int64: the sum of floats would show how each rounds."""
    before = Field("state", "int64")
    scalars = [field for field in flow.fields if not field.dims]
    after = expression(draw.rng, [*scalars, before], draw.outer)
    while after.is_float:
        after = expression(draw.rng, [*scalars, before], draw.outer)
    given = expression(draw.rng, [*flow.fields, before], draw.outer) if draw.chance(0.6) else after
    initial = draw.rng.randint(-3, 9)

    def build_scan(datasets, outer):
        def function(state, element):
            own = {**by_name(flow, element if isinstance(element, tuple) else (element,)), "state": state}
            return after.value(own, outer), given.value(own, outer)
        return datasets[0].scan(tf.constant(initial, tf.int64), function)
    args = {"initial_state": initial, "scan_func": after.text, **({} if given is after else {"output": given.text})}
    field = Field(X, "float64" if given.is_float else "int64", given.dims)
    return Step("scan", args, build_scan, flow.but(fields=(field,)))


@row(lambda flow: finite(flow) and len(flow.fields) == 1 and flow.fields[0].dtype in ("int64", "int32", "bytes"))
def unique(draw, flow):
    return step("unique", {}, lambda ds: ds.unique(), flow)


@row(lambda flow: finite(flow) and flow.fails and not flow.stuck)
def ignore_errors(draw, flow):
    return step("ignore_errors", {}, lambda ds: ds.ignore_errors(), flow.but(fails=False))


@row(lambda flow: ordered(flow) and any(field.dtype == "bytes" and not field.dims for field in flow.fields))
def decode_raw(draw, flow):
    at = draw.rng.choice([i for i, field in enumerate(flow.fields) if field.dtype == "bytes" and not field.dims])
    dtype = draw.rng.choice(["uint8"] * 4 + ["int16", "float32"])
    fields = list(flow.fields)
    fields[at] = Field(fields[at].name, dtype, (None,))
    own_order = dtype != "uint8" and draw.chance(0.3)

    def function(*components):
        raw = tf.io.decode_raw(components[at], tf.as_dtype(dtype), little_endian=not own_order)
        return pack([*components[:at], raw, *components[at + 1:]])
    args = {"dtype": dtype, "field": fields[at].name, **({"little_endian": False} if own_order else {})}
    return step("decode_raw", args, lambda ds: ds.map(function), flow.but(fields=tuple(fields), fails=flow.fails or dtype != "uint8"))


# ---- by number ------------------------------------------------------------------------------------------------------------

@row()
def take(draw, flow):
    count = draw.number(-1, 12)
    most = flow.most if count.toml == -1 or not isinstance(count.toml, int) else min(flow.most, max(count.toml, 0))
    return Step("take", {"count": count.toml}, lambda datasets, outer: datasets[0].take(count.value(outer)), flow.but(most=most))


@row()
def skip(draw, flow):
    count = draw.rng.choice([-1, 0, 1, 1, 2, 3])
    return step("skip", {"count": count}, lambda ds: ds.skip(count), flow.but(most=0 if count < 0 else flow.most))


@row()
def shard(draw, flow):
    shards = draw.rng.randint(1, 4)
    index = draw.rng.randrange(shards) if draw.chance(0.97) else shards
    return step("shard", {"num_shards": shards, "index": index}, lambda ds: ds.shard(shards, index), flow)


@row(finite)
def repeat(draw, flow):
    count = draw.rng.choice([0, 1, 2, 2, 3, -1])
    most = ENDLESS if count < 0 else flow.most * count
    return step("repeat", {} if count < 0 else {"count": count}, lambda ds: ds.repeat(count), flow.but(most=most))


@row(finite)
def assert_cardinality(draw, flow):
    count = draw.rng.randint(0, int(min(flow.most, 10)))
    return step("assert_cardinality", {"count": count}, lambda ds: ds.apply(tf.data.experimental.assert_cardinality(count)),
                flow.but(fails=True, stuck=True))


@row(lambda flow: finite(flow) and flow.most <= MOST and not ragged(flow) and "valid" not in [field.name for field in flow.fields])
def pad_to_cardinality(draw, flow):
    count, names = int(flow.most) + draw.rng.randint(-1, 4), [field.name for field in flow.fields]
    if count < 0:
        count = 0

    def padded(ds):
        made = ds.map(lambda *components: dict(zip(names, components))).apply(tf.data.experimental.pad_to_cardinality(count))
        return made.map(lambda element: tuple(element[name] for name in [*names, "valid"]))
    return step("pad_to_cardinality", {"cardinality": count}, padded,
                flow.but(fields=(*flow.fields, Field("valid", "bool")), most=count))


@row(lambda flow: ordered(flow) and "index" not in [field.name for field in flow.fields])
def enumerate_(draw, flow):
    start = draw.rng.randint(-3, 5)
    return step("enumerate", {"start": start}, lambda ds: flattened(ds.enumerate(start)),
                flow.but(fields=(Field("index", "int64"), *flow.fields)))


@row(lambda flow: True)
def prefetch(draw, flow):
    size = draw.rng.choice([-1, 0, 1, 3])
    return step("prefetch", {} if size < 0 else {"buffer_size": size}, lambda ds: ds.prefetch(size), flow)


@row(lambda flow: not flow.endless)
def cache(draw, flow):
    if "cache.filename" in draw.known and not flow.unordered and not flow.fails and draw.chance(0.3):
        ours, theirs = draw.files.fresh(), draw.files.fresh()
        return step("cache", {"filename": ours}, lambda ds: ds.cache(f"{theirs}-{draw.files.uses()}"), flow)
    return step("cache", {}, lambda ds: ds.cache(), flow)


@row(lambda flow: finite(flow) and not flow.fails)
def shuffle(draw, flow):
    """Which elements there are must agree; where they went is held to the promise by the caller."""
    window = draw.rng.choice([1, 2, 5, 1000, None])
    return step("shuffle", {} if window is None else {"window": window}, lambda ds: ds.shuffle(window or 10000, seed=1),
                flow.but(unordered=window != 1))


# ---- batches --------------------------------------------------------------------------------------------------------------

def stacked(flow, size, drop):
    return tuple(Field(field.name, field.dtype, (size if drop else None, *field.dims)) for field in flow.fields)


def ragged(flow):
    return any(None in field.dims for field in flow.fields)


@row(lambda flow: ordered(flow) and all(len(field.dims) < 3 for field in flow.fields))
def batch(draw, flow):
    size, drop = draw.rng.randint(1, 6), draw.chance(0.3)
    return step("batch", {"batch_size": size, "drop_remainder": drop}, lambda ds: ds.batch(size, drop_remainder=drop),
                flow.but(fields=stacked(flow, size, drop), fails=flow.fails or ragged(flow),
                         gathers_errors=flow.gathers_errors or flow.fails or ragged(flow)))


def padded_dims(draw, field):
    return [draw.rng.choice([-1, (dim or 4) + draw.rng.randint(0, 2)]) for dim in field.dims]


def paddings(draw, flow):
    """Values for padding: as an argument, and for tf.data."""
    chosen = [draw.rng.choice(["", "?", "pad"]) if field.dtype == "bytes" else None if field.dtype == "bool" else draw.rng.randint(0, 7)
              for field in flow.fields]
    values = [tf.constant(False) if value is None else tf.constant(value, tf.string if field.dtype == "bytes" else field.dtype)
              for value, field in zip(chosen, flow.fields)]
    given = {field.name: value for field, value in zip(flow.fields, chosen) if value is not None}
    return ({"padding_values": chosen[0] if len(chosen) == 1 else given} if given else {}), values


@row(lambda flow: ordered(flow) and any(field.dims for field in flow.fields) and all(len(field.dims) < 3 for field in flow.fields))
def padded_batch(draw, flow):
    size, drop = draw.rng.randint(1, 6), draw.chance(0.3)
    args, shapes, values = {"batch_size": size, "drop_remainder": drop}, None, None
    if draw.chance(0.5):
        shapes = [padded_dims(draw, field) for field in flow.fields]
        args["padded_shapes"] = shapes[0] if len(shapes) == 1 else dict(zip((field.name for field in flow.fields), shapes))
    if draw.chance(0.5):
        given, values = paddings(draw, flow)
        args.update(given)
    fields = stacked(flow, size, drop)
    if shapes:
        fields = tuple(Field(field.name, field.dtype, (field.dims[0], *(None if dim < 0 else dim for dim in own)))
                       for field, own in zip(fields, shapes))
    fails = flow.fails or (shapes is not None and ragged(flow))
    return step("padded_batch", args,
                lambda ds: ds.padded_batch(size, None if shapes is None else pack(shapes), None if values is None else pack(values), drop),
                flow.but(fields=fields, fails=fails, gathers_errors=flow.gathers_errors or fails))


# ---- a dataset of each element --------------------------------------------------------------------------------------------

def over_chain(op, draw, flow, args, method):
    name, chain = draw.nested(flow)

    def build_it(datasets, outer):
        return method(datasets[0], lambda *components: build(chain, by_name(flow, components)))
    inner = chain[-1].flow
    return Step(op, {"chain": name, **args}, build_it,
                flow.but(fields=inner.fields, most=flow.most * inner.most, fails=flow.fails or inner.fails, stuck=flow.stuck or inner.stuck,
                         gathers_errors=flow.gathers_errors or inner.gathers_errors), nested=(name, chain))


@row(lambda flow: finite(flow) and flow.most <= MOST)
def flat_map(draw, flow):
    return over_chain("flat_map", draw, flow, {}, lambda ds, function: ds.flat_map(function))


@row(lambda flow: finite(flow) and flow.most <= MOST)
def interleave(draw, flow):
    cycle, block = draw.rng.randint(1, 5), draw.rng.randint(1, 3)
    return over_chain("interleave", draw, flow, {"cycle_length": cycle, "block_length": block},
                      lambda ds, function: ds.interleave(function, cycle_length=cycle, block_length=block))


# ---- sources --------------------------------------------------------------------------------------------------------------
# Each draws the first steps of a chain.

SOURCES = {}


def source(function):
    SOURCES[function.__name__.rstrip("_")] = function
    return function


def from_nothing(op, args, make, fields, most, **more):
    return [Step(op, args, lambda datasets, outer: make(), Flow(fields, most, **more))]


@source
def range_(draw):
    start, count, by = draw.rng.randint(-5, 5), draw.rng.randint(-1, 20), draw.rng.choice([1, 1, 1, 2, -1, -3])
    stop = start + count * by
    return from_nothing("range", {"start": start, "stop": stop, "step": by}, lambda: tf.data.Dataset.range(start, stop, by), INT, max(count, 0))


NUMBERS = "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64".split()


@source
def typed_range(draw):
    dtype, start, count, by = draw.rng.choice(NUMBERS), draw.rng.choice([-5, 250, 65530, 2**31 - 3]), draw.rng.randint(0, 20), draw.rng.choice([1, 3])
    stop = start + count * by
    return from_nothing("range", {"start": start, "stop": stop, "step": by, "output_type": dtype},
                        lambda: tf.data.Dataset.range(start, stop, by, output_type=tf.as_dtype(dtype)), (Field(X, dtype),), count)


@source
def counter(draw):
    dtype = draw.rng.choice(["int64", *NUMBERS])
    start, by = (draw.rng.randint(0, 99), 70) if dtype.startswith("uint") else (draw.rng.randint(-5, 5), draw.rng.choice([1, 1, 3, -2]))
    return from_nothing("counter", {"start": start, "step": by, **({} if dtype == "int64" else {"dtype": dtype})},
                        lambda: tf.data.Dataset.counter(start, by, tf.as_dtype(dtype)), (Field(X, dtype),), ENDLESS)


@source
def npy(draw):
    paths, array = draw.files.arrays(draw.rng)
    fields = (Field(X, array.dtype.name, array.shape[1:]),)
    return from_nothing("npy", {"paths": paths}, lambda: tf.data.Dataset.from_tensor_slices(array), fields, len(array))


def in_turn(draw, possible=True):
    """Of how many files records are given in turn, as an argument."""
    return {"num_parallel_reads": draw.rng.randint(1, 4)} if possible and draw.chance(0.4) else {}


@source
def tfrecord(draw):
    paths, compression, most = draw.files.records(draw.rng)
    reads = in_turn(draw)
    args = {"paths": paths, **({"compression": compression} if compression else {}), **reads}
    return from_nothing("tfrecord", args, lambda: tf.data.TFRecordDataset(paths, (compression or "").upper(), **reads), BYTES, most)


@source
def text_lines(draw):
    paths, most = draw.files.texts(draw.rng)
    reads = in_turn(draw)
    return from_nothing("text_lines", {"paths": paths, **reads}, lambda: tf.data.TextLineDataset(paths, **reads), BYTES, most)


@source
def fixed_length(draw):
    paths, size, header, footer, most, fails = draw.files.blocks(draw.rng)
    reads = in_turn(draw, not fails)
    args = {"paths": paths, "record_bytes": size, "header_bytes": header, "footer_bytes": footer, **reads}
    return from_nothing("fixed_length", args, lambda: tf.data.FixedLengthRecordDataset(paths, size, header, footer, **reads).map(
        lambda record: tf.ensure_shape(tf.io.decode_raw(record, tf.uint8), [size])), (Field(X, "uint8", (size,)),), most, fails=fails, stuck=fails)


@source
def list_files(draw):
    patterns, most = draw.files.patterns(draw.rng)
    return from_nothing("list_files", {"paths": patterns, "shuffle": False},
                        lambda: tf.data.Dataset.list_files(patterns, shuffle=False), BYTES, most)


EXAMPLE = {  # key -> (dtype, shape, default): as headpond has it
    "number": ("int64", [], None), "pair": ("float32", [2], None), "text": ("bytes", [], None),
    "missing": ("int64", [], 7), "some": ("int64", [], None), "long": ("int64", [], "sequence"), "words": ("bytes", [], "sequence"),
}


def tf_feature(dtype, shape, default):
    kind = tf.string if dtype == "bytes" else tf.as_dtype(dtype)
    if default == "sequence":
        return tf.io.FixedLenSequenceFeature(shape, kind, allow_missing=True)
    return tf.io.FixedLenFeature(shape, kind, default)


@source
def parse_example(draw):
    paths, most = draw.files.examples()
    keys = draw.rng.sample(sorted(set(EXAMPLE) - (set() if draw.chance(0.1) else {"some"})), draw.rng.randint(1, 4))
    fields, features = [], []
    for key in keys:
        dtype, shape, default = EXAMPLE[key]
        fields.append(Field(key, dtype, (None,) if default == "sequence" else tuple(shape)))
        more = {"kind": "FixedLenSequence", "allow_missing": True} if default == "sequence" else {} if default is None else {"default_value": default}
        features.append({"key": key, "dtype": dtype, "shape": shape, **more})
    wanted = {key: tf_feature(*EXAMPLE[key]) for key in keys}

    def function(record):
        found = tf.io.parse_single_example(record, wanted)
        return pack([found[key] for key in keys])
    records = from_nothing("tfrecord", {"paths": paths}, lambda: tf.data.TFRecordDataset(paths), BYTES, most)
    return [*records, step("parse_example", {"features": features}, lambda ds: ds.map(function),
                           Flow(tuple(fields), most, fails="some" in keys))]


# ---- several inputs -------------------------------------------------------------------------------------------------------

def joined(op, args, make, inputs, fields, most, **more):
    flows = [chain[-1].flow for _, chain in inputs]
    traits = {trait: any(getattr(flow, trait) for flow in flows) for trait in ("fails", "gathers_errors", "stuck")}
    return [Step(op, args, lambda datasets, outer: make(datasets), Flow(fields, most, **{**traits, **more}), inputs=tuple(inputs))]


def common_fields(inputs):
    """Those of chains with the same names and dtypes: dimensions in which they differ are not known."""
    flows = [chain[-1].flow for _, chain in inputs]
    dims = [tuple(size[0] if len(set(size)) == 1 else None for size in zip(*(flow.fields[i].dims for flow in flows)))
            for i in range(len(flows[0].fields))]
    return tuple(Field(field.name, field.dtype, own) for field, own in zip(flows[0].fields, dims))


def total(inputs):
    return sum(chain[-1].flow.most for _, chain in inputs)


@source
def zip_(draw):
    inputs = [draw.chain() for _ in range(draw.rng.randint(1, 3))]
    fields = [Field(name if len(chain[-1].flow.fields) == 1 else f"{name}.{field.name}", field.dtype, field.dims)
              for name, chain in inputs for field in chain[-1].flow.fields]
    return joined("zip", {}, lambda datasets: flattened(tf.data.Dataset.zip(tuple(datasets))), inputs, tuple(fields),
                  min(chain[-1].flow.most for _, chain in inputs))


@source
def concatenate(draw):
    inputs = draw.alike(draw.rng.randint(1, 3))

    def make(datasets):
        whole = datasets[0]
        for dataset in datasets[1:]:
            whole = whole.concatenate(dataset)
        return whole
    return joined("concatenate", {}, make, inputs, common_fields(inputs), total(inputs))


def general(datasets):
    """With the shapes that fit all of them, which tf.data wants of elements that are datasets."""
    made = []
    for dataset in datasets:
        for other in datasets:
            dataset = dataset.concatenate(other.take(0))
        made.append(dataset)
    return made


@source
def interleave_inputs(draw):
    inputs = draw.alike(draw.rng.randint(1, 4))
    cycle, block = draw.rng.randint(1, 4), draw.rng.randint(1, 3)

    def make(datasets):
        whole = None
        for dataset in general(datasets):
            alone = tf.data.Dataset.from_tensors(dataset)
            whole = alone if whole is None else whole.concatenate(alone)
        return whole.interleave(lambda dataset: dataset, cycle_length=cycle, block_length=block)
    return joined("interleave", {"cycle_length": cycle, "block_length": block}, make, inputs, common_fields(inputs), total(inputs))


@source
def choose_from_datasets(draw):
    inputs = draw.alike(draw.rng.randint(1, 3))
    name, chain = draw.alike(1, "ints")[0]
    modulus = len(inputs) + (1 if draw.chance(0.05) else 0)
    below = chain[-1].flow
    chain = [*chain, step("map", {"function": f"x * x % {modulus}"},
                          lambda ds: ds.map(lambda x: tf.truncatemod(x * x, tf.constant(modulus, tf.int64))), below.but(fields=INT))]
    stop = draw.chance(0.5) or below.endless  # Else tf.data looks for ever for a dataset that has not ended.
    return joined("choose_from_datasets", {"stop_on_empty_dataset": stop},
                  lambda datasets: tf.data.Dataset.choose_from_datasets(datasets[:-1], datasets[-1], stop_on_empty_dataset=stop),
                  [*inputs, (name, chain)], common_fields(inputs), min(total(inputs), below.most),
                  fails=any(own[-1].flow.fails for _, own in inputs) or below.fails or modulus > len(inputs))


@source
def sample_from_datasets(draw):
    inputs = draw.alike(draw.rng.randint(1, 3), fails=False)
    weights = [draw.rng.choice([0.2, 0.5, 1.0]) for _ in inputs]
    return joined("sample_from_datasets", {"weights": weights},
                  lambda datasets: tf.data.Dataset.sample_from_datasets(datasets, weights, seed=1), inputs, common_fields(inputs),
                  total(inputs), unordered=True)


