// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>

#include "headpond/io/key_table_internal.h"

namespace headpond::internal {

size_t KeyTable::add(const std::string& key) {
  if (const size_t known = find(key); known != kNone) return known;
  keys_.push_back(key);
  if (slots_.size() < 2 * keys_.size()) {
    slots_.assign(std::max<size_t>(8, 2 * slots_.size()), {});
    for (size_t number = 0; number + 1 < keys_.size(); ++number)
      insert(std::hash<std::string_view>()(keys_[number]), number);
  }
  insert(std::hash<std::string_view>()(key), keys_.size() - 1);
  return keys_.size() - 1;
}

void KeyTable::insert(size_t hash, size_t number) {
  size_t at = hash & (slots_.size() - 1);
  while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = {hash, number};
}

size_t KeyTable::find(std::string_view key) const {
  if (slots_.empty()) return kNone;
  const size_t hash = std::hash<std::string_view>()(key);
  for (size_t at = hash & (slots_.size() - 1); slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at].hash == hash && keys_[slots_[at].number] == key) return slots_[at].number;
  }
  return kNone;
}

}  // namespace headpond::internal
