// SPDX-License-Identifier: Apache-2.0
// The value of one key of a JSON object on its way to a tensor: what is asked for, and what was found so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/io/default_value_internal.h"
#include "headpond/io/text/json_lines.h"

namespace headpond::internal {

/// Throws Exception(InvalidArgument) for a field that contradicts itself; else its default, or null.
std::shared_ptr<const DefaultValue> checked_default(const JsonField& field);

/// Takes the parts of a value in the order of the text. Each call returns what is wrong with it, or an empty text.
class JsonValues {
 public:
  /// `field` was checked, `otherwise` is its default or null; both outlive this.
  JsonValues(const JsonField& field, const DefaultValue* otherwise) : field_(&field), default_(otherwise) {}

  /// The key is here, perhaps again.
  void begin();
  std::string null();
  std::string boolean(bool value);
  /// As it stands in the text.
  std::string number(std::string_view token);
  std::string text(std::string_view value);
  std::string object();
  std::string open_array();
  std::string close_array();

  /// Gives what was found, or the default. The error's text says what was expected, and no more.
  Result<void> give(size_t number, const FieldTargets& targets) const;

 private:
  std::string expected() const;
  std::string found(std::string_view what) const;
  bool is_leaf(DType dtype) const;
  std::string count();
  Shape shape() const;
  Tensor tensor() const;

  const JsonField* field_;
  const DefaultValue* default_;
  bool is_there_ = false;
  std::vector<int64_t> counts_ = {};  // Of what is in each array that is open.
  int64_t rows_ = 0;                  // In the outermost array, once it is closed.
  std::vector<std::byte> numbers_ = {};
  std::string characters_ = {};
  std::vector<size_t> ends_ = {};  // Of each string in characters_.
};

}  // namespace headpond::internal
