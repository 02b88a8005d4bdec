// SPDX-License-Identifier: Apache-2.0
// JSON objects, such as the lines of a JSON Lines file (docs/formats/json_lines.md): the requested keys, numbers
// straight into the row of a batch. Source: RFC 8259. TextLines and LineFile read the lines.
//
// Wrong content is InvalidArgument, with the key, what was expected and found, and the byte offset; the caller knows
// the line. Text beyond JsonLimits is ResourceExhausted. Memory is bounded by the size of the text, whatever it
// contains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// A requested key of the object. It is missing iff it does not exist or is null: then the default is used, and without
/// one it is an error. If a key occurs twice, the last one counts, and both must have the right type.
struct JsonField {
  std::string key;
  /// Not f16 or bf16. bytes: a string, as UTF-8; boolean: true or false; an integer: a number without fraction and
  /// exponent; a float: any number. A number out of the dtype's range is an error; one too small for a float is 0.
  DType dtype = DType::f32;
  Shape shape = {};                          ///< Shape of nested arrays; the first dimension may be kUnknown.
  std::optional<Tensor> default_value = {};  ///< Has this shape; if the shape is full, also a scalar for every value.
};

struct JsonLimits {
  uint64_t max_bytes = uint64_t{1} << 30;  ///< Size of a text.
  uint64_t max_depth = 64;                 ///< Depth of nested objects and arrays, requested or not.
};

class JsonParser;
namespace internal {
class JsonPlan;
/// parser.parse(text) without the faster one of the two parsers: for tests that compare them.
Result<std::vector<Tensor>> parse_json_plainly(const JsonParser& parser, std::string_view text);
}  // namespace internal

/// Parses objects. Immutable, thread-safe, cheap to copy.
class JsonParser {
 public:
  /// Throws Exception(InvalidArgument) for fields that contradict themselves, and for a key that occurs twice.
  explicit JsonParser(std::vector<JsonField> fields, JsonLimits limits = {});

  /// The fields that parse() returns, in the order of the constructor.
  const Spec& fields() const;
  /// The requested fields in one line: "'score': float32[], 'words': bytes[?] default=00000000" (the checksum of a
  /// default).
  std::string describe() const;

  /// Field i goes to targets[i] (at any alignment) if that is not null and fields()[i] has a full shape and a dtype
  /// other than bytes, else to out[i], as in ExampleParser::parse(). After an error the targets are undefined.
  Result<void> parse(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out) const;
  /// Returns all fields as tensors.
  Result<std::vector<Tensor>> parse(std::string_view text) const;

 private:
  friend Result<std::vector<Tensor>> internal::parse_json_plainly(const JsonParser& parser, std::string_view text);

  std::shared_ptr<const internal::JsonPlan> plan_;
};

}  // namespace headpond
