// SPDX-License-Identifier: Apache-2.0
// What an operator is made of. For authors of operators; to build pipelines, read dataset.h and ops.h.
//
// A Node is a description: immutable, shared, without the state of a run. Bound to a seed and an epoch, a node whose
// elements have positions gives a View, which answers for any position; a node whose elements have only an order gives
// an Iterator. Operators own no thread, lock or clock: the engine spreads calls of `at` over cores, and calls an
// Iterator from one thread at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/state.h"
#include "headpond/dataset/view.h"

namespace headpond {

/// indexed: `slots` elements, each at its position. sparse: a position may be a hole, so `slots` is an upper bound.
/// stream: elements come one after the other, and have no positions.
enum class Kind : uint8_t { indexed, sparse, stream };

/// What an operator does with elements. Code that looks at pipelines, such as explain, asks for this instead of names.
enum class Role : uint8_t {
  other,
  map,     ///< Calls a function or a parser, one element for one.
  filter,  ///< Leaves out elements by their values.
  order,   ///< Changes the order.
  choice,  ///< Keeps elements by their numbers.
  store,   ///< Keeps what its input gave.
  batch,   ///< Stacks elements.
};

/// `slots` of a dataset without an end.
inline constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// A run through the elements of a node, in order. One thread at a time.
class Iterator {
 public:
  virtual ~Iterator() = default;
  /// value: `out`, which was empty, is the next element. After end: end again.
  virtual Got next(Context& context, Element& out) = 0;
  /// Saves or restores all fields that change during the run, those of the inputs included.
  virtual void visit_state(StateVisitor& visitor) = 0;
};

/// Opens the inputs of an operator that is an Iterator: sequentially, or run ahead by the engine.
class Feed {
 public:
  virtual ~Feed() = default;
  virtual std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) = 0;
  /// Announces what will be opened next, after the end of what is open: the feed may begin it ahead.
  virtual void expect(const Node& /*input*/, const Binding& /*binding*/) {}
};

class Node {
 public:
  using Ref = std::shared_ptr<const Node>;
  struct Facts {
    std::string op;         ///< "map".
    std::string args = "";  ///< "count=3": explain prints them, and the fingerprint of a state covers them.
    Spec spec = {};         ///< Dimensions may be kUnknown.
    Kind kind = Kind::indexed;
    int64_t slots = 0;  ///< kEndless: no end. Of a stream: an upper bound if one is known, else kEndless.
    std::vector<Ref> inputs = {};
    std::string random_stream = "";  ///< The name of its random numbers; "": it draws none.
    bool blocking = false;           ///< It waits, for a file or a network, more than it computes.
    /// Raised when the operator gives other elements for equal arguments, so that older states are refused.
    int version = 0;
    bool replays = false;  ///< A restored run reads again all elements before its position.
    Role role = Role::other;
    bool opaque = false;  ///< It calls a function without a name: a restore cannot notice that the function changed.
  };
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Facts& facts() const { return facts_; }
  const Spec& spec() const { return facts_.spec; }
  Kind kind() const { return facts_.kind; }
  int64_t slots() const { return facts_.slots; }
  const Node& input(size_t i = 0) const { return *facts_.inputs[i]; }
  /// Name and arguments, as plans and errors have them: "shuffle(window=5, name=eval)".
  std::string title() const;
  /// The key of this node's random numbers. Only nodes with an equal random_stream among its inputs change it.
  RandomKey random_key(const Binding& binding) const;

  /// REQUIRES: indexed or sparse. The node outlives the view.
  virtual std::shared_ptr<const View> bind(const Binding& binding) const;
  /// True iff a run through the elements must use iterate(): for a stream, and for a node with positions whose later
  /// elements move up when one fails, which positions cannot express (batch, and one-to-one operators after it).
  virtual bool iterates() const;
  /// REQUIRES: iterates(). Node and feed outlive the iterator.
  virtual std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const;

 protected:
  explicit Node(Facts facts);

 private:
  const Facts facts_;
  uint32_t occurrence_ = 0;
};

/// The view of an input: what node.bind() gives, as the binding's observer sees it. Operators bind their inputs with
/// it.
std::shared_ptr<const View> view_of(const Node& node, const Binding& binding);

}  // namespace headpond
