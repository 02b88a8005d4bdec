// SPDX-License-Identifier: Apache-2.0
// tf.train.Examples written as JSON (TensorFlow's decode_json_example). Source: protobuf.dev/programming-guides/json.
#pragma once

#include <string>
#include <string_view>

#include "headpond/base/status.h"
#include "headpond/io/example/example.h"

namespace headpond {

/// The Example that `json` describes, serialized as make_example() does:
///
///     {"features": {"feature": {"x": {"floatList": {"value": [0.5, "NaN"]}}, "n": {"int64List": {"value": ["7"]}},
///                               "s": {"bytesList": {"value": ["dGV4dA=="]}}}}}
///
/// Names are as here or as in the .proto file (float_list). Bytes are base64; a number may be a string; null is a value
/// that is not there. InvalidArgument, with the feature and the offset before which it was found, iff the text is not
/// such an object: also for an unknown name, a name that occurs twice, and a number out of range. ResourceExhausted iff
/// text or keys exceed the limits, the message would reach 2 GiB, or there is no memory.
Result<std::string> decode_json_example(std::string_view json, ExampleLimits limits = {});

}  // namespace headpond
