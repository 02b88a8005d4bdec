// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "headpond/engine/stages/any_order_internal.h"

namespace headpond::internal {

void AnyOrder::give(int64_t ordinal, std::string after) {
  ahead_[ordinal] = std::move(after);
  for (auto first = ahead_.begin(); first != ahead_.end() && first->first == low_; first = ahead_.erase(first)) {
    position_ = std::move(first->second);
    given_before_.erase(low_++);
  }
}

void AnyOrder::save(StateVisitor& visitor) const {
  std::vector<int64_t> early;
  early.reserve(ahead_.size());
  for (const auto& [ordinal, after] : ahead_) early.push_back(ordinal);
  std::vector<int64_t> given;
  std::set_union(early.begin(), early.end(), given_before_.begin(), given_before_.end(), std::back_inserter(given));
  auto count = static_cast<int64_t>(given.size());
  if (count == 0) return;
  visitor.number(count);
  for (const int64_t ordinal : given) {
    int64_t distance = ordinal - low_;
    visitor.number(distance);
  }
}

void AnyOrder::restore(StateVisitor& visitor) {
  if (visitor.complete()) return;
  int64_t count = 0;
  visitor.number_within(count, 1, INT64_MAX);
  for (int64_t i = 0; i < count && visitor.ok(); ++i) {
    int64_t distance = 0;
    visitor.number_within(distance, 0, INT64_MAX);
    given_before_.insert(distance);
  }
}

}  // namespace headpond::internal
