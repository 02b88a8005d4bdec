// SPDX-License-Identifier: Apache-2.0
// How elements that have positions are asked for: by any thread, at any position, into memory that the caller may give.
// For those who write operators.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// What a request for an element gives. pending: an input has nothing yet; ask again, nothing is lost. Only an Iterator
/// gives end or pending, only a View gives hole. error: the text is in Context::error; the next element may still come.
enum class Got : uint8_t { value, hole, end, error, pending };

/// Memory that the caller would like a field to be written to: a row of a batch.
struct OutputSlot {
  std::byte* data = nullptr;        ///< Null: none.
  const FieldSpec* spec = nullptr;  ///< Of the field; a full shape.
};
using OutputSlots = std::span<const OutputSlot>;  ///< One per field, or none.

class Node;
class View;

/// The seed of the run, and the epoch of this node: repeat counts epochs for what is below it.
struct Binding {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  bool operator==(const Binding&) const = default;
};

/// What a thread needs while it asks: one per thread and run, never shared.
class Context {
 public:
  /// `may_keep`: bytes of the pool in use up to which an operator may keep elements for later epochs.
  explicit Context(BufferPool& pool = BufferPool::shared(), int64_t may_keep = INT64_MAX)
      : pool_(pool), may_keep_(may_keep) {}

  Error error;  ///< Of the last Got::error.
  Got fail(Error what) {
    error = std::move(what);
    return Got::error;
  }
  /// Appends a field to `out`, and returns where its values belong: the field's output slot if that has this dtype
  /// and shape, else a pooled buffer. All bytes must be written. Not for dtype bytes.
  std::byte* allocate_output(Element& out, OutputSlots outputs, DType dtype, const Shape& shape);
  /// For who fills a column with texts out of a mapped file: `tail` is a text's end or what stands behind it, and not
  /// all zeros unless the file was cut before it; it lives as long as the view.
  void lend(std::span<const std::byte> tail) { lent_.push_back(tail); }
  /// For who has read such texts: true iff all that were lent since the last call are still what they were.
  bool lent_is_whole();
  /// For who asked for texts and has no use for them.
  void forget_lent() { lent_.clear(); }

  bool may_keep() const { return may_keep_ == INT64_MAX || pool_.stats().bytes_in_use <= may_keep_; }
  /// `node` bound; the last few stay, so that asking for them again costs little. REQUIRES: not a stream.
  std::shared_ptr<const View> view(const Node& node, const Binding& binding);

 private:
  struct Bound {
    const Node* node;
    Binding binding;
    std::shared_ptr<const View> view;
  };
  BufferPool& pool_;
  const int64_t may_keep_;
  std::vector<std::span<const std::byte>> lent_;
  std::vector<Bound> bound_;
  size_t oldest_ = 0;
};

/// A node for one seed and epoch. Immutable; at() is a pure function that any thread may call.
class View {
 public:
  virtual ~View() = default;
  /// value: `out`, which was empty, is the element at `i`, its key set. REQUIRES: 0 <= i < slots.
  virtual Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// The elements at `positions`, whole columns at a time: the values of field f one below the other from
  /// columns[f].data on, and their keys unless `keys` is null. True iff all of it is written, and as at() would give
  /// it; false: anything may be written, ask at(). Without positions: true iff it can be expected to work.
  /// REQUIRES: one column per field, of a full shape and a dtype of fixed size, or a scalar of dtype bytes; positions
  /// as for at().
  ///
  /// A column of dtype bytes takes a std::string_view for each value, into memory that lives as long as the view. A
  /// mapped file may shrink at any time: who has read the texts asks Context::lent_is_whole().
  virtual bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const;
};

namespace internal {

/// view.at(), but what it throws is the error.
Got ask(const View& view, int64_t i, Context& context, OutputSlots outputs, Element& out);

}  // namespace internal
}  // namespace headpond
