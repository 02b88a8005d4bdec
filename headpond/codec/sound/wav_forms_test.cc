// SPDX-License-Identifier: Apache-2.0
// Each form of values that a WAV file may have, little-endian and big-endian.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "headpond/codec/sound/wav.h"
#include "headpond/codec/sound/wav_internal.h"
#include "headpond/codec/sound/wav_test_internal.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using wav_internal::find_form;

// The values of `stored`, which is big-endian, as a file would have them in both orders.
std::vector<float> decoded_form(uint16_t code, uint16_t bits, const std::string& stored) {
  const auto& form = *find_form(code, bits);
  const auto width = static_cast<size_t>(form.value_bytes);
  std::string little = stored;
  for (size_t at = 0; at < little.size(); at += width) std::reverse(&little[at], &little[at] + width);
  std::vector<float> values(stored.size() / width), turned(values.size());
  const auto count = values.size();
  form.big_endian(std::as_bytes(std::span(stored)).data(), count, values.data());
  form.little_endian(std::as_bytes(std::span(little)).data(), count, turned.data());
  EXPECT_EQ(std::memcmp(values.data(), turned.data(), sizeof(float) * count), 0);
  return values;
}

template <size_t kSize>
std::string bytes_text(const char (&text)[kSize]) {
  return {text, kSize - 1};
}

TEST(WavForms, BytesAreWithoutASign) {
  EXPECT_THAT(decoded_form(1, 8, bytes_text("\x00\x7f\x80\xff")), ElementsAre(-1, -1 / 128.0F, 0, 127 / 128.0F));
}

TEST(WavForms, WholeNumbersAreDividedByTheirHalfRange) {
  EXPECT_THAT(decoded_form(1, 16, bytes_text("\x80\x00\xff\xff\x00\x01\x7f\xff")),
              ElementsAre(-1, -0x1p-15F, 0x1p-15F, 32767 / 32768.0F));
  EXPECT_THAT(decoded_form(1, 24, bytes_text("\x80\x00\x00\xff\xff\xff\x00\x00\x01\x7f\xff\xff")),
              ElementsAre(-1, -0x1p-23F, 0x1p-23F, 1 - 0x1p-23F));
  EXPECT_THAT(decoded_form(1, 32, bytes_text("\x80\x00\x00\x00\xff\xff\xff\xff\x00\x00\x00\x01\x7f\xff\xff\xff")),
              ElementsAre(-1, -0x1p-31F, 0x1p-31F, 1));
  EXPECT_THAT(decoded_form(1, 32, bytes_text("\x01\x00\x00\x01\x01\x00\x00\x03")), ElementsAre(0x1p-7F, 0x1.000004p-7F))
      << "halves go to the even neighbour";
}

TEST(WavForms, FloatsKeepTheirBits) {
  EXPECT_THAT(decoded_form(3, 32, bytes_text("\x3f\x80\x00\x00\xc0\x00\x00\x00\x7f\x80\x00\x00\x80\x00\x00\x00")),
              ElementsAre(1, -2, std::numeric_limits<float>::infinity(), -0.0F));
  const float nan = decoded_form(3, 32, bytes_text("\xff\xc1\x23\x45"))[0];
  EXPECT_EQ(std::bit_cast<uint32_t>(nan), 0xffc12345U);
}

TEST(WavForms, DoublesAreRoundedAndMayBecomeInfinite) {
  EXPECT_THAT(decoded_form(3, 64, bytes_text("\x3f\xf0\x00\x00\x00\x00\x00\x01\x7f\xe0\x00\x00\x00\x00\x00\x00")),
              ElementsAre(1, std::numeric_limits<float>::infinity()));
}

// The ends of the scales and of their first steps, as the tables of ITU-T G.711 have them.
TEST(WavForms, LawsAreThoseOfG711) {
  EXPECT_THAT(decoded_form(6, 8, bytes_text("\x55\xd5\x54\x45\x2a\xaa\x80\x00")),
              ElementsAre(-8 / 32768.0F, 8 / 32768.0F, -24 / 32768.0F, -264 / 32768.0F, -32256 / 32768.0F,
                          32256 / 32768.0F, 5504 / 32768.0F, -5504 / 32768.0F));
  EXPECT_THAT(decoded_form(7, 8, bytes_text("\xff\x7f\xfe\x7e\x80\x00\xf0\x70")),
              ElementsAre(0, 0, 8 / 32768.0F, -8 / 32768.0F, 32124 / 32768.0F, -32124 / 32768.0F, 120 / 32768.0F,
                          -120 / 32768.0F));
  EXPECT_FALSE(std::signbit(decoded_form(7, 8, bytes_text("\x7f"))[0]));
}

TEST(WavForms, ManyValuesAtOnceAreThoseOneByOne) {
  std::string stored(67 * 8, '\0');
  for (size_t i = 0; i < stored.size(); ++i) stored[i] = static_cast<char>(i * 157 + i / 7 * 31);
  for (const auto& [code, bits] : {std::pair<uint16_t, uint16_t>{1, 8}, {1, 16}, {1, 24}, {1, 32}, {6, 8}, {7, 8}}) {
    const std::string some = stored.substr(0, 67U * bits / 8);
    const auto all = decoded_form(code, bits, some);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(all[i], decoded_form(code, bits, some.substr(i * bits / 8, bits / 8))[0]) << code << ' ' << bits;
    }
  }
}

TEST(WavForms, AFileOfEachFormIsDecoded) {
  for (const auto& [code, bits] :
       {std::pair<uint16_t, uint16_t>{1, 8}, {1, 16}, {1, 24}, {1, 32}, {3, 32}, {3, 64}, {6, 8}, {7, 8}}) {
    const std::string text = test::riff(test::FormatChunk{.code = code, .channels = 2, .bits = bits}.text() +
                                        test::chunk("data", std::string(6U * bits / 8, '\0')));
    const auto wav = decode_wav(std::as_bytes(std::span(text)), {.desired_samples = 2, .first_sample = 2});
    ASSERT_TRUE(wav) << wav.error();
    EXPECT_EQ(wav->samples.shape(), (Shape{2, 2}));
    const float zero = decoded_form(code, bits, std::string(bits / 8, '\0'))[0];
    EXPECT_THAT(wav->samples.as<float>(), ElementsAre(zero, zero, 0, 0)) << code << ' ' << bits;
  }
}

}  // namespace
}  // namespace headpond
