// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/codec/image/png/png_codes_internal.h"

namespace headpond::png_internal {
namespace {

constexpr uint32_t kLongest = 15;

// The first bit of a code is the lowest one of the stream.
uint32_t reversed(uint32_t code, uint32_t length) {
  uint32_t bits = code;
  bits = (bits & 0x5555) << 1 | (bits >> 1 & 0x5555);
  bits = (bits & 0x3333) << 2 | (bits >> 2 & 0x3333);
  bits = (bits & 0x0f0f) << 4 | (bits >> 4 & 0x0f0f);
  bits = (bits & 0x00ff) << 8 | bits >> 8;
  return bits >> (16 - length);
}

}  // namespace

template <uint32_t kBits, size_t kRest>
bool CodeTable<kBits, kRest>::build(std::span<const uint8_t> lengths, std::span<const uint32_t> meanings,
                                    bool may_be_small) {
  std::array<uint32_t, kLongest + 1> counts = {}, next = {};
  for (const uint8_t length : lengths) ++counts[length];
  const size_t used = lengths.size() - counts[0];
  counts[0] = 0;
  int64_t left = 1;  // Codes of the current length that are free.
  uint32_t longest = 0;
  for (uint32_t length = 1; length <= kLongest; ++length) {
    next[length] = (next[length - 1] + counts[length - 1]) << 1;
    left = 2 * left - counts[length];
    if (left < 0) return false;
    if (counts[length] > 0) longest = length;
  }
  if (left > 0 && !(may_be_small && used <= 1 && longest <= 1)) return false;
  std::fill_n(entries_.begin(), size_t{1} << kBits, CodeEntry::kOther | CodeEntry::kInvalid);
  rest_bits_ = longest > kBits ? longest - kBits : 0;
  end_ = size_t{1} << kBits;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const uint32_t length = lengths[i];
    if (length == 0) continue;
    const uint32_t code = reversed(next[length]++, length);
    if (length <= kBits) {
      set_short(code, length, meanings[i]);
    } else if (!set_long(code, length, meanings[i])) {
      return false;
    }
  }
  join_literals();
  return true;
}

// Where the code of a second literal follows within the bits that are looked up. From the last entry on: that of the
// second one is as it was.
template <uint32_t kBits, size_t kRest>
void CodeTable<kBits, kRest>::join_literals() {
  for (size_t i = size_t{1} << kBits; i-- > 0;) {
    const uint32_t first = entries_[i];
    if (!CodeEntry::is_literal(first)) continue;
    const uint32_t second = entries_[i >> CodeEntry::all_bits(first)];
    const uint32_t bits = CodeEntry::all_bits(first) + CodeEntry::all_bits(second);
    if (!CodeEntry::is_literal(second) || bits > kBits) continue;
    entries_[i] = (second >> 16) << 24 | (first & 0xff0000) | CodeEntry::kLiteral | 2U << 8 | bits;
  }
}

template <uint32_t kBits, size_t kRest>
void CodeTable<kBits, kRest>::set_short(uint32_t code, uint32_t length, uint32_t meaning) {
  const uint32_t entry = CodeEntry::with_bits(meaning, length);
  for (size_t i = code; i < size_t{1} << kBits; i += size_t{1} << length) entries_[i] = entry;
}

// A complete code has at least two codes for each beginning that needs a further table.
template <uint32_t kBits, size_t kRest>
bool CodeTable<kBits, kRest>::set_long(uint32_t code, uint32_t length, uint32_t meaning) {
  uint32_t& start = entries_[code & ((1U << kBits) - 1)];
  const size_t size = size_t{1} << rest_bits_;
  if ((start & CodeEntry::kSubtable) == 0) {
    if (entries_.size() - end_ < size) return false;
    start = CodeEntry::kOther | CodeEntry::kSubtable | static_cast<uint32_t>(end_) << 16 | rest_bits_ << 8;
    end_ += size;
  }
  const uint32_t rest = length - kBits, entry = CodeEntry::with_bits(meaning, rest);
  for (size_t i = code >> kBits; i < size; i += size_t{1} << rest) entries_[(start >> 16) + i] = entry;
  return true;
}

template class CodeTable<7, 0>;
template class CodeTable<11, 16 * 143>;
template class CodeTable<8, 128 * 15>;

}  // namespace headpond::png_internal
