// SPDX-License-Identifier: Apache-2.0
// All that a run delivers, call by call: for the contract that each dataset keeps, and for tests. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "headpond/dataset/sequence.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// "5", "[1 2]", "[2,2][1 2 3 4]".
std::string text_of(const Tensor& tensor);
/// "5", or "5, [1 2]" for two fields.
std::string text_of(const Element& element);
/// The same with its key in hex: "5 #a".
std::string text_with_key(const Element& element);

/// All that an element is, as bytes: epoch, index, key, and each field's name, dtype, shape and values.
std::string bytes_of(const Element& element, int64_t epoch, int64_t index);

/// The answer of one call, and the state after it.
struct Outcome {
  enum Kind : uint8_t { value, error, end };
  Kind kind = end;
  std::string bytes;  ///< Bytes of the element; an error's kind and text.
  std::string text;   ///< For people.
  std::string state;
  int64_t epoch = 0;  ///< Epoch of a value.
};
Outcome outcome_of(Sequence& sequence);
/// For others that deliver elements as a Sequence does.
Outcome outcome_of_error(const Error& error, std::string state);
Outcome outcome_of_value(const Element& element, int64_t epoch, int64_t index, std::string state);
/// "" iff the two are the same, else what differs.
std::string difference(const Outcome& got, const Outcome& expected);

/// The answers of a pipeline from a position on.
struct Course {
  std::vector<Outcome> outcomes;  ///< The last one is the end, unless the run is longer.
  int64_t largest = 0;            ///< Bytes of an element.
  bool ends() const { return !outcomes.empty() && outcomes.back().kind == Outcome::end; }
  /// The outcome at which a run restored after outcome `i` continues; errors that follow a value come again.
  size_t after(size_t i) const;
};
/// At most `most` outcomes; no more after 20 errors in a row, which are those of a source that is lost.
Course course_of(Sequence& sequence, size_t most);

}  // namespace headpond::internal
