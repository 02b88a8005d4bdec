// SPDX-License-Identifier: Apache-2.0
// Parses texts into fields: tf.train.Example and tf.train.SequenceExample, `tfrecord(...) |
// map(parse_example({{"image", bytes}}))`, and JSON, `text_lines(...) | map(parse_json({{"score", f32}}))`.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/io/example/example.h"
#include "headpond/io/text/json_lines.h"

namespace headpond {

/// Throws as ExampleParser does.
inline ExampleParser parse_example(std::vector<ExampleFeature> features, ExampleLimits limits = {}) {
  return ExampleParser(std::move(features), limits);
}
inline SequenceExampleParser parse_sequence_example(std::vector<ExampleFeature> context,
                                                    std::vector<ExampleFeature> lists, ExampleLimits limits = {}) {
  return {std::move(context), std::move(lists), limits};
}

/// Throws as JsonParser does.
inline JsonParser parse_json(std::vector<JsonField> fields, JsonLimits limits = {}) {
  return JsonParser(std::move(fields), limits);
}

/// Parses each element, which is one scalar of dtype bytes, into the parser's fields(). Numbers of a fixed shape are
/// written straight into the row of a batch. A message that does not fit is the error of its element. The parser's
/// fields and options are part of the plan.
Step map(const ExampleParser& parser);
Step map(const SequenceExampleParser& parser);
Step map(const JsonParser& parser);

}  // namespace headpond
