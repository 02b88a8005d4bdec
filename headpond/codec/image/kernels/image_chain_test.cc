// SPDX-License-Identifier: Apache-2.0
// Joined kernels give the bytes of the kernels one by one.
#include <gmock/gmock.h>

#include <algorithm>

#include "headpond/codec/image/color/color_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_chain_internal.h"
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/png_kernel.h"

namespace headpond::image_internal {
namespace {

using testing::ElementsAre;

ImageSize random_size(Random& random) {
  if (below(random, 3) == 0) return 1 + below(random, 20);
  return {1 + below(random, 30), 1 + below(random, 30)};
}

PadMode random_mode(Random& random) { return static_cast<PadMode>(below(random, 4)); }

KernelRef random_stage(Random& random) {
  const ResizeOptions how = {static_cast<ResizeFilter>(below(random, 6)), below(random, 2) == 0};
  switch (below(random, 9)) {
    case 0:
      return crop(below(random, 9) - 3, below(random, 9) - 3, random_size(random));
    case 1:
      return center_crop(random_size(random));
    case 2:
      return random_crop(random_size(random), {.padding = {below(random, 4)}, .pad_if_needed = below(random, 4) != 0});
    case 3:
      return pad({below(random, 3), below(random, 3)}, {.fill = {7}, .mode = random_mode(random)});
    case 4:
      return resize(random_size(random), {.filter = how.filter, .antialias = how.antialias});
    case 5:
      return random_resized_crop(random_size(random), {.filter = how.filter, .antialias = how.antialias});
    case 6:
      return random_horizontal_flip();
    case 7:
      return random_invert();
    default:
      return random_vertical_flip();
  }
}

// An image with all that can belong to it.
struct Sample {
  std::vector<Tensor> fields;
  std::vector<KernelRef> chain;
};

// A file with the image, and the kernel that decodes it; nothing if the sample begins with pixels.
void add_file(Sample& sample, Random& random, const Tensor& image, int64_t kind) {
  const bool is_jpeg = has_jpeg() && (kind == 1 || (kind == 3 && below(random, 2) == 0));
  if (is_jpeg) {
    sample.fields = {jpeg_of(image, {.progressive = below(random, 4) == 0})};
  } else {
    sample.fields = {kind == 3 && below(random, 2) == 0 ? pnm_of(image) : png_of(image)};
  }
  const int channels = static_cast<int>(below(random, 5));
  if (kind == 1 && is_jpeg) sample.chain.push_back(decode_jpeg());
  if (kind == 2 || (kind == 1 && !is_jpeg)) sample.chain.push_back(decode_png({.channels = channels}));
  if (kind == 3) sample.chain.push_back(decode_image({.channels = channels}));
}

Sample random_sample(Random& random) {
  Sample sample;
  const int64_t height = 1 + below(random, 40), width = 1 + below(random, 40);
  const int64_t kind = below(random, 5);
  const bool is_file = kind >= 1 && kind <= 3;
  const int64_t channels = kind == 1 || kind == 3 ? 3 : 1 + below(random, 4);
  const Tensor image = random_image(random, is_file || below(random, 2) == 0 ? u8 : f32, height, width, channels);
  sample.fields = {image};
  if (is_file) add_file(sample, random, image, kind);
  for (int64_t i = below(random, 5); i > 0; --i) sample.chain.push_back(random_stage(random));
  if (below(random, 2) == 0) {
    const auto layout = static_cast<ImageLayout>(below(random, 2));
    sample.chain.push_back(
        normalize({.mean = {0.5}, .std = {0.3}, .layout = layout, .dtype = below(random, 2) == 0 ? f32 : bf16}));
  }
  sample.fields.push_back(random_image(random, u8, height, width, 1));
  std::vector<float> boxes;
  for (int i = 0; i < 3; ++i) {
    const auto left = static_cast<float>(below(random, 30)), top = static_cast<float>(below(random, 30));
    boxes.insert(boxes.end(), {left, top, left + random.uniform() * 20, top + random.uniform() * 20});
  }
  sample.fields.push_back(Tensor::from(boxes, {3, 4}));
  sample.fields.push_back(Tensor::from(std::vector<int32_t>{1, 2, 3}, {3}));
  sample.fields.push_back(Tensor::from(boxes, {6, 2}));
  return sample;
}

const std::vector<FieldRole> kRoles = {FieldRole::image, FieldRole::mask, FieldRole::boxes, FieldRole::labels,
                                       FieldRole::points};

TEST(ImageChain, JoinedGivesTheBytesOfOneByOne) {
  Random random(11);
  size_t joined_kernels = 0, failed = 0;
  for (uint64_t i = 0; i < 600; ++i) {
    const Sample sample = random_sample(random);
    KernelRun run = {.seed = i, .epoch = i % 3, .key = i, .roles = kRoles};
    const auto joined = run_kernels(sample.chain, sample.fields, run);
    run.joined = false;
    const auto alone = run_kernels(sample.chain, sample.fields, run);
    ASSERT_EQ(joined.has_value(), alone.has_value()) << joined.error() << alone.error();
    failed += !joined;
    const KernelChain chain = join_kernels(sample.chain);
    joined_kernels += sample.chain.size() - chain.kernels.size();
    std::string text;
    for (const KernelRef& kernel : sample.chain) text += " > " + kernel->facts().title;
    for (size_t k = 0; joined && k < kRoles.size(); ++k) {
      ASSERT_TRUE(same_tensor(joined->at(k), alone->at(k))) << name(kRoles[k]) << text;
    }
  }
  EXPECT_GT(joined_kernels, 700U);
  EXPECT_LT(failed, 150U);
}

TEST(ImageChain, ResultsDoNotDependOnWhatTheScratchHeldBefore) {
  Random random(12);
  KernelScratch kept;
  for (uint64_t i = 0; i < 200; ++i) {
    const Sample sample = random_sample(random);
    std::vector<RandomKey> keys(sample.chain.size(), RandomKey{i});
    for (const KernelRef& kernel : join_kernels(sample.chain).kernels) {
      KernelScratch fresh;
      std::vector<Tensor> a = sample.fields, b = sample.fields;
      KernelCall with_kept(a, keys, i, {}, kept, kRoles), with_fresh(b, keys, i, {}, fresh, kRoles);
      const bool is_fine = kernel->run(with_kept).has_value();
      ASSERT_EQ(kernel->run(with_fresh).has_value(), is_fine);
      if (!is_fine) break;
      with_kept.finish();
      with_fresh.finish();
      for (size_t k = 0; k < a.size(); ++k) ASSERT_TRUE(same_tensor(a[k], b[k]));
      break;  // The rest needs this one's result.
    }
  }
}

TEST(ImageChain, WritesIntoTheRowOfTheBatch) {
  std::vector<std::byte> row(3 * 4 * 5 * sizeof(float));
  const FieldSpec spec = {"image", f32, {3, 4, 5}};
  std::vector<OutputSlot> slots(1);
  slots[0].data = row.data();
  slots[0].spec = &spec;
  const KernelRef decoder = has_jpeg() ? decode_jpeg() : decode_png({.channels = 3});
  const std::vector<KernelRef> chain = {decoder, random_resized_crop({4, 5}), normalize()};
  const KernelChain joined = join_kernels(chain);
  ASSERT_EQ(joined.kernels.size(), 1U);
  std::vector<Tensor> fields = {has_jpeg() ? jpeg_of(smooth_image(20, 20)) : png_of(smooth_image(20, 20))};
  const std::vector<RandomKey> keys(3);
  KernelScratch scratch;
  KernelCall call(fields, keys, 0, slots, scratch);
  ASSERT_TRUE(joined.kernels[0]->run(call));
  call.finish();
  EXPECT_EQ(fields[0].data(), row.data());
}

std::vector<std::string> joints(const std::vector<KernelRef>& chain) {
  std::vector<std::string> all;
  for (const KernelChain::Joint& joint : join_kernels(chain).joints) {
    all.push_back(joint.joined.empty() ? "not: " + joint.why_not : joint.joined);
  }
  return all;
}

TEST(ImageChain, SaysWhatIsGainedOrWhyNot) {
  const KernelRef jpeg = decode_jpeg(JpegOptions());
  EXPECT_THAT(joints({jpeg, random_resized_crop(4), random_horizontal_flip(), normalize()}),
              ElementsAre("region of the JPEG + resize", "region of the JPEG + resize + flip",
                          "region of the JPEG + resize + flip + normalize"));
  EXPECT_THAT(joints({decode_png(), resize(4)}), ElementsAre("decode_png + resize"));
  EXPECT_THAT(joints({decode_png({}), center_crop(4)}), ElementsAre("rows of the PNG"));
  EXPECT_THAT(joints({decode_image({}), center_crop(4)}), ElementsAre("region of the image"));
  EXPECT_THAT(joints({decode_png({.dtype = u16}), center_crop(4)}),
              ElementsAre("not: the image is decoded to 16 bits"));
  EXPECT_THAT(joints({resize(4), random_vertical_flip(), normalize()}),
              ElementsAre("resize + flip", "resize + flip + normalize"));
  EXPECT_THAT(joints({resize(4), resize(5)}), ElementsAre("not: two resizes"));
  EXPECT_THAT(joints({random_vertical_flip(), resize(5)}), ElementsAre("not: the flip comes before the resize"));
  EXPECT_THAT(joints({normalize(), resize(5)}), ElementsAre("not: normalize comes before it"));
  EXPECT_THAT(joints({resize(5), jpeg}), ElementsAre("not: decoding comes first"));
  EXPECT_THAT(joints({pad({1}, {.fill = {3}}), center_crop(4)}), ElementsAre("not: both may pad"));
  EXPECT_THAT(joints({pad({1}), center_crop(4)}), ElementsAre("pad + center_crop"));
  EXPECT_THAT(joints({resize(5), pad({1}, {.mode = PadMode::edge})}),
              ElementsAre("not: the padding repeats pixels of the resized image"));
}

// The number of samples, of 20, whose crop is the same in two epochs.
template <class Run>
int count_equal_epochs(Run run) {
  int equal = 0;
  for (uint64_t key = 0; key < 20; ++key) equal += same_tensor(run(key, 0), run(key, 1));
  return equal;
}

TEST(ImageChain, EachEpochHasItsOwnCrops) {
  const Tensor image = smooth_image(40, 50);
  const std::vector<KernelRef> chain = {random_crop(8), random_horizontal_flip()};
  const auto run = [&](uint64_t key, uint64_t epoch) {
    return *run_kernels(chain, image, {.epoch = epoch, .key = key});
  };
  EXPECT_LT(count_equal_epochs(run), 3);
  const auto without_epoch = [&](uint64_t key, uint64_t) { return *run_kernels(chain, image, {.key = key}); };
  EXPECT_EQ(count_equal_epochs(without_epoch), 20);
}

bool has_only_labels(const Tensor& mask) {
  const auto values = mask.as<uint8_t>();
  return std::all_of(values.begin(), values.end(), [](uint8_t value) { return value == 10 || value == 200; });
}

TEST(ImageChain, AMaskHasNoLabelsBetweenTwo) {
  std::vector<uint8_t> labels;
  for (int i = 0; i < 20 * 20; ++i) labels.push_back(i % 3 == 0 ? 200 : 10);
  const Tensor mask = Tensor::from(labels, {20, 20, 1});
  const std::vector<KernelRef> chain = {random_resized_crop({9, 9}), random_horizontal_flip()};
  const auto moved = run_kernels(chain, {smooth_image(20, 20), mask}, {.roles = {FieldRole::image, FieldRole::mask}});
  EXPECT_TRUE(has_only_labels(moved->at(1)));
  const auto bilinear = run_kernels(chain, mask);
  EXPECT_FALSE(has_only_labels(*bilinear));
}

}  // namespace
}  // namespace headpond::image_internal
