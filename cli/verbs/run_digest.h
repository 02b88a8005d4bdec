// SPDX-License-Identifier: Apache-2.0
// A digest of all delivered elements.
#pragma once

#include <memory>
#include <string>

#include "headpond/tensor/element.h"

namespace headpond::cli {

/// XXH3 (64 bits) over each element's fields in their order: the dtype's name and the shape as text, "int64[32]", then
/// the values as in memory (bytes: the offsets, then the characters). Equal digests mean equal dtypes, shapes, values
/// and order. One thread at a time.
class RunDigest {
 public:
  RunDigest();
  ~RunDigest();
  RunDigest(const RunDigest&) = delete;
  RunDigest& operator=(const RunDigest&) = delete;

  void add(const Element& element);
  /// 16 hexadecimal digits.
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace headpond::cli
