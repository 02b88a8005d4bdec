// SPDX-License-Identifier: Apache-2.0
// Nodes, the descriptions of operators. For authors of operators; to build pipelines, read dataset.h and ops.h.
//
// A Node is a description: immutable, shared, without the state of a run. Bound to a seed and an epoch, a node whose
// elements have positions gives a View, which answers for any position; a node whose elements have only an order gives
// an Iterator. Operators own no thread, lock or clock: the engine spreads calls of `at` over cores, and calls an
// Iterator from one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/dataset/lazy.h"
#include "headpond/dataset/state.h"
#include "headpond/dataset/view.h"

namespace headpond {

/// indexed: `slots` elements, each at its position. sparse: a position may be a hole, so `slots` is an upper bound.
/// stream: elements come one after the other, and have no positions.
enum class Kind : uint8_t { indexed, sparse, stream };

/// The role of an operator. Code that looks at pipelines, such as explain, asks for this instead of names.
enum class Role : uint8_t {
  other,
  map,      ///< Calls a function or a parser, one element for one.
  filter,   ///< Leaves out elements by their values.
  order,    ///< Changes the order.
  choice,   ///< Keeps elements by their numbers.
  store,    ///< Keeps what its input gave.
  repeat,   ///< Gives all of its input several times.
  batch,    ///< Stacks elements.
  unbatch,  ///< Gives samples, made of batches: one level of batches less.
  rebatch,  ///< Moves rows to other batches.
  hint,     ///< Says how to run its input, or what its fields are called, and gives the same elements.
};

/// `slots` of a dataset without an end.
inline constexpr int64_t kEndless = std::numeric_limits<int64_t>::max();

/// How many nodes a dataset may have one above the other. Each takes stack, of a run as of what looks at a plan: at
/// most 4 KiB with ASan and without optimization, 2 KiB else, of the 8 MiB that a thread usually has. A dataset that a
/// function makes (flat_map, interleave) is counted by itself, but runs on the stack of the dataset that it is made in:
/// nothing limits the two together.
inline constexpr int kMostDepth = 1024;

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
  /// The same of a dataset that a function made, which may be dropped while the run goes on: what works ahead holds it.
  virtual std::unique_ptr<Iterator> open_made(const std::shared_ptr<const Node>& input, const Binding& binding) {
    return open(*input, binding);
  }
  /// Calls `make` and lets `visitor` restore the iterator. What it opens begins to work only after that.
  virtual std::unique_ptr<Iterator> restored(const std::function<std::unique_ptr<Iterator>()>& make,
                                             StateVisitor& visitor) {
    auto iterator = make();
    iterator->visit_state(visitor);
    return iterator;
  }
  /// Announces what will be opened next, after the end of what is open: the feed may begin it ahead.
  virtual void expect(const Node& /*input*/, const Binding& /*binding*/) {}
};

/// Calls `each(i)` for all i in [0, count), perhaps on several threads at once; returns after the last call. The
/// exception of the lowest i goes to the caller.
using ParallelFor = std::function<void(int64_t count, const std::function<void(int64_t)>& each)>;

class Node {
 public:
  using Ref = std::shared_ptr<const Node>;
  struct Facts {
    std::string op;         ///< "map".
    std::string args = "";  ///< "count=3": explain prints them, and the fingerprint of a state covers them.
    /// Where a source's data lies: "'train-*.tfrecord'". Not part of the fingerprint: data may move.
    std::string location = "";
    /// Whether `location` decides which elements there are, as a rank does: a cache above keeps one set of elements for
    /// each location.
    bool location_chooses = false;
    /// Which data a source reads: "files=3, digest=1c291ca3"; part of the fingerprint. May throw as slots.
    Lazy<std::string> data = std::string();
    /// What else a cache on disk compares of a source: when files were written, and where they lie if elements tell
    /// that. Not part of the fingerprint. May throw as slots.
    Lazy<std::string> stamp = std::string();
    Spec spec = {};  ///< Dimensions may be kUnknown.
    Kind kind = Kind::indexed;
    /// kEndless: no end. Of a stream: an upper bound if one is known, else kEndless. What must open files to be known
    /// is found when it is first asked for, and may then throw Exception.
    Lazy<int64_t> slots = 0;
    std::vector<Ref> inputs = {};
    /// The names of its random numbers, one for each kind of draw that it makes; empty: it draws none.
    std::vector<std::string> random_streams = {};
    bool args_name_streams = false;  ///< `args` has those names: a plan need not repeat them.
    bool blocking = false;           ///< It waits, for a file or a network, more than it computes.
    /// Raised when the operator gives other elements for equal arguments, so that older states are refused.
    int version = 0;
    bool replays = false;  ///< A restored run reads again all elements before its position.
    /// Elements that it may hold from one answer to the next. A restored run reads them again.
    int64_t holds = 0;
    Role role = Role::other;
    /// Its iterator does more than count and choose: the engine runs it ahead, on one thread at a time.
    bool computes = false;
    bool makes_datasets = false;  ///< Its function makes datasets, which may draw random numbers.
    /// It decides by what came before, so that positions can't express what it does: operators that read their input by
    /// position refuse it (check_reads_positions).
    bool decides_in_order = false;
    /// A built-in operator: code may compare its name, as migrate does. Operators of users may have the same names, and
    /// leave this false.
    bool is_of_library = false;
    /// It gives each element of its only input once, with its key, at another position: check() says how well it mixes.
    bool permutes = false;
    bool opaque = false;  ///< It calls a function without a name: a restore cannot notice that the function changed.
  };
  virtual ~Node() = default;
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  const Facts& facts() const { return facts_; }
  const Spec& spec() const { return facts_.spec; }
  Kind kind() const { return facts_.kind; }
  int64_t slots() const { return facts_.slots.get(); }
  /// Nodes from a source up to this one, where they are most: 1 for a source.
  int depth() const { return depth_; }
  const Node& input(size_t i = 0) const { return *facts_.inputs[i]; }
  /// Name and arguments, as errors have them: "shuffle(window=5, name=eval)". Looks at no file.
  std::string title() const;
  /// The same with facts().data, as plans have it.
  std::string title_with_data() const;
  /// The same without facts().location: what the fingerprint of a state covers.
  std::string identity() const;
  bool draws() const { return !facts_.random_streams.empty(); }
  /// The key of random stream `which` of this node; an empty one if it has no such stream. Only equal names change it:
  /// those among its inputs, and those before it in this node.
  RandomKey random_key(const Binding& binding, size_t which = 0) const;
  /// All of them.
  std::vector<RandomKey> random_keys(const Binding& binding) const;

  /// Opens what the node itself reads, which is else done when it is first needed. May throw Exception. Any thread.
  virtual void prepare(const ParallelFor& /*parallel*/) const {}
  /// Where in a source's file a record begins, in bytes; nullopt for a record of another source, and if it isn't
  /// known. Any thread.
  virtual std::optional<uint64_t> offset_of(const Provenance& /*record*/) const { return std::nullopt; }
  /// REQUIRES: indexed or sparse. The node outlives the view.
  virtual std::shared_ptr<const View> bind(const Binding& binding) const;
  /// True iff a run through the elements must use iterate(): for a stream, and for a node with positions whose later
  /// elements move up when one fails, which positions cannot express (batch, and one-to-one operators after it).
  virtual bool iterates() const;
  /// REQUIRES: iterates(). Node and feed outlive the iterator.
  virtual std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const;

 protected:
  /// Throws Exception(InvalidArgument) iff it would be more than kMostDepth deep.
  explicit Node(Facts facts);

 private:
  std::string text(bool with_location, bool with_data) const;

  const Facts facts_;
  const int depth_;
  std::vector<uint32_t> occurrences_;  // One for each random stream.
  bool is_input_iterated_ = false;     // Asked once, as an input may be used several times.
};

/// The view of an input: what node.bind() gives, as the binding's observer sees it. Operators bind their inputs with
/// it.
std::shared_ptr<const View> view_of(const Node& node, const Binding& binding);

/// The nodes of a plan, each once however often it is used: inputs before what uses them, `root` last.
/// They live as long as it.
std::vector<const Node*> nodes_of(const Node& root);

/// True iff what `node` gives in order is not what its positions give, because it or an operator below it
/// decides_in_order.
bool decides_in_order(const Node& node);
/// Throws Exception(InvalidArgument), naming `op`, iff decides_in_order(input) and `input` has positions: for operators
/// that read positions also where the input iterates().
void check_reads_positions(const std::string& op, const Node& input);

}  // namespace headpond
