// SPDX-License-Identifier: Apache-2.0
// The value of a key of a JSON object while it is parsed: what is requested, and what was found so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/default_value_internal.h"
#include "headpond/io/text/json/json_lines.h"

namespace headpond::internal {

/// The default of `field`, or null. Throws Exception(InvalidArgument) for a field that contradicts itself.
std::shared_ptr<const DefaultValue> checked_default(const JsonField& field);

/// Receives the parts of a value in the order of the text. Each call returns what is wrong with it, or an empty text.
class JsonValues {
 public:
  /// `field` was checked; `otherwise` is its default or null; both must outlive this.
  JsonValues(const JsonField& field, const DefaultValue* otherwise) : field_(&field), default_(otherwise) {}

  /// The key was found, perhaps again.
  void begin();
  std::string null();
  std::string boolean(bool value);
  /// The number as the text writes it.
  std::string number(std::string_view token);
  std::string text(std::string_view value);
  std::string object();
  std::string open_array();
  std::string close_array();
  /// The same for a number that another parser has read. True iff it is a value that is wanted here, and number() would
  /// give the same one for its text. After false this holds anything.
  bool integer(int64_t value);
  bool unsigned_integer(uint64_t value);
  bool real(double value);

  /// Passes on the value found, or the default. The error's text says only what was expected.
  Result<void> give(size_t number, const FieldTargets& targets) const;

 private:
  std::string expected() const;
  std::string found(std::string_view what) const;
  bool is_leaf(DType dtype) const;
  template <class T>
  bool put(T value);
  template <class Integer>
  bool put_integer(Integer value);
  std::string count();
  Shape shape() const;
  Tensor tensor() const;

  const JsonField* field_;
  const DefaultValue* default_;
  bool is_there_ = false;
  std::vector<int64_t> counts_ = {};  // The number of elements of each open array.
  int64_t rows_ = 0;                  // Elements of the outermost array, once it is closed.
  std::vector<std::byte> numbers_ = {};
  std::string characters_ = {};
  std::vector<size_t> ends_ = {};  // The end of each string in characters_.
};

}  // namespace headpond::internal
