// SPDX-License-Identifier: Apache-2.0
// What an operator is made of. For those who write operators; who builds pipelines reads dataset.h and ops.h.
//
// A Node describes: immutable, shared, without a run. Bound to a seed and an epoch, one whose elements have positions
// gives a View, which answers for any position; one whose elements have only an order gives an Iterator. No thread,
// lock or clock lives here: the engine spreads calls of `at` over cores, and calls an Iterator from one thread at a
// time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/base/status.h"
#include "headpond/dataset/state.h"
#include "headpond/tensor/element.h"

namespace headpond {

/// indexed: `slots` elements, each at its position. sparse: a position may be a hole, so `slots` is an upper bound.
/// stream: elements one after the other, and only so.
enum class Kind : uint8_t { indexed, sparse, stream };

/// What asking for an element gives. later: an input has nothing yet; ask again, nothing is lost. Only an Iterator
/// gives end or later, only a View gives hole. error: the text is in Context::error; the next element may still come.
enum class Got : uint8_t { value, hole, end, error, later };

/// `slots` of a dataset without an end.
inline constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// A place that the caller would like a field to be written to: a row of a batch.
struct Offer {
  std::byte* place = nullptr;
  const FieldSpec* spec = nullptr;  ///< Of the field; a full shape.
};
using Offers = std::span<const Offer>;  ///< One per field, or none.

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
  explicit Context(BufferPool& pool = BufferPool::shared()) : pool_(pool) {}

  Error error;  ///< Of the last Got::error.
  Got fail(Error what) {
    error = std::move(what);
    return Got::error;
  }
  /// Appends a field to `out`, and returns where its values belong: the offered place if dtype and shape are those
  /// offered, else a pooled buffer. All bytes must be written. Not for dtype bytes.
  std::byte* make(Element& out, Offers offers, DType dtype, const Shape& shape);
  /// `node` bound; the last few stay, so that asking for them again costs little. REQUIRES: not a stream.
  std::shared_ptr<const View> view(const Node& node, const Binding& binding);

 private:
  struct Bound {
    const Node* node;
    Binding binding;
    std::shared_ptr<const View> view;
  };
  BufferPool& pool_;
  std::vector<Bound> bound_;
  size_t oldest_ = 0;
};

/// A node for one seed and epoch. Immutable; at() is a pure function that any thread may call.
class View {
 public:
  virtual ~View() = default;
  /// value: `out`, which was empty, is the element at `i`, its key set. REQUIRES: 0 <= i < slots.
  virtual Got at(int64_t i, Context& context, Offers offers, Element& out) const = 0;
};

/// A run through a dataset in order, or through what an operator makes of its inputs in order. One thread at a time.
class Iterator {
 public:
  virtual ~Iterator() = default;
  /// value: `out`, which was empty, is the next element. After end: end again.
  virtual Got next(Context& context, Element& out) = 0;
  /// Saves or restores all that changed since the start, inputs included.
  virtual void visit_state(StateVisitor& visitor) = 0;
};

/// Where an operator that is an Iterator gets its inputs from: the sequential meaning, or the engine's window.
class Feed {
 public:
  virtual ~Feed() = default;
  virtual std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) = 0;
};

class Node {
 public:
  using Ref = std::shared_ptr<const Node>;
  struct Facts {
    std::string op;         ///< "map".
    std::string args = "";  ///< As explain prints them and the fingerprint takes them: "count=3".
    Spec spec = {};         ///< Dimensions may be kUnknown.
    Kind kind = Kind::indexed;
    int64_t slots = 0;  ///< kEndless: no end. Of a stream: an upper bound if one is known, else kEndless.
    std::vector<Ref> inputs = {};
    std::string draws = "";  ///< The name under which it draws random numbers; "": none.
  };
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Facts& facts() const { return facts_; }
  const Spec& spec() const { return facts_.spec; }
  Kind kind() const { return facts_.kind; }
  int64_t slots() const { return facts_.slots; }
  const Node& input(size_t i = 0) const { return *facts_.inputs[i]; }
  /// The key of this node's draws: equal names in its own input count, so what stands above or beside changes nothing.
  RandomKey random_key(const Binding& binding) const;

  /// REQUIRES: indexed or sparse. The node outlives the view.
  virtual std::shared_ptr<const View> bind(const Binding& binding) const;
  /// True iff going through the elements asks iterate(): a stream, and a dataset with positions in which what follows
  /// moves up when an element fails, which positions cannot say (batch, and what stands 1:1 above it).
  virtual bool iterates() const;
  /// REQUIRES: iterates(). The node and the feed outlive the iterator.
  virtual std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const;

 protected:
  explicit Node(Facts facts);

 private:
  const Facts facts_;
  uint32_t occurrence_ = 0;
};

}  // namespace headpond
