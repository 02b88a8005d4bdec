// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "headpond/codec/image/geometry/warp_lanes_internal.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headpond/codec/image/geometry/warp_lanes.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headpond::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;

using Ints = hn::CappedTag<int32_t, 16>;
using Bytes = hn::Rebind<uint8_t, Ints>;
using I = hn::Vec<Ints>;

// Four bytes at each offset.
HWY_INLINE I gather(const uint8_t* data, I offsets) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  return hn::GatherOffset(Ints(), reinterpret_cast<const int32_t*>(data), offsets);
#else
  constexpr size_t kLanes = hn::MaxLanes(Ints());
  alignas(64) int32_t at[kLanes];
  hn::Store(offsets, Ints(), at);
  for (size_t i = 0; i < hn::Lanes(Ints()); ++i) std::memcpy(&at[i], data + at[i], sizeof(at[i]));
  return hn::Load(Ints(), at);
#endif
}

// Neighbouring pixels: channel c is byte left + c of the first vector, right + c of the second.
struct Pair {
  I first, second;
};

template <int byte>
HWY_INLINE I byte_of(I values) {
  return hn::And(hn::ShiftRight<8 * byte>(values), hn::Set(Ints(), 255));
}

HWY_INLINE I mixed(I a, I b, I weight) { return hn::Add(hn::ShiftLeft<8>(a), hn::Mul(hn::Sub(b, a), weight)); }

struct Weights {
  I right, down;
};

template <int left, int right>
HWY_INLINE hn::Vec<Bytes> channel_of(Pair top, Pair bottom, Weights weights) {
  const I above = mixed(byte_of<left>(top.first), byte_of<right>(top.second), weights.right);
  const I below = mixed(byte_of<left>(bottom.first), byte_of<right>(bottom.second), weights.right);
  const I sum = mixed(above, below, weights.down);
  return hn::DemoteTo(Bytes(), hn::ShiftRight<16>(hn::Add(sum, hn::Set(Ints(), 32768))));
}

// Four bytes are read wherever a pixel has fewer: those of a row above go on into the row below, those of a row below
// start in the row above, and those of three channels go on, or start, in the neighbour. None is outside the image.
template <int channels>
HWY_INLINE void write_vector(const uint8_t* data, I top, I row_bytes, Weights weights, uint8_t* to) {
  const I bottom = hn::Add(top, row_bytes);
  if constexpr (channels == 1) {
    const I above = gather(data, top), below = gather(data, hn::Sub(bottom, hn::Set(Ints(), 2)));
    const I moved = hn::ShiftRight<16>(below);
    hn::StoreU(channel_of<0, 1>({above, above}, {moved, moved}, weights), Bytes(), to);
  } else if constexpr (channels == 2) {
    const I above = gather(data, top), below = gather(data, bottom);
    const Pair a = {above, above}, b = {below, below};
    hn::StoreInterleaved2(channel_of<0, 2>(a, b, weights), channel_of<1, 3>(a, b, weights), Bytes(), to);
  } else {
    constexpr int kRight = channels == 3 ? 1 : 0;  // The byte of the right pixel's first channel.
    const I step = hn::Set(Ints(), channels - kRight);
    const Pair a = {gather(data, top), gather(data, hn::Add(top, step))};
    const Pair b = {gather(data, bottom), gather(data, hn::Add(bottom, step))};
    const auto first = channel_of<0, kRight>(a, b, weights), second = channel_of<1, 1 + kRight>(a, b, weights);
    const auto third = channel_of<2, 2 + kRight>(a, b, weights);
    if constexpr (channels == 3) hn::StoreInterleaved3(first, second, third, Bytes(), to);
    if constexpr (channels == 4)
      hn::StoreInterleaved4(first, second, third, channel_of<3, 3>(a, b, weights), Bytes(), to);
  }
}

template <int channels>
void write_mixed(const warp_internal::BytePixels& pixels, const warp_internal::Coordinates& coordinates, uint8_t* to) {
  const size_t lanes = hn::Lanes(Ints());
  const I row_bytes = hn::Set(Ints(), pixels.row_bytes), fraction = hn::Set(Ints(), 255);
  size_t i = 0;
  for (; i + lanes <= coordinates.count; i += lanes) {
    const I x = hn::Load(Ints(), coordinates.x.data() + i), y = hn::Load(Ints(), coordinates.y.data() + i);
    const I column = hn::Mul(hn::ShiftRight<8>(x), hn::Set(Ints(), channels));
    const I top = hn::Add(hn::Mul(hn::ShiftRight<8>(y), row_bytes), column);
    const Weights weights = {hn::And(x, fraction), hn::And(y, fraction)};
    write_vector<channels>(pixels.data, top, row_bytes, weights, to + i * channels);
  }
  warp_internal::bilinear_bytes_scalar(pixels, coordinates, i, to);
}

#endif

void bilinear_bytes_of_target(const warp_internal::BytePixels& pixels, const warp_internal::Coordinates& coordinates,
                              uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  warp_internal::bilinear_bytes_scalar(pixels, coordinates, 0, to);
#else
  if (pixels.channels == 1) return write_mixed<1>(pixels, coordinates, to);
  if (pixels.channels == 2) return write_mixed<2>(pixels, coordinates, to);
  if (pixels.channels == 3) return write_mixed<3>(pixels, coordinates, to);
  write_mixed<4>(pixels, coordinates, to);
#endif
}

}  // namespace headpond::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "headpond/base/vector/vector_targets.h"

namespace headpond {
namespace {

HWY_EXPORT(bilinear_bytes_of_target);

void scalar_bytes(const warp_internal::BytePixels& pixels, const warp_internal::Coordinates& coordinates, uint8_t* to) {
  warp_internal::bilinear_bytes_scalar(pixels, coordinates, 0, to);
}

}  // namespace

namespace warp_internal {

void bilinear_bytes_scalar(const BytePixels& pixels, const Coordinates& coordinates, size_t begin, uint8_t* to) {
  const auto channels = static_cast<size_t>(pixels.channels), row = static_cast<size_t>(pixels.row_bytes);
  for (size_t i = begin; i < coordinates.count; ++i) {
    const auto x = static_cast<size_t>(coordinates.x[i] >> 8), y = static_cast<size_t>(coordinates.y[i] >> 8);
    const int32_t right = coordinates.x[i] & 255, down = coordinates.y[i] & 255;
    const uint8_t* const top = pixels.data + y * row + x * channels;
    for (size_t c = 0; c < channels; ++c) {
      const int32_t above = top[c] * (256 - right) + top[c + channels] * right;
      const int32_t below = top[c + row] * (256 - right) + top[c + row + channels] * right;
      to[i * channels + c] = static_cast<uint8_t>((above * (256 - down) + below * down + 32768) >> 16);
    }
  }
}

const std::vector<VectorTarget<BilinearBytes>>& bilinear_bytes_targets() {
  static const auto found = vector_targets(HWY_DISPATCH_TABLE(bilinear_bytes_of_target), HWY_TARGETS);
  return found;
}

BilinearBytes bilinear_bytes() {
  constexpr BilinearBytes kScalar = scalar_bytes;
  return best_code(bilinear_bytes_targets(), kScalar);
}

}  // namespace warp_internal
}  // namespace headpond
#endif
