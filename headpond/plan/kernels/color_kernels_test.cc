// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_kernels.h"

#include <fstream>

#include "headpond/codec/image/color/mixup.h"
#include "headpond/codec/image/color/random_erasing.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/plan/plan_test_internal.h"
#include "headpond/tensor/random_choice.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

// Elements `image`, uint8 [2, 3, 3], and `label`.
Dataset coloured_images(int64_t count = 40) {
  std::vector<uint8_t> pixels(static_cast<size_t>(count) * 18);
  std::vector<int64_t> labels(static_cast<size_t>(count));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 37 + i / 18);
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>(i % 4);
  return from_tensor_slices(
      {{"image", Tensor::from(pixels, {count, 2, 3, 3})}, {"label", Tensor::from(labels, {count})}});
}

// The plan of a map with `kernels` of a pipeline file, over a field of bytes that a decoder makes an image.
std::string coloured_plan(const std::string& kernels) {
  const std::string file = testing::TempDir() + "/color_kernels.txt";
  std::ofstream(file) << "a line";
  const std::string text = step("text_lines", "paths = ['" + file + "']") +
                           step("map", "kernels = [{ name = 'decode_png', channels = 3 }, " + kernels + "]");
  const std::string plan = parse_plan(text, "f.toml").dataset.plan();
  const size_t from = plan.find("decode_png(channels=3) > ") + 25;
  return plan.substr(from, plan.find_last_of(')') - from);
}

TEST(ColorPlanKernels, AreBuiltWithTheirOptions) {
  const std::vector<std::pair<std::string, KernelRef>> all = {
      {"name = 'adjust_brightness', brightness_factor = 2", adjust_brightness(2)},
      {"name = 'adjust_contrast', contrast_factor = 0.5", adjust_contrast(0.5)},
      {"name = 'adjust_saturation', saturation_factor = 0", adjust_saturation(0)},
      {"name = 'adjust_hue', hue_factor = -0.1", adjust_hue(-0.1)},
      {"name = 'adjust_gamma', gamma = 2, gain = 0.5", adjust_gamma(2, 0.5)},
      {"name = 'adjust_sharpness', sharpness_factor = 3", adjust_sharpness(3)},
      {"name = 'random_adjust_sharpness', sharpness_factor = 3, p = 1", random_adjust_sharpness(3, 1)},
      {"name = 'color_jitter', brightness = 0.4, hue = [-0.1, 0.2]",
       color_jitter({.brightness = 0.4, .hue = JitterRange(-0.1, 0.2)})},
      {"name = 'grayscale', num_output_channels = 3", grayscale(3)},
      {"name = 'to_grayscale'", to_grayscale()},
      {"name = 'random_grayscale'", random_grayscale()},
      {"name = 'random_grayscale', p = 0.5", random_grayscale(0.5)},
      {"name = 'invert'", invert()},
      {"name = 'random_invert', p = 0.2", random_invert(0.2)},
      {"name = 'solarize', threshold = 128", solarize(128)},
      {"name = 'random_solarize', threshold = 128, p = 1", random_solarize(128, 1)},
      {"name = 'posterize', bits = 3", posterize(3)},
      {"name = 'random_posterize', bits = 3, p = 1", random_posterize(3, 1)},
      {"name = 'equalize'", equalize()},
      {"name = 'random_equalize', p = 1", random_equalize(1)},
      {"name = 'autocontrast'", autocontrast()},
      {"name = 'random_autocontrast', p = 1", random_autocontrast(1)},
      {"name = 'gaussian_blur', kernel_size = 5", gaussian_blur(5)},
      {"name = 'gaussian_blur', kernel_size = [5, 3], sigma = 1", gaussian_blur({5, 3}, 1)},
      {"name = 'random_erasing', p = 1, scale = [0.1, 0.2], ratio = [1, 1], value = [1, 2, 3], layout = 'hwc'",
       random_erasing({.p = 1, .scale = {0.1, 0.2}, .ratio = {1, 1}, .value = {1, 2, 3}, .layout = ImageLayout::hwc})},
      {"name = 'random_choice', p = [1, 2], kernels = [{ name = 'invert' }, { name = 'equalize' }]",
       random_choice({invert(), equalize()}, {1, 2})},
      {"name = 'random_apply', p = 0.8, kernels = [{ name = 'color_jitter', hue = 0.1 }]",
       random_apply({color_jitter({.hue = 0.1})}, 0.8)},
  };
  for (const auto& [options, kernel] : all) EXPECT_EQ(coloured_plan("{ " + options + " }"), kernel->facts().title);
}

TEST(ColorPlanKernels, RefuseOptions) {
  const auto refusal = [](const std::string& kernel) {
    return refused(step("range", "stop = 1") + step("map", "kernels = [" + kernel + "]"));
  };
  EXPECT_THAT(refusal("{ name = 'adjust_hue' }"), HasSubstr("hue_factor is missing"));
  EXPECT_THAT(refusal("{ name = 'posterize' }"), HasSubstr("bits is missing"));
  EXPECT_THAT(refusal("{ name = 'adjust_hue', hue_factor = 2 }"), HasSubstr("hue_factor must be -0.5 to 0.5"));
  EXPECT_THAT(refusal("{ name = 'color_jitter', hue = [1, 2, 3] }"), HasSubstr("hue must be one or two numbers"));
  EXPECT_THAT(refusal("{ name = 'gaussian_blur', kernel_size = [1, 1, 1] }"), HasSubstr("one or two integers"));
  EXPECT_THAT(refusal("{ name = 'random_erasing', scale = 1 }"), HasSubstr("scale must be two numbers"));
  EXPECT_THAT(refusal("{ name = 'random_erasing', layout = 'nhwc' }"), HasSubstr("layout"));
  EXPECT_THAT(refusal("{ name = 'random_choice', kernels = [{ name = 'inverse' }] }"),
              HasSubstr("no kernel 'inverse'"));
  EXPECT_THAT(refusal("{ name = 'invert' }"), HasSubstr("takes uint8 or float32"));
}

Dataset mixed_batches() {
  return coloured_images() |
         map("image", color_jitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.1}),
             random_choice({gaussian_blur(3), random_grayscale(0.5), random_apply({equalize(), solarize(99)})}),
             random_erasing({.layout = ImageLayout::hwc})) |
         shuffle() | batch(8) |
         map({.image = "image", .labels = "label"}, random_choice({mixup(4), cutmix(4, 1, ImageLayout::hwc)}));
}

TEST(ColorPlanKernels, BatchesAreEqualOnAnyThreadsAndOtherInEachEpoch) {
  const Dataset dataset = mixed_batches();
  EXPECT_EQ(dataset.spec()[0].dtype, DType::u8);
  EXPECT_EQ(dataset.spec()[1].dtype, DType::f32);
  EXPECT_EQ(dataset.spec()[1].shape[1], 4);
  std::vector<std::string> expected;
  Sequence sequence(dataset, {.seed = 3, .epochs = 2});
  while (const auto element = sequence.next()) {
    expected.push_back(element_json(dataset.spec(), *element, 0, 0));
  }
  ASSERT_EQ(expected.size(), 10U);
  for (size_t i = 0; i < 5; ++i) EXPECT_NE(expected[i], expected[i + 5]);
  for (const int threads : {0, 1, 2, 8}) {
    Loader loader(dataset, {.epochs = 2, .seed = 3, .threads = threads});
    size_t i = 0;
    while (const auto batch = loader.next()) {
      ASSERT_LT(i, expected.size());
      EXPECT_EQ(element_json(dataset.spec(), batch->element(), 0, 0), expected[i++]) << threads;
    }
    EXPECT_EQ(i, expected.size());
  }
}

TEST(ColorPlanKernels, MixupDrawsByTheBatchsKey) {
  const Dataset dataset = coloured_images() | batch(8) | map({.image = "image", .labels = "label"}, mixup(4));
  Sequence sequence(dataset, {.seed = 3});
  for (uint64_t place = 0; place < 5; ++place) {
    const auto element = sequence.next();
    ASSERT_TRUE(element);
    Sequence plain(coloured_images() | batch(8) | skip(static_cast<int64_t>(place)), {});
    const auto before = plain.next();
    const std::vector<KernelRef> chain = {mixup(4)};
    const auto expected = run_kernels(chain, {(*before)["image"], (*before)["label"]},
                                      {.seed = 3, .key = before->key, .roles = {FieldRole::image, FieldRole::labels}});
    ASSERT_TRUE(expected);
    EXPECT_EQ(to_string((*element)["label"]), to_string((*expected)[1])) << place;
  }
}

}  // namespace
}  // namespace headpond::plan
