// SPDX-License-Identifier: Apache-2.0
// Elements that are not copied: a caller that uses an element at once gets its fields where a mapped file has them. Not
// for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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

/// Memory that fields of an element borrow: element `i` of `by`. Both live as long as the view. Without `by` nothing
/// is borrowed.
struct Loan {
  std::span<const std::byte> memory = {};
  const Lender* by = nullptr;
  int64_t i = 0;

  /// Ask it after reading: if it is false, what was read is not the element.
  bool is_whole() const { return by == nullptr || by->is_whole(i); }
  bool has(const Tensor& tensor) const {
    const std::less<> before;
    return by != nullptr && !before(tensor.data(), memory.data()) &&
           before(tensor.data(), memory.data() + memory.size());
  }
};

/// A view that may lend.
class LendingView {
 public:
  virtual ~LendingView() = default;
  /// View::at without output slots, for a caller that keeps no field and looks at `loan`, which was empty. Fields of
  /// fixed size may borrow.
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

/// A SourceFile that may lend.
class LendingFile : public Lender {
 public:
  virtual ~LendingFile() = default;
  /// False: nothing was done, ask at().
  virtual bool lend(int64_t i, Element& out, Loan& loan) const = 0;
};

/// A Pointwise operator of which nothing but its result refers to what apply() was given, if it says so: then that may
/// be lent.
class TakesLent {
 public:
  virtual ~TakesLent() = default;
  virtual bool takes_lent() const = 0;
};

}  // namespace headpond::internal
