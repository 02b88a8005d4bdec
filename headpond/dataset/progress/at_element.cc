// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/progress/at_element.h"

#include <fmt/format.h>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

std::string to_string(const ElementHere& here, const std::set<const Node*>& known) {
  const Node* const op = here.op.load(std::memory_order_relaxed);
  if (op == nullptr || !known.contains(op)) return {};
  const uint64_t key = here.key.load(std::memory_order_relaxed);
  const int64_t last = here.last.load(std::memory_order_relaxed);
  if (last < -1)
    return fmt::format("{}, {} positions that are not consecutive, the first is {}", op->title(), -1 - last, key);
  if (last < 0)
    return fmt::format("{}, {}", op->title(), element_name(key, here.provenance.load(std::memory_order_relaxed)));
  const bool is_one = static_cast<uint64_t>(last) == key;
  return fmt::format("{}, position{} {}{}", op->title(), is_one ? "" : "s", key,
                     is_one ? "" : fmt::format(" to {}", last));
}

}  // namespace headpond::internal
