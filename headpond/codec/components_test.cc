// SPDX-License-Identifier: Apache-2.0
// Of a component that is absent the tests are left out of the program, which this says. What it would do is then
// Unimplemented, and names it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <string_view>

#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/sound_file.h"

namespace headpond {
namespace {

using testing::HasSubstr;

// Why the test ends here, for a component that is absent. Where the CI runs none may be.
std::string absence(const std::string& component) {
  const char* const ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") ADD_FAILURE() << "CI=true without the component " << component;
  return "without the component " + component + ": its tests are left out";
}

std::span<const std::byte> as_file(std::string_view text) { return std::as_bytes(std::span(text)); }

void expect_absent(const Error& error, const std::string& component) {
  EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(error.message(), HasSubstr("the component " + component));
}

// 1 x 1 pixels, as far as a head goes.
constexpr std::string_view kJpeg(
    "\xff\xd8\xff\xc0\x00\x0b\x08\x00\x01\x00\x01\x01\x01\x11\x00\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00\x00\xff\xd9",
    28);
constexpr std::string_view kWebp("RIFF\x12\x00\x00\x00WEBPVP8L\x06\x00\x00\x00\x2f\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                                 30);
constexpr std::string_view kGif("GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;", 26);

TEST(Components, Jpeg) {
  if (has_jpeg()) return;
  expect_absent(decode_jpeg(as_file(kJpeg)).error(), "jpeg");
  expect_absent(encode_jpeg(Tensor::from(std::vector<uint8_t>{1, 2, 3}, {1, 1, 3})).error(), "jpeg");
  expect_absent(decode_image(as_file(kJpeg)).error(), "jpeg");
  for (const KernelRef& kernel : {decode_jpeg(), decode_image()}) {
    const std::vector<KernelRef> chain = {kernel};
    expect_absent(run_kernels(chain, Tensor::scalar(kJpeg)).error(), "jpeg");
  }
  GTEST_SKIP() << absence("jpeg");
}

TEST(Components, Webp) {
  if (has_decoder(ImageFormat::webp)) return;
  expect_absent(decode_image(as_file(kWebp)).error(), "webp");
  GTEST_SKIP() << absence("webp");
}

TEST(Components, Gif) {
  if (has_decoder(ImageFormat::gif)) return;
  expect_absent(decode_image(as_file(kGif)).error(), "gif");
  GTEST_SKIP() << absence("gif");
}

TEST(Components, Soxr) {
  if (has_soxr()) return;
  expect_absent(resample(Tensor::from(std::vector<float>{1, 2}, {2}),
                         {.from = 44100, .to = 16000, .method = ResampleMethod::soxr_hq})
                    .error(),
                "soxr");
  GTEST_SKIP() << absence("soxr");
}

TEST(Components, Sndfile) {
  if (has_sndfile()) return;
  expect_absent(decode_sound(as_file("fLaC")).error(), "sndfile");
  GTEST_SKIP() << absence("sndfile");
}

}  // namespace
}  // namespace headpond
