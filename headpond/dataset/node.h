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
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/state.h"
#include "headpond/dataset/view.h"

namespace headpond {

/// indexed: `slots` elements, each at its position. sparse: a position may be a hole, so `slots` is an upper bound.
/// stream: elements one after the other, and only so.
enum class Kind : uint8_t { indexed, sparse, stream };

/// `slots` of a dataset without an end.
inline constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

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
  /// Says that this is what will be opened next, when what is open has ended: it may be begun ahead.
  virtual void expect(const Node& /*input*/, const Binding& /*binding*/) {}
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
    std::string random_stream = "";  ///< The name of its random numbers; "": it draws none.
    bool blocking = false;           ///< It waits, for a file or a network, more than it computes.
    /// Of what it means. Raised when it gives other elements for equal arguments, so that older states are refused.
    int version = 0;
    bool replays = false;  ///< A restored run reads again all that came before its place.
  };
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Facts& facts() const { return facts_; }
  const Spec& spec() const { return facts_.spec; }
  Kind kind() const { return facts_.kind; }
  int64_t slots() const { return facts_.slots; }
  const Node& input(size_t i = 0) const { return *facts_.inputs[i]; }
  /// All that says what it means, its inputs apart: "shuffle(window=5, name=eval)". So plans and errors name it.
  std::string title() const;
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
