// SPDX-License-Identifier: Apache-2.0
// Elements that are not copied: a caller that uses an element at once gets its fields where a mapped file has them. Not
// for users.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "headpond/dataset/view.h"

namespace headpond::internal {

/// Tells whether memory that it lent was whole while it was read: a mapped file may shrink at any time.
class Lender {
 public:
  virtual bool is_whole(int64_t i) const = 0;

 protected:
  ~Lender() = default;
};

/// Memory that fields of an element borrow, of a few lenders: those of zipped inputs, say.
class Loan {
 public:
  /// The memory of element `i` of `by`. Both live as long as the view.
  struct Part {
    std::span<const std::byte> memory;
    const Lender* by;
    int64_t i;
  };
  bool has_room() const { return size_ < parts_.size(); }
  /// REQUIRES: has_room().
  void add(const Part& part) {
    assert(has_room());
    parts_[size_++] = part;
  }

  /// Ask it after reading: if it is false, what was read is not the element.
  bool is_whole() const {
    return std::ranges::all_of(parts(), [](const Part& part) { return part.by->is_whole(part.i); });
  }
  /// True iff the values of `tensor` are in this memory.
  bool has(const Tensor& tensor) const {
    const std::less<> before;
    return std::ranges::any_of(parts(), [&](const Part& part) {
      const std::span<const std::byte> memory = part.memory;
      return !before(tensor.data(), memory.data()) && before(tensor.data(), memory.data() + memory.size());
    });
  }

 private:
  std::span<const Part> parts() const { return {parts_.data(), size_}; }

  std::array<Part, 4> parts_;
  size_t size_ = 0;
};

/// A view that may lend.
class LendingView {
 public:
  virtual ~LendingView() = default;
  /// View::at without output slots, for a caller that keeps no field and looks at `loan`, to which the memory of fields
  /// that borrow is added. Only fields of fixed size do.
  virtual Got lend(int64_t i, Context& context, Element& out, Loan& loan) const = 0;
};

/// A view, perhaps of one that may lend. REQUIRES: `view` outlives it.
class MayLend {
 public:
  explicit MayLend(const View& view) : view_(view), lending_(dynamic_cast<const LendingView*>(&view)) {}
  Got lend(int64_t i, Context& context, Element& out, Loan& loan) const {
    return lending_ != nullptr ? lending_->lend(i, context, out, loan) : view_.at(i, context, {}, out);
  }

 private:
  const View& view_;
  const LendingView* const lending_;
};

/// A Pointwise operator of which nothing but its result refers to what apply() was given, if it says so: then that may
/// be lent.
class TakesLent {
 public:
  virtual ~TakesLent() = default;
  virtual bool takes_lent() const = 0;
};

}  // namespace headpond::internal
