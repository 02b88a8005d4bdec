// SPDX-License-Identifier: Apache-2.0
// JSON objects, as the lines of a JSON Lines file (docs/formats/json_lines.md): the keys asked for, numbers straight
// into the row of a batch. Source: RFC 8259. TextLines and LineFile give the lines.
//
// Bad content is InvalidArgument, naming the key, what was expected and found, and the byte offset; the caller knows
// which line it was. Text beyond JsonLimits is ResourceExhausted. Memory that is asked for follows the text, whatever
// stands in it.
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

/// One key of the object that is asked for. It is missing iff it is not there or null: then the default counts, and
/// without one it is an error. If a key is there twice, the last one counts; each must be what was asked for.
struct JsonField {
  std::string key;
  /// Not f16 or bf16. bytes is a string, as UTF-8; boolean is true or false; an integer is a number without fraction
  /// and exponent, a float any number; what is beyond the dtype is an error, and a float too small for it is 0.
  DType dtype = DType::f32;
  Shape shape = {};                          ///< Of nested arrays; the first dimension may be kUnknown.
  std::optional<Tensor> default_value = {};  ///< Of such a shape; if the shape is full, also a scalar for every value.
};

struct JsonLimits {
  uint64_t max_bytes = uint64_t{1} << 30;  ///< Of a text.
  uint64_t max_depth = 64;                 ///< Of objects and arrays in each other, asked for or not.
};

namespace internal {
class JsonPlan;
}

/// Reads objects. Immutable, thread-safe, cheap to copy.
class JsonParser {
 public:
  /// Throws Exception(InvalidArgument) for descriptions that contradict themselves, and for a key twice.
  explicit JsonParser(std::vector<JsonField> fields, JsonLimits limits = {});

  /// What parse() gives, in the order of the fields.
  const Spec& fields() const;
  /// What is asked for, in one line: "'score': float32[], 'words': bytes[?] default=00000000"; of a default a checksum.
  std::string describe() const;

  /// Field i goes to places[i] if that is not null and fields()[i] has a full shape and a dtype other than bytes (its
  /// values then, at any alignment), else to out[i], as ExampleParser::parse() has it. When it fails, anything may be
  /// written.
  Result<void> parse(std::string_view text, std::span<std::byte* const> places, std::span<Tensor> out) const;
  /// All fields as tensors.
  Result<std::vector<Tensor>> parse(std::string_view text) const;

 private:
  std::shared_ptr<const internal::JsonPlan> plan_;
};

}  // namespace headpond
