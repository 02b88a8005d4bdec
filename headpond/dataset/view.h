// SPDX-License-Identifier: Apache-2.0
// How a caller asks for elements that have positions: from any thread, at any position, into memory that it may
// provide. For authors of operators.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/failed_element.h"
#include "headpond/tensor/element.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// The answer to a request for an element. pending: an input has nothing yet; ask again, nothing is lost. Only an
/// Iterator answers end or pending, only a View answers hole. error: it is in Context::error; later elements may still
/// come.
enum class Got : uint8_t { value, hole, end, error, pending };

class Node;
class View;

/// Is told of each view that is bound as an input; the engine measures operators with it.
class ViewObserver {
 public:
  virtual ~ViewObserver() = default;
  /// Returns the view that the operator above uses instead of `view`, that of `node`.
  virtual std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) = 0;
};

/// The run's seed and this node's epoch. (repeat counts epochs of its own for its input.)
struct Binding {
  uint64_t seed = 0;
  uint64_t epoch = 0;
  ViewObserver* observer = nullptr;  ///< Observes the views below; outlives them. Operators pass it on.
  bool operator==(const Binding&) const = default;
};

/// A thread's tools while it asks for elements: one for each thread and run, never shared.
class Context {
 public:
  /// Operators keep elements for later epochs while the pool uses at most `may_keep` bytes.
  explicit Context(BufferPool& pool = BufferPool::shared(), int64_t may_keep = INT64_MAX)
      : pool_(pool), may_keep_(may_keep) {}

  Error error;           ///< The last one: see Got::error.
  int64_t left_out = 0;  ///< Elements so far that the system lost, as with a file: another run may have them.
  Got fail(Error what) {
    error = std::move(what);
    return Got::error;
  }
  /// What on_error did on the way to the next answer; the operator that delivers it delivers these with it, in this
  /// order, and empties the list. An Iterator appends to it and never looks at it, but for one that reads elements
  /// again after a restore: it removes what was appended then, which was delivered before.
  std::vector<FailedElement> failed;
  /// Appends a field to `out` and returns the memory for its values: the field's output slot if it has this dtype and
  /// shape, else a pooled buffer. The caller writes all bytes of it. REQUIRES: not dtype bytes.
  std::byte* allocate_output(Element& out, OutputSlots outputs, DType dtype, const Shape& shape);
  /// Called by a view that fills a column with texts of a mapped file. `tail`: the end of such a text or the bytes
  /// after it; all zeros only if the file was truncated before them. It lives as long as the view.
  void lend(std::span<const std::byte> tail) { lent_.push_back(tail); }
  /// Called by the reader of such texts: true iff all texts lent since the last call were whole while it read them.
  bool lent_is_whole();
  /// Discards pending checks of text views that the caller won't use.
  void forget_lent() { lent_.clear(); }

  /// Memory that kernels keep from one element to the next.
  KernelScratch& scratch() { return *scratch_; }
  /// Kernels use what `other` has from now on. REQUIRES: the same thread; `other` outlives all later uses of scratch().
  void use_scratch_of(Context& other) { scratch_ = &other.scratch(); }

  bool may_keep() const { return may_keep_ == INT64_MAX || pool_.bytes_in_use() <= may_keep_; }
  /// The view of `node`. The last few are cached. REQUIRES: not a stream.
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
  KernelScratch own_scratch_;
  KernelScratch* scratch_ = &own_scratch_;
};

/// A node bound to a seed and an epoch. Immutable; at() is a pure function that any thread may call.
class View {
 public:
  virtual ~View() = default;
  /// value: `out`, which was empty, is the element at `i`, its key set. REQUIRES: 0 <= i < slots.
  virtual Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// Writes the elements at `positions` as columns: the values of field f contiguously from columns[f].data on, and
  /// their keys to `keys` unless it is null. True iff everything is written, with the values that at() would give.
  /// After false, the memory may hold anything and the caller asks at(). Without positions: true iff fill can be
  /// expected to work. REQUIRES: one column for each field, with a full shape and a dtype of fixed size, or a scalar of
  /// dtype bytes; positions as for at().
  ///
  /// A column of dtype bytes receives a std::string_view for each value, into memory that lives as long as the view. A
  /// mapped file may shrink at any time: after reading the texts, call Context::lent_is_whole().
  virtual bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const;
};

namespace internal {

/// view.at(), with an exception as an error.
Got ask(const View& view, int64_t i, Context& context, OutputSlots outputs, Element& out);

}  // namespace internal
}  // namespace headpond
