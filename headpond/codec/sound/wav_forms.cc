// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "headpond/codec/sound/wav_internal.h"
#include "headpond/codec/sound/wav_lanes_internal.h"

namespace headpond {
namespace {

using wav_internal::Form;
using wav_internal::kALaw;
using wav_internal::kFloat;
using wav_internal::kMuLaw;
using wav_internal::kPcm;

static_assert(std::endian::native == std::endian::little);
// Compilers vectorise loops of a constant length at every level of optimisation; they unroll shorter ones instead.
constexpr size_t kBlock = 32;

template <std::endian kOrder, class T>
T in_order(T value) {
  if constexpr (kOrder == std::endian::little || sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

struct U8 {
  using Stored = uint8_t;
  static float value(uint8_t stored) { return static_cast<float>(stored - 128) * (1.0F / 128); }
};
struct S16 {
  using Stored = uint16_t;
  static float value(uint16_t stored) { return static_cast<float>(static_cast<int16_t>(stored)) * (1.0F / 32768); }
};
struct S32 {
  using Stored = uint32_t;
  static float value(uint32_t stored) { return static_cast<float>(static_cast<int32_t>(stored)) * 0x1p-31F; }
};
struct F32 {
  using Stored = uint32_t;
  static float value(uint32_t stored) { return std::bit_cast<float>(stored); }
};
struct F64 {
  using Stored = uint64_t;
  static float value(uint64_t stored) { return static_cast<float>(std::bit_cast<double>(stored)); }
};

// ITU-T G.711: a sign, three bits of an exponent, four of a mantissa; values of 16 bits.
constexpr float a_law(uint32_t stored) {
  const uint32_t code = stored ^ 0x55;
  const uint32_t exponent = code >> 4 & 7;
  uint32_t size = (code & 15) << 4 | 8;
  if (exponent > 0) size = (size | 0x100) << (exponent - 1);
  return static_cast<float>(size) * ((code & 0x80) != 0 ? 1.0F / 32768 : -1.0F / 32768);
}
constexpr float mu_law(uint32_t stored) {
  constexpr uint32_t kBias = 132;
  const uint32_t code = ~stored & 0xff;
  const uint32_t size = (((code & 15) << 3) + kBias) << (code >> 4 & 7);
  const float value = static_cast<float>(size - kBias) * (1.0F / 32768);
  return (code & 0x80) != 0 ? 0.0F - value : value;
}
constexpr std::array<float, 256> table_of(float (*law)(uint32_t)) {
  std::array<float, 256> table = {};
  for (uint32_t i = 0; i < table.size(); ++i) table[i] = law(i);
  return table;
}
constexpr std::array<float, 256> kALawValues = table_of(a_law);
constexpr std::array<float, 256> kMuLawValues = table_of(mu_law);

struct ALaw {
  using Stored = uint8_t;
  static float value(uint8_t stored) { return kALawValues[stored]; }
};
struct MuLaw {
  using Stored = uint8_t;
  static float value(uint8_t stored) { return kMuLawValues[stored]; }
};

template <class Values, std::endian kOrder>
void to_float(const std::byte* from, size_t count, float* to) {
  std::array<typename Values::Stored, kBlock> block;
  for (; count >= kBlock; count -= kBlock, from += sizeof block, to += kBlock) {
    std::memcpy(block.data(), from, sizeof block);
    for (size_t i = 0; i < kBlock; ++i) to[i] = Values::value(in_order<kOrder>(block[i]));
  }
  std::memcpy(block.data(), from, sizeof(typename Values::Stored) * count);
  for (size_t i = 0; i < count; ++i) to[i] = Values::value(in_order<kOrder>(block[i]));
}

// Gives them as the upper bytes of 32 bits, so that the highest of the three has the sign.
template <std::endian kOrder>
void s24_to_float(const std::byte* from, size_t count, float* to) {
  constexpr bool kLittle = kOrder == std::endian::little;
  for (size_t i = 0; i < count; ++i, from += 3) {
    const auto low = static_cast<uint32_t>(from[kLittle ? 0 : 2]), high = static_cast<uint32_t>(from[kLittle ? 2 : 0]);
    to[i] = S32::value(low << 8 | static_cast<uint32_t>(from[1]) << 16 | high << 24);
  }
}

template <class Values>
constexpr Form form(uint16_t code) {
  constexpr auto kBytes = static_cast<uint16_t>(sizeof(typename Values::Stored));
  return {code, 8 * kBytes, kBytes, to_float<Values, std::endian::little>, to_float<Values, std::endian::big>};
}

constexpr std::array kForms = {
    form<U8>(kPcm),
    Form{kPcm, 16, 2, wav_internal::s16_to_float, to_float<S16, std::endian::big>},
    Form{kPcm, 24, 3, s24_to_float<std::endian::little>, s24_to_float<std::endian::big>},
    form<S32>(kPcm),
    form<F32>(kFloat),
    form<F64>(kFloat),
    form<ALaw>(kALaw),
    form<MuLaw>(kMuLaw),
};

}  // namespace

const Form* wav_internal::find_form(uint16_t code, uint16_t bits) {
  const auto* const found = std::find_if(kForms.begin(), kForms.end(),
                                         [&](const Form& form) { return form.code == code && form.bits == bits; });
  return found == kForms.end() ? nullptr : found;
}

}  // namespace headpond
