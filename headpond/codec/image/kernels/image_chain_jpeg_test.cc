// SPDX-License-Identifier: Apache-2.0
// Joined kernels give the bytes of the kernels one by one, of all kinds of JPEG files and options.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/jpeg_test_internal.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_pass_internal.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/tensor/rows_kernel.h"

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

// What became of samples: their results, or errors, and the number of defects.
struct Outcome {
  std::array<Tensor, 2> results;
  std::array<std::string, 2> errors;
  int64_t defects = 0;

  bool operator==(const Outcome& other) const {
    return errors == other.errors && defects == other.defects && same_tensor(results[0], other.results[0]) &&
           same_tensor(results[1], other.results[1]);
  }
};

// `kernel` of two files, at once or one after the other; the results may lie in `targets`.
Outcome outcome_of(const RowsKernel& kernel, const std::array<Tensor, 2>& files, bool at_once, KernelScratch& scratch,
                   const std::array<OutputSlots, 2>& targets = {}) {
  std::vector<RandomKey> keys;
  for (const char* const name : {"a", "b", "c", "d"}) keys.push_back(random_key(5, name, 0, 0));
  Outcome outcome = {.results = files, .errors = {}};
  scratch.defects.count = 0;
  KernelCall first(std::span(outcome.results.data(), 1), keys, 1, targets[0], scratch),
      second(std::span(&outcome.results[1], 1), keys, 2, targets[1], scratch);
  std::array<Result<void>, 2> done;
  if (at_once) {
    done = kernel.run_two(first, second);
  } else {
    done = {kernel.run(first), kernel.run(second)};
  }
  for (size_t i = 0; i < 2; ++i) {
    if (done[i]) {
      (i == 0 ? first : second).finish();
    } else {
      outcome.errors[i] = done[i].error().message();
      outcome.results[i] = Tensor::empty(u8, {0});
    }
  }
  outcome.defects = scratch.defects.count;
  return outcome;
}

// Whether the same is made at once as rows of a batch, where the results lie where the caller says.
bool is_placed(const RowsKernel& kernel, const std::array<Tensor, 2>& files, const Outcome& expected,
               KernelScratch& scratch) {
  std::array<std::vector<std::byte>, 2> memory;
  std::array<FieldSpec, 2> specs;
  std::array<OutputSlot, 2> slots;
  for (size_t i = 0; i < 2; ++i) {
    const Tensor& result = expected.results[i];
    memory[i].resize(result.byte_size());
    specs[i] = {"", result.dtype(), result.shape()};
    slots[i] = {memory[i].data(), &specs[i]};
  }
  const Outcome outcome =
      outcome_of(kernel, files, true, scratch, {OutputSlots(&slots[0], 1), OutputSlots(&slots[1], 1)});
  for (size_t i = 0; i < 2; ++i) EXPECT_EQ(outcome.results[i].data(), memory[i].data());
  return outcome == expected;
}

// The file of a case, or one with a fault.
Tensor some_file(const JpegCase& from, Random& random) {
  std::string file(from.file.bytes_at(0));
  const auto size = static_cast<int64_t>(file.size());
  const auto at = static_cast<size_t>(size / 2 + below(random, size / 2));
  if (below(random, 5) == 0) file[at] = static_cast<char>(file[at] ^ (1 << below(random, 8)));
  if (below(random, 8) == 0) file.resize(at);
  if (below(random, 12) == 0) file = "no JPEG";
  if (below(random, 12) == 0) file.insert(file.size() - 2, 3, '\0');
  return Tensor::scalar(std::string_view(file));
}

TEST(ImageChainOfJpegs, TwoAtOnceHaveTheResultsOfOneByOne) {
  Random random(22);
  KernelScratch scratch;
  int errors = 0, defects = 0, different = 0, at_once_decoded = 0;
  for (int i = 0; i < 600; ++i) {
    const JpegCase one = random_jpeg_case(random), other = random_jpeg_case(random);
    const KernelChain joined = join_kernels(one.chain);
    const auto* const kernel = dynamic_cast<const RowsKernel*>(joined.kernels[0].get());
    ASSERT_TRUE(kernel != nullptr && kernel->takes_two());
    const std::array<Tensor, 2> files = {some_file(one, random), some_file(other, random)};
    const Outcome expected = outcome_of(*kernel, files, false, scratch),
                  at_once = outcome_of(*kernel, files, true, scratch);
    ASSERT_EQ(at_once.errors, expected.errors) << one.what << other.what;
    ASSERT_TRUE(at_once == expected) << one.what << other.what;
    if (expected.errors == std::array<std::string, 2>()) {
      ASSERT_TRUE(is_placed(*kernel, files, expected, scratch)) << one.what << other.what;
      at_once_decoded += scratch.get<ImageScratch>().decoded && scratch.get<SecondImageScratch>().decoded ? 1 : 0;
    }
    errors += expected.errors[0].empty() != expected.errors[1].empty() ? 1 : 0;
    defects += expected.defects > 0 ? 1 : 0;
    different += same_tensor(expected.results[0], expected.results[1]) ? 0 : 1;
  }
  EXPECT_GT(at_once_decoded, 50);
  EXPECT_GT(errors, 100);
  EXPECT_GT(defects, 10);
  EXPECT_GT(different, 500) << "the control";
}

// Of more than 4 MiB, pixels of a decoded part are not kept from image to image.
TEST(ImageChainOfJpegs, TwoAtOnceOfWhichOneIsLargeOrNotSeenHaveTheResultsOfOneByOne) {
  const auto file_of = [](const Tensor& image) {
    return Tensor::scalar(std::string_view(with_exif(jpeg_testing::write_jpeg(image, {}), 1)));
  };
  const Tensor large = file_of(jpeg_testing::noisy_picture(1300, 1300, 3, 40, 5)),
               other = file_of(jpeg_testing::noisy_picture(1200, 1500, 3, 30, 9)),
               small = file_of(jpeg_testing::noisy_picture(40, 50, 3, 40, 5));
  const std::vector<std::array<Tensor, 2>> pairs = {{large, other}, {large, small}, {small, large}, {small, small}};
  const std::array<std::vector<KernelRef>, 3> chains = {
      {{decode_jpeg(), resize({20, 20})},
       {decode_jpeg(), random_horizontal_flip(), normalize({.mean = {0.5}, .std = {0.3}})},
       {decode_jpeg(), pad({60}), crop(0, 0, {10, 10})}}};
  for (const std::vector<KernelRef>& chain : chains) {
    const KernelChain joined = join_kernels(chain);
    ASSERT_EQ(joined.kernels.size(), 1U);
    const auto& kernel = dynamic_cast<const RowsKernel&>(*joined.kernels[0]);
    for (const std::array<Tensor, 2>& files : pairs) {
      KernelScratch scratch;
      const Outcome at_once = outcome_of(kernel, files, true, scratch);
      EXPECT_TRUE(at_once == outcome_of(kernel, files, false, scratch));
      EXPECT_EQ(at_once.errors[0], "");
    }
  }
}

// Tensors as small as these hold their values inline.
TEST(ImageChainOfJpegs, TwoAtOnceOfAFewPixelsHaveTheResultsOfOneByOne) {
  const Tensor file = jpeg_of(smooth_image(40, 50)), other = jpeg_of(smooth_image(30, 20));
  const KernelChain joined = join_kernels(std::vector<KernelRef>{decode_jpeg(), crop(3, 4, {2, 2})});
  ASSERT_EQ(joined.kernels.size(), 1U);
  const auto& kernel = dynamic_cast<const RowsKernel&>(*joined.kernels[0]);
  ASSERT_TRUE(kernel.takes_two());
  KernelScratch scratch;
  const Outcome alone = outcome_of(kernel, {file, other}, false, scratch);
  EXPECT_TRUE(outcome_of(kernel, {file, other}, true, scratch) == alone);
  for (const Tensor& result : alone.results) {
    EXPECT_NE(result.as<uint8_t>()[0], 0) << "the control: not the zeros of new memory";
  }
}

}  // namespace
}  // namespace headpond::image_internal
