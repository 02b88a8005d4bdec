// SPDX-License-Identifier: Apache-2.0
// A dataset describes what a pipeline delivers, element by element, and in which order; it does nothing by itself.
// Sequence (sequence.h) runs it sequentially; the engine's Loader delivers the same bytes faster.
//
//   auto digits = from_tensor_slices({{"image", images}, {"label", labels}}) | shuffle() | batch(32);
//
// A pipeline that cannot work throws Exception(InvalidArgument) where it is built. Files are opened when a Sequence or
// a Loader is made of it; until then a missing one is not noticed, unless the program calls check().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "headpond/dataset/node.h"

namespace headpond {

/// A handle to a description: copies are the same dataset. Immutable, thread-safe.
class Dataset {
 public:
  explicit Dataset(Node::Ref node) : node_(std::move(node)) {}

  /// Names, dtypes and shapes of an element's fields; a dimension that differs from element to element is kUnknown.
  const Spec& spec() const { return node_->spec(); }
  Kind kind() const { return node_->kind(); }
  /// Number of elements in an epoch; nullopt: unknown before the end; kEndless: there is no end. Opens the files to
  /// know it, and throws Exception for one that cannot be read.
  std::optional<int64_t> cardinality() const;
  const Node::Ref& node() const { return node_; }

  /// The operators from the sources on, one a line, with their arguments. Opens the files. A state belongs to a plan,
  /// wherever its files lie. Of a plan of more than 65,536 lines each part is written once, and named by its line
  /// ("zip(inputs=2), as step 3") where it is used again.
  std::string plan() const;

 private:
  Node::Ref node_;
};

/// Opens all files and looks for what keeps the dataset from starting: the error that a Sequence or a Loader would
/// throw.
Result<void> check(const Dataset& dataset);

/// A step of a pipeline: makes a dataset from a dataset.
using Step = std::function<Dataset(const Dataset&)>;

inline Dataset operator|(const Dataset& dataset, const Step& step) { return step(dataset); }

/// One step after the other, as a step: `const Step augment = random_flip(1) | add_noise(0.1F);`.
inline Step operator|(Step first, Step second) {
  return [first = std::move(first), second = std::move(second)](const Dataset& input) { return second(first(input)); };
}

/// "{'image': uint8[28,28], 'label': int64[]}"; a field without a name by its number.
std::string to_string(const Spec& spec);

/// The iterator of any node: its own if it iterates(), else one over its positions.
std::unique_ptr<Iterator> open(const Node& node, const Binding& binding, Feed& feed);

/// For authors of operators: throws Exception(InvalidArgument) "op: what".
[[noreturn]] void refuse(const std::string& op, const std::string& what);
/// For authors of operators: "train.idx, record 17"; if the provenance is unknown, "element" and the key.
std::string element_name(uint64_t key, Provenance provenance);
/// The same for programs: where an operator, by its title, met that element.
ErrorPlace element_place(std::string op, uint64_t key, Provenance provenance);

namespace internal {
/// The plan without the places where data lies: what a state belongs to.
std::string identity_of(const Dataset& dataset);
/// A ParallelFor without threads.
void one_by_one(int64_t count, const std::function<void(int64_t)>& each);
/// Calls Node::prepare for all nodes.
void prepare(const Dataset& dataset, const ParallelFor& parallel);
}  // namespace internal

}  // namespace headpond
