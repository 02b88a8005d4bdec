#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples and SequenceExamples by Debian's python3-protobuf, for headpond/io/example/example_oracle_test.cc.

examples.py write FILE    random messages: each as this program happens to spell it, then as the canonical bytes
examples.py json FILE     random Examples: each as JSON, then as the canonical bytes
examples.py check FILE    messages of others: ends with 0 iff each has the canonical bytes
A file holds records: their length as 4 bytes, little-endian, then the bytes; the first byte is E, S or J (JSON), the kind. Says
why and ends with 77 where there is no package that can be used.
"""
import os
import random
import struct
import sys

# The other implementation (upb, seen in version 7.36) writes a key after those that begin with it.
os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")


def not_there(error):
    print(f"{sys.executable}: no protobuf that can be used: {error}")
    sys.exit(77)


try:
    from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
except (ImportError, AttributeError) as import_error:
    not_there(import_error)

FIELD = descriptor_pb2.FieldDescriptorProto
MAP_ENTRY = descriptor_pb2.MessageOptions(map_entry=True)


def field(message, name, number, kind, repeated=False, message_type=None, packed=None):
    new = message.field.add(name=name, number=number, type=kind, label=FIELD.LABEL_REPEATED if repeated else FIELD.LABEL_OPTIONAL)
    if message_type:
        new.type_name = f".{message_type}"
    if packed is not None:
        new.options.packed = packed
    return new


def mapping(message, package, name, value, map_field):
    entry = message.nested_type.add(name=name, options=MAP_ENTRY)
    field(entry, "key", 1, FIELD.TYPE_STRING)
    field(entry, "value", 2, FIELD.TYPE_MESSAGE, message_type=f"{package}.{value}")
    field(message, map_field, 1, FIELD.TYPE_MESSAGE, True, f"{package}.{message.name}.{name}")


def message_class(pool, name):
    descriptor = pool.FindMessageTypeByName(name)
    if hasattr(message_factory, "GetMessageClass"):  # From protobuf 4.22 on, and from 5 on the only one.
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


def messages(package, packed):
    """tensorflow/core/example/{feature,example}.proto, with numbers packed or each by itself."""
    file = descriptor_pb2.FileDescriptorProto(name=f"{package}.proto", package=package, syntax="proto3")
    for name, kind in [("BytesList", FIELD.TYPE_BYTES), ("FloatList", FIELD.TYPE_FLOAT), ("Int64List", FIELD.TYPE_INT64)]:
        field(file.message_type.add(name=name), "value", 1, kind, True, packed=None if name == "BytesList" else packed)
    feature = file.message_type.add(name="Feature")
    feature.oneof_decl.add(name="kind")
    for number, name in enumerate(["bytes", "float", "int64"], 1):
        field(feature, f"{name}_list", number, FIELD.TYPE_MESSAGE, message_type=f"{package}.{name.capitalize()}List").oneof_index = 0
    mapping(file.message_type.add(name="Features"), package, "FeatureEntry", "Feature", "feature")
    field(file.message_type.add(name="FeatureList"), "feature", 1, FIELD.TYPE_MESSAGE, True, f"{package}.Feature")
    mapping(file.message_type.add(name="FeatureLists"), package, "FeatureListEntry", "FeatureList", "feature_list")
    field(file.message_type.add(name="Example"), "features", 1, FIELD.TYPE_MESSAGE, message_type=f"{package}.Features")
    sequence = file.message_type.add(name="SequenceExample")
    field(sequence, "context", 1, FIELD.TYPE_MESSAGE, message_type=f"{package}.Features")
    field(sequence, "feature_lists", 2, FIELD.TYPE_MESSAGE, message_type=f"{package}.FeatureLists")
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {kind: message_class(pool, f"{package}.{name}")
            for kind, name in [("E", "Example"), ("S", "SequenceExample")]}


def fill(feature, rng, kind):
    count = rng.choice([0, 1, 1, 2, 5, 40, 300])
    if kind == 0:
        feature.bytes_list.value.extend(rng.randbytes(rng.choice([0, 1, 8, 200])) for _ in range(count))
        feature.bytes_list.SetInParent()
    elif kind == 1:
        feature.float_list.value.extend(struct.unpack("<f", rng.randbytes(3) + b"\x40")[0] for _ in range(count))
        feature.float_list.SetInParent()
    else:
        feature.int64_list.value.extend(rng.randrange(-2**63, 2**63) >> rng.randrange(64) for _ in range(count))
        feature.int64_list.SetInParent()


def key(rng):
    return "".join(rng.choice("abcxyz/_0") for _ in range(rng.choice([1, 3, 12, 150]))) + rng.choice(["", "\u00e9"])


def random_message(kinds, rng):
    kind = rng.choice("ES")
    message = kinds[kind]()
    features = message.features if kind == "E" else message.context
    features.SetInParent()
    for _ in range(rng.choice([0, 1, 3, 20])):
        fill(features.feature[key(rng)], rng, rng.randrange(3))
    if kind == "S":
        message.feature_lists.SetInParent()
        for _ in range(rng.choice([0, 1, 4])):
            feature_list, of = message.feature_lists.feature_list[key(rng)], rng.randrange(3)
            for _ in range(rng.choice([0, 1, 7])):
                fill(feature_list.feature.add(), rng, of)
    return kind.encode(), message


def write(path):
    rng = random.Random(20)
    canonical, loose = messages("canonical", True), messages("loose", False)
    with open(path, "wb") as file:
        for i in range(400):
            kind, message = random_message(canonical, rng)
            bytes_ = message.SerializeToString(deterministic=True)
            other = loose[kind.decode()].FromString(bytes_) if i % 2 else message
            for record in (other.SerializeToString(), bytes_):
                file.write(struct.pack("<I", len(record) + 1) + kind + record)


def json(path):
    rng = random.Random(21)
    kind = messages("canonical", True)["E"]
    with open(path, "wb") as file:
        for i in range(200):
            message = kind()
            for _ in range(rng.choice([0, 1, 3, 20])):
                fill(message.features.feature[key(rng)], rng, rng.randrange(3))
            if i % 3 == 0:
                special = [float("nan"), float("inf"), -float("inf"), 3.4028234663852886e38, 1e-45, -0.0]
                message.features.feature["special"].float_list.value.extend(special)
                message.features.feature["no list"].SetInParent()
            text = json_format.MessageToJson(message, preserving_proto_field_name=i % 2 == 0, indent=i % 4)
            for record in (b"J" + text.encode(), b"E" + message.SerializeToString(deterministic=True)):
                file.write(struct.pack("<I", len(record)) + record)


def check(path):
    kinds = messages("canonical", True)
    data = open(path, "rb").read()
    count = at = 0
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at)
        kind, record = chr(data[at + 4]), data[at + 5:at + 4 + length]
        again = kinds[kind].FromString(record).SerializeToString(deterministic=True)
        if again != record:
            sys.exit(f"message {count}: {record!r} has the canonical bytes {again!r}")
        at, count = at + 4 + length, count + 1
    sys.exit(0 if count else "no messages")


if __name__ == "__main__":
    try:
        {"write": write, "json": json, "check": check}[sys.argv[1]](sys.argv[2])
    except AttributeError as api_error:
        not_there(api_error)
