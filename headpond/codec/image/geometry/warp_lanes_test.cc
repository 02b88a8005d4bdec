// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <memory>

#include "headpond/base/random.h"
#include "headpond/codec/image/geometry/warp_lanes_internal.h"

namespace headpond::warp_internal {
namespace {

constexpr size_t kGuard = 64;

// Pixels that end where their memory ends: a read beyond them is seen by AddressSanitizer, if it isn't one
// instruction's.
struct NoiseBytes {
  NoiseBytes(int32_t height, int32_t width, int32_t channels)
      : size(static_cast<size_t>(height * width * channels)), memory(new uint8_t[size]) {
    Random random(7);
    for (size_t i = 0; i < size; ++i) memory[i] = static_cast<uint8_t>(random.u32() >> 24);
    pixels = {memory.get(), width * channels, channels};
  }

  size_t size;
  std::unique_ptr<uint8_t[]> memory;
  BytePixels pixels = {};
};

// Coordinates from the first to the last that an image has, both among them.
Coordinates coordinates_in(int32_t height, int32_t width, size_t count) {
  Random random(count);
  Coordinates coordinates = {};
  coordinates.count = count;
  for (size_t i = 0; i < count; ++i) {
    coordinates.x[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(width - 1) * 256));
    coordinates.y[i] = static_cast<int32_t>(random.below(static_cast<uint64_t>(height - 1) * 256));
  }
  coordinates.x[count - 1] = (width - 1) * 256 - 1;
  coordinates.y[count - 1] = (height - 1) * 256 - 1;
  coordinates.x[0] = coordinates.y[0] = 0;
  return coordinates;
}

std::vector<uint8_t> written(const NoiseBytes& noise, const Coordinates& coordinates, BilinearBytes run) {
  std::vector<uint8_t> to(coordinates.count * static_cast<size_t>(noise.pixels.channels) + kGuard, 0x5a);
  run(noise.pixels, coordinates, to.data());
  return to;
}

void write_by_twin(const BytePixels& pixels, const Coordinates& coordinates, uint8_t* to) {
  bilinear_bytes_scalar(pixels, coordinates, 0, to);
}

// The control: weights of the right pixels with one more 256th.
void write_with_other_weights(const BytePixels& pixels, const Coordinates& coordinates, uint8_t* to) {
  Coordinates moved = coordinates;
  for (int32_t& x : moved.x) x = (x & 255) < 255 ? x + 1 : x;
  bilinear_bytes_scalar(pixels, moved, 0, to);
}

TEST(WarpLanes, GiveTheBytesOfTheirTwin) {
  for (const auto& [height, width] : {std::pair(2, 2), std::pair(2, 9), std::pair(9, 2), std::pair(31, 45)}) {
    for (int32_t channels = 1; channels <= 4; ++channels) {
      const NoiseBytes noise(height, width, channels);
      for (const size_t count : {1, 3, 4, 7, 8, 15, 16, 17, 33, 63, 64}) {
        const Coordinates coordinates = coordinates_in(height, width, count);
        const std::vector<uint8_t> expected = written(noise, coordinates, write_by_twin);
        EXPECT_EQ(written(noise, coordinates, bilinear_bytes()), expected);
        for (const auto& named : bilinear_bytes_targets()) {
          EXPECT_EQ(written(noise, coordinates, named.code), expected)
              << named.name << ", " << height << " x " << width << " x " << channels << ", " << count;
        }
      }
    }
  }
}

TEST(WarpLanes, OtherWeightsGiveOtherBytes) {
  const NoiseBytes noise(31, 45, 3);
  const Coordinates coordinates = coordinates_in(31, 45, 64);
  EXPECT_NE(written(noise, coordinates, write_with_other_weights), written(noise, coordinates, write_by_twin));
}

}  // namespace
}  // namespace headpond::warp_internal
