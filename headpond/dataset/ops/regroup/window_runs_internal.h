// SPDX-License-Identifier: Apache-2.0
// Datasets over a window of elements, and the elements of what a function makes of them: for window, group_by_window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {

/// A dataset of these elements, which are of `spec`.
Dataset window_of(const Spec& spec, std::vector<Element> elements);

/// The elements of datasets that are opened one after the other, window 0, 1, ... Their keys are mixed with the number
/// of the window, their provenance is "<operator>, record <window>", and the seed of a dataset's random operators is
/// mixed with the number too. A state has that number, how many elements were given of the dataset that is open, and
/// its state.
class WindowRuns {
 public:
  /// `node` outlives this. Its spec is that of the datasets. `first`: the number of the first window.
  WindowRuns(const Node& node, const Binding& binding, int64_t first = 0);

  bool is_open() const { return elements_ != nullptr; }
  /// value: what `make` returns is open, after a restore where it was. error: it could not be made, and is left out.
  /// REQUIRES: none is open.
  Got open(const std::function<Dataset()>& make, Context& context);
  /// Like Iterator::next. After the last element, or the end, none is open. REQUIRES: one is open.
  Got next(Context& context, Element& out);
  void visit_state(StateVisitor& visitor);

 private:
  void close();
  Error named(const Error& error) const;

  const Node& node_;
  const Binding binding_;
  const uint64_t source_;
  SequentialFeed feed_;
  int64_t number_ = 0;  // Number of the window.
  int64_t given_ = 0;   // Elements of its dataset. Not 0 though none is open: it was open when the state was saved.
  std::string state_;   // State of that dataset then.
  std::optional<Dataset> dataset_;
  std::unique_ptr<Iterator> elements_;  // Destroyed before dataset_, which it uses.
};

/// The operators of `dataset`, which is made of a window, on one line for the plan.
std::string steps_of(const Dataset& dataset);
/// Role::batch if the elements of `dataset` are batches of those of its window, else Role::other.
Role role_of(const Dataset& dataset);
/// Whether one of its operators calls a function without a name.
bool has_opaque(const Node& node);

}  // namespace headpond::internal
