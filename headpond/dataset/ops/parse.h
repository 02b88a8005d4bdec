// SPDX-License-Identifier: Apache-2.0
// Parses texts into fields: tf.train.Example and tf.train.SequenceExample, `tfrecord(...) |
// map(parse_example({{"image", bytes}}))`, JSON, `text_lines(...) | map(parse_json({{"score", f32}}))`, and numbers
// without a header, `map("image", decode_raw(u8))`. Examples written as JSON are a map before parse_example:
// `text_lines(...) | map([](std::string_view json) { return decode_json_example(json); }) | map(parse_example(...))`.
#pragma once

#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/io/array/raw.h"
#include "headpond/io/example/example.h"
#include "headpond/io/example/json_example.h"
#include "headpond/io/text/json/json_lines.h"

namespace headpond {

/// Throws as ExampleParser does.
inline ExampleParser parse_example(std::vector<ExampleFeature> features, ExampleLimits limits = {}) {
  return ExampleParser(std::move(features), limits);
}
inline SequenceExampleParser parse_sequence_example(std::vector<ExampleFeature> context,
                                                    std::vector<ExampleFeature> lists, ExampleLimits limits = {}) {
  return {std::move(context), std::move(lists), limits};
}

/// tf.io.decode_raw: the numbers in a field of bytes, `map("image", decode_raw(u8, {.shape = {28, 28}}))`. Throws as
/// RawDecoder does.
inline RawDecoder decode_raw(DType dtype, RawOptions options = {}) { return RawDecoder(dtype, std::move(options)); }

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

/// Parses a field, which is a scalar of dtype bytes, without a name the only one: the parser's fields take its place,
/// the others stay, `csv("scores.csv") | map("details", parse_json({{"age", i64}}))`. Throws Exception(InvalidArgument)
/// if two fields would have one name.
Step map(const std::string& field, const ExampleParser& parser);
Step map(const std::string& field, const SequenceExampleParser& parser);
Step map(const std::string& field, const JsonParser& parser);
Step map(internal::ListOfNames, const ExampleParser&) = delete;
Step map(internal::ListOfNames, const SequenceExampleParser&) = delete;
Step map(internal::ListOfNames, const JsonParser&) = delete;

/// Replaces a field, which is a scalar of dtype bytes, by its numbers; without a name the only field. The decoder is a
/// part of the plan.
Step map(const std::string& field, const RawDecoder& decoder);
Step map(internal::ListOfNames, const RawDecoder&) = delete;
inline Step map(const RawDecoder& decoder) { return map("", decoder); }

/// Images stored as pixels: the field `image`, bytes, becomes u8 [height, width, channels], without a copy; the field
/// `size`, i64 [height, width], is left out. `channels`: 1 to 4, or 0, as many as there are bytes for. An element whose
/// bytes are another number is InvalidArgument. Throws Exception(InvalidArgument) for fields of other types.
Step raw_image(const std::string& image, const std::string& size, int channels = 0);

}  // namespace headpond
