// SPDX-License-Identifier: Apache-2.0
// Joined kernels give the bytes of the kernels one by one, of all kinds of JPEG files and options.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/jpeg_test_internal.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace headpond::image_internal {
namespace {

// Turned as EXIF's orientation says, 1 to 8.
std::string with_exif(const std::vector<std::byte>& file, char orientation) {
  const std::string exif = std::string("\xff\xe1\x00\x22", 4) + std::string("Exif\0\0", 6) +
                           std::string("MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0", 19) + orientation +
                           std::string(6, '\0');
  std::string text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.insert(2, exif);
}

struct JpegCase {
  Tensor file;
  std::vector<KernelRef> chain;
  std::string what;
};

JpegCase random_jpeg_case(Random& random) {
  constexpr std::array<std::array<int, 2>, 4> kSamplings = {{{1, 1}, {2, 1}, {1, 2}, {2, 2}}};
  const auto& [across, down] = kSamplings[static_cast<size_t>(below(random, 4))];
  const int64_t channels = below(random, 3) == 0 ? 1 : 3;
  const int64_t height = 1 + below(random, 60), width = 1 + below(random, 60);
  const Tensor image = jpeg_testing::noisy_picture(height, width, channels, 40, 5);
  const jpeg_testing::WriteOptions how = {.across = channels == 1 ? 1 : across,
                                          .down = channels == 1 ? 1 : down,
                                          .restart = below(random, 3) == 0 ? 1 + static_cast<int>(below(random, 4)) : 0,
                                          .progressive = below(random, 5) == 0};
  const auto orientation = static_cast<char>(1 + below(random, 8));
  const std::string text = with_exif(jpeg_testing::write_jpeg(image, how), orientation);
  JpegOptions options;
  options.channels = std::array{0, 1, 3}[static_cast<size_t>(below(random, 3))];
  options.ratio = below(random, 2) == 0 ? 1 : 1 << below(random, 4);
  options.check = below(random, 3) == 0 ? JpegCheck::whole : JpegCheck::part;
  options.fancy_upscaling = below(random, 4) != 0;
  options.apply_exif_orientation = below(random, 5) != 0;
  JpegCase made = {Tensor::scalar(std::string_view(text)), {decode_jpeg(options)}, ""};
  made.what = fmt::format("{} {}x{} restart={} orientation={} ", image.shape().to_string(), across, down, how.restart,
                          static_cast<int>(orientation));
  const ImageSize size = {1 + below(random, 20), 1 + below(random, 20)};
  const std::vector<KernelRef> crops = {random_crop(size, {.pad_if_needed = true}), random_resized_crop(size),
                                        center_crop(size), resize(size)};
  if (below(random, 6) == 0) made.chain.push_back(invert());  // Nothing before it is joined with what follows.
  made.chain.push_back(crops[static_cast<size_t>(below(random, 4))]);
  if (below(random, 2) == 0) made.chain.push_back(random_horizontal_flip());
  if (below(random, 6) == 0) made.chain.push_back(random_invert());
  if (below(random, 2) == 0) made.chain.push_back(normalize({.mean = {0.5}, .std = {0.3}}));
  for (const KernelRef& kernel : made.chain) made.what += " > " + kernel->facts().title;
  return made;
}

TEST(ImageChainOfJpegs, JoinedGivesTheBytesOfOneByOneWhateverTheFile) {
  Random random(21);
  size_t joined_kernels = 0;
  for (uint64_t i = 0; i < 500; ++i) {
    const JpegCase one = random_jpeg_case(random);
    KernelRun run = {.seed = i, .key = i};
    const auto joined = run_kernels(one.chain, one.file, run);
    run.joined = false;
    const auto alone = run_kernels(one.chain, one.file, run);
    ASSERT_TRUE(joined && alone) << one.what << joined.error() << alone.error();
    ASSERT_TRUE(same_tensor(*joined, *alone)) << one.what;
    joined_kernels += one.chain.size() - join_kernels(one.chain).kernels.size();
  }
  EXPECT_GT(joined_kernels, 600U);
}

}  // namespace
}  // namespace headpond::image_internal
