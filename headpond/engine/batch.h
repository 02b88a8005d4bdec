// SPDX-License-Identifier: Apache-2.0
// Batch, an element that a Loader delivers.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "headpond/base/list_of_names.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// One element of the dataset. It owns a share of its memory, which is reused when the last copy of its tensors is
/// gone. It may outlive the Loader and be destroyed by any thread.
class Batch {
 public:
  Batch(Element&& element, int64_t epoch, int64_t index) : element_(std::move(element)), epoch_(epoch), index_(index) {}
  const Tensor& operator[](size_t i) const { return element_[i]; }
  /// Throws Exception(InvalidArgument) for a name that is not there.
  const Tensor& operator[](std::string_view name) const { return element_[name]; }
  void operator[](internal::ListOfNames) const = delete;
  size_t size() const { return element_.size(); }
  const Element& element() const& { return element_; }
  /// Moves the element out: std::move(batch).element().
  Element element() && { return std::move(element_); }
  int64_t epoch() const { return epoch_; }
  int64_t index() const { return index_; }  ///< Its number in the epoch, errors not counted.

 private:
  Element element_;
  int64_t epoch_, index_;
};

}  // namespace headpond
