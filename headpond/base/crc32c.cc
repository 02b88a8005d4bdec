// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "headpond/base/checksum/upper_halves.h"
#include "headpond/base/crc32c_internal.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace headpond {
namespace crc32c_internal {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t state = i;
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = state;
  }
  return table;
}

constexpr std::array<uint32_t, 256> kTable = make_table();

}  // namespace

uint32_t by_table(uint32_t state, std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) state = kTable[(state ^ static_cast<uint32_t>(byte)) & 0xff] ^ (state >> 8);
  return state;
}

#if defined(__x86_64__)
bool has_instruction() {
  static const bool answer = __builtin_cpu_supports("sse4.2") != 0;
  return answer;
}

__attribute__((target("sse4.2"))) uint32_t by_instruction(uint32_t state, std::span<const std::byte> bytes) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  uint64_t wide = state;
  for (; end - at >= 8; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, at, sizeof word);
    wide = _mm_crc32_u64(wide, word);
  }
  state = static_cast<uint32_t>(wide);
  if (end - at >= 4) {
    uint32_t word = 0;
    std::memcpy(&word, at, sizeof word);
    state = _mm_crc32_u32(state, word);
    at += 4;
  }
  for (; at != end; ++at) state = _mm_crc32_u8(state, static_cast<uint8_t>(*at));
  return state;
}
#else
bool has_instruction() { return false; }
uint32_t by_instruction(uint32_t state, std::span<const std::byte> bytes) { return by_table(state, bytes); }
#endif

uint32_t by_folding(uint32_t state, std::span<const std::byte> bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // ISA-L counts in int
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kMost));
    auto* const data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));  // only read
    state = crc32_iscsi(data, static_cast<int>(piece.size()), state);
    bytes = bytes.subspan(piece.size());
  }
  clear_upper_halves();
  return state;
}

const bool instruction_is_there = has_instruction();

}  // namespace crc32c_internal

uint32_t crc32c_extend(uint32_t crc, std::span<const std::byte> bytes) {
  using namespace crc32c_internal;
  if (bytes.size() > kShort) return ~by_folding(~crc, bytes);
  return instruction_is_there ? ~by_instruction(~crc, bytes) : ~by_table(~crc, bytes);
}

}  // namespace headpond
