// SPDX-License-Identifier: Apache-2.0
// The datasets that flat_map and interleave make of the elements of their input.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/dataset/bases/interleave_order_internal.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/ops/nested_function.h"
#include "headpond/dataset/quarantine/failed_place_internal.h"

namespace headpond::internal {

struct ChildrenOptions {
  std::string title = "";  ///< Title of the operator, for errors.
  Spec spec = {};          ///< Spec of the datasets; dimensions may be kUnknown.
  Kind kind = Kind::stream;
  int64_t cycle = 1;
  int64_t block = kEndless;
};

/// A dataset, or why there is none.
struct Child {
  std::optional<Dataset> dataset = {};
  Error error = {};
  OuterElement outer = {};                ///< The element that it was made of.
  std::shared_ptr<const View> view = {};  ///< In a table.
};

/// Where an element of the dataset of `outer` is not there: the error stands in the place of element 0.
inline Got fail_for(const OuterElement& outer, Context& context, Element& out, Error error) {
  out.key = mix(outer.key, 0);
  out.provenance = outer.provenance;
  return context.fail(std::move(error));
}

/// Thread-safe.
class Children {
 public:
  /// All datasets of an epoch, bound, and their order.
  struct Table {
    std::vector<Child> all;
    InterleaveOrder order;
  };

  Children(Node::Ref input, NestedFunction function, ChildrenOptions options);

  const ChildrenOptions& options() const { return options_; }
  const Node& input() const { return *input_; }
  /// The dataset of `parent`, its files opened.
  Child make(const Element& parent) const;
  /// The table of an epoch; the last few are kept. May throw Exception. REQUIRES: not for streams.
  std::shared_ptr<const Table> table(const Binding& binding, const ParallelFor& parallel) const;

  /// What a dataset of a node with this binding is bound to.
  static Binding binding_of(const Child& child, const Binding& binding) {
    return {.seed = mix(binding.seed, child.outer.key), .epoch = binding.epoch};
  }

 private:
  struct Entry {
    Binding binding;
    Mutex mu;  // Held while the table is made.
    std::shared_ptr<const Table> table;
  };
  Error misfit(const Dataset& dataset) const;
  template <class Call>
  auto named(const Element& parent, const Call& call) const;
  Result<Dataset> dataset_of(const Element& parent) const;
  std::shared_ptr<const Table> make_table(const Binding& binding, const ParallelFor& parallel) const;
  Child bound(const View& input, int64_t i, const Binding& binding) const;

  const Node::Ref input_;
  const NestedFunction function_;
  const ChildrenOptions options_;
  mutable Mutex mu_;
  // By the text of the element: in each epoch the same elements come, so the datasets need not be made again.
  mutable std::unordered_map<std::string, Dataset> made_ HEADPOND_GUARDED_BY(mu_);
  mutable std::array<std::shared_ptr<Entry>, 3> entries_ HEADPOND_GUARDED_BY(mu_);
  mutable size_t oldest_ HEADPOND_GUARDED_BY(mu_) = 0;
};

/// The Children of a node of flat_map or interleave; null iff it is another one.
const Children* children_of(const Node& node);

/// The iterator of a stream.
std::unique_ptr<Iterator> iterate_children(const Children& children, const Binding& binding, Feed& feed);

}  // namespace headpond::internal
