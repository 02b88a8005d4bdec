// SPDX-License-Identifier: Apache-2.0
// A dataset says what a pipeline delivers, element by element, and in which order; it does nothing by itself. Sequence
// (sequence.h) is its plain meaning, one thread, one element at a time; the engine delivers the same bytes faster.
//
//   auto digits = from_tensor_slices({{"image", images}, {"label", labels}}) | shuffle() | batch(32);
//
// Building throws Exception(InvalidArgument) for what cannot work, where it was written.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "headpond/dataset/node.h"

namespace headpond {

/// A description; copies are the same one. Immutable, thread-safe.
class Dataset {
 public:
  explicit Dataset(Node::Ref node) : node_(std::move(node)) {}

  /// Names, dtypes and shapes of an element's fields; kUnknown where a dimension differs from element to element.
  const Spec& spec() const { return node_->spec(); }
  Kind kind() const { return node_->kind(); }
  /// How many elements an epoch has; nullopt: none can tell before the end; kEndless: there is no end.
  std::optional<int64_t> cardinality() const;
  const Node::Ref& node() const { return node_; }

  /// The operators from the sources down, one a line, with their arguments: what a state is made for.
  std::string plan() const;

 private:
  Node::Ref node_;
};

/// A step of a pipeline: makes a dataset from a dataset.
using Step = std::function<Dataset(const Dataset&)>;

inline Dataset operator|(const Dataset& dataset, const Step& step) { return step(dataset); }

/// "{'image': uint8[28,28], 'label': int64[]}"; a field without a name by its number.
std::string to_string(const Spec& spec);

/// The iterator of any node: its own if it iterates(), else one that goes through the positions.
std::unique_ptr<Iterator> open(const Node& node, const Binding& binding, Feed& feed);

namespace internal {
/// Throws Exception(InvalidArgument), naming the operator.
[[noreturn]] void refuse(const std::string& op, const std::string& what);
/// "element 17, train.idx, record 17", for errors. Without a provenance the key has to do.
std::string element_name(uint64_t key, Provenance provenance);
}  // namespace internal

}  // namespace headpond
