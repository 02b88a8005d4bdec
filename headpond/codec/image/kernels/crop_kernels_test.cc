// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/crop_kernels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"

namespace headpond {
namespace {

using image_internal::refusal;
using image_internal::row_image;
using image_internal::run_one_kernel;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Crop, KeepsAPartAndPutsZerosOutside) {
  const Tensor row = row_image({1, 2, 3, 4});
  EXPECT_THAT(run_one_kernel(crop(0, 1, {1, 2}), row)->as<uint8_t>(), ElementsAre(2, 3));
  EXPECT_THAT(run_one_kernel(crop(0, 3, {1, 3}), row)->as<uint8_t>(), ElementsAre(4, 0, 0));
  EXPECT_THAT(run_one_kernel(crop(0, -2, {1, 3}), row)->as<uint8_t>(), ElementsAre(0, 0, 1));
  EXPECT_THAT(run_one_kernel(crop(5, 9, {1, 2}), row)->as<uint8_t>(), ElementsAre(0, 0));
  EXPECT_EQ(run_one_kernel(crop(0, 0, 3), row)->shape(), (Shape{3, 3, 1}));
}

TEST(CenterCrop, BeginsAtTheRoundedHalfHalvesToEven) {
  std::vector<uint8_t> values(9);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i);
  const auto first = [&](int64_t size) {
    return run_one_kernel(center_crop({1, size}), row_image(values))->as<uint8_t>()[0];
  };
  EXPECT_EQ(first(9), 0);
  EXPECT_EQ(first(8), 0);  // 0.5
  EXPECT_EQ(first(7), 1);
  EXPECT_EQ(first(6), 2);  // 1.5
  EXPECT_EQ(first(4), 2);  // 2.5
  EXPECT_THAT(run_one_kernel(center_crop({1, 5}), row_image({7, 8}))->as<uint8_t>(), ElementsAre(0, 7, 8, 0, 0));
}

TEST(Pad, RepeatsPixelsAsItsModeSays) {
  const Tensor row = row_image({1, 2, 3});
  const auto padded = [&](PadMode mode, int64_t pixels) {
    const auto made = run_one_kernel(pad({pixels, 0}, {.mode = mode}), row);
    return std::vector<uint8_t>(made->as<uint8_t>().begin(), made->as<uint8_t>().end());
  };
  EXPECT_THAT(padded(PadMode::constant, 2), ElementsAre(0, 0, 1, 2, 3, 0, 0));
  EXPECT_THAT(padded(PadMode::edge, 2), ElementsAre(1, 1, 1, 2, 3, 3, 3));
  EXPECT_THAT(padded(PadMode::reflect, 2), ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(padded(PadMode::symmetric, 2), ElementsAre(2, 1, 1, 2, 3, 3, 2));
  EXPECT_THAT(padded(PadMode::reflect, 5), ElementsAre(2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2));
  EXPECT_THAT(padded(PadMode::symmetric, 4), ElementsAre(3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1));
  const Tensor one = row_image({9});
  EXPECT_THAT(run_one_kernel(pad({2, 0, 1, 0}, {.mode = PadMode::reflect}), one)->as<uint8_t>(),
              ElementsAre(9, 9, 9, 9));
}

// The pixel that `mode` puts at `i` beside `size` pixels, found by walking from the edge; -1: the fill.
int64_t walk_to(int64_t i, int64_t size, PadMode mode) {
  int64_t at = i < 0 ? 0 : size - 1, step = i < 0 ? 1 : -1;
  if (i >= 0 && i < size) return i;
  if (mode == PadMode::constant) return -1;
  if (mode == PadMode::edge || size == 1) return at;
  const int64_t distance = i < 0 ? -i : i - size + 1;
  for (int64_t k = mode == PadMode::reflect ? 0 : 1; k < distance; ++k) {
    const bool turns = at + step < 0 || at + step >= size;
    if (turns) step = -step;
    if (!turns || mode == PadMode::reflect) at += step;
  }
  return at;
}

template <class T>
void expect_padded_by_its_pixels(int64_t height, int64_t width, int64_t channels, PadMode mode) {
  std::vector<T> values(static_cast<size_t>(height * width * channels));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 7 % 251 + 1);
  const std::vector<double> fill = {200, 3, 9, 77};
  const std::vector<double> fills(fill.begin(), fill.begin() + channels);
  const int64_t left = 5, top = 2, right = 9, bottom = 4;
  const Result<Tensor> made = run_one_kernel(pad({left, top, right, bottom}, {.fill = fills, .mode = mode}),
                                             Tensor::from(values, {height, width, channels}));
  ASSERT_TRUE(made) << made.error();
  ASSERT_EQ(made->shape(), (Shape{height + top + bottom, width + left + right, channels}));
  std::vector<T> expected;
  for (int64_t y = -top; y < height + bottom; ++y) {
    for (int64_t x = -left; x < width + right; ++x) {
      const int64_t row = walk_to(y, height, mode), column = walk_to(x, width, mode);
      for (int64_t c = 0; c < channels; ++c) {
        expected.push_back(row < 0 || column < 0 ? static_cast<T>(fill[static_cast<size_t>(c)])
                                                 : values[static_cast<size_t>((row * width + column) * channels + c)]);
      }
    }
  }
  ASSERT_EQ(std::vector<T>(made->as<T>().begin(), made->as<T>().end()), expected) << height << " x " << width;
}

TEST(Pad, HasThePixelsOfItsModeForEachSizeAndDtype) {
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::edge, PadMode::symmetric}) {
    for (int64_t channels = 1; channels <= 4; ++channels) {
      for (int64_t width = 1; width <= 65; width += width < 20 ? 1 : 5) {
        expect_padded_by_its_pixels<uint8_t>(1 + width % 7, width, channels, mode);
        expect_padded_by_its_pixels<float>(1 + width % 7, width, channels, mode);
      }
    }
  }
}

TEST(Pad, JoinedWithAFlipAndNormalizeHasTheirBytes) {
  std::vector<uint8_t> values(std::size_t{5} * 7 * 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 11);
  const Tensor image = Tensor::from(values, {5, 7, 3});
  for (const PadMode mode : {PadMode::constant, PadMode::reflect, PadMode::edge, PadMode::symmetric}) {
    const std::vector<KernelRef> apart = {pad({2, 3}, {.mode = mode}), random_vertical_flip(1), normalize()};
    Tensor expected = image;
    for (const KernelRef& kernel : apart) expected = *run_one_kernel(kernel, expected);
    const auto joined = run_kernels(apart, image, {});
    ASSERT_TRUE(joined) << joined.error();
    EXPECT_EQ(std::vector<float>(joined->as<float>().begin(), joined->as<float>().end()),
              std::vector<float>(expected.as<float>().begin(), expected.as<float>().end()));
  }
}

TEST(Pad, FillsEachChannelWithItsValue) {
  const Tensor pixel = Tensor::from(std::vector<uint8_t>{1, 2, 3}, {1, 1, 3});
  EXPECT_THAT(run_one_kernel(pad({1, 0, 0, 0}, {.fill = {7, 255, 0}}), pixel)->as<uint8_t>(),
              ElementsAre(7, 255, 0, 1, 2, 3));
  EXPECT_THAT(run_one_kernel(pad({0, 0, 1, 0}, {.fill = {7}}), pixel)->as<uint8_t>(), ElementsAre(1, 2, 3, 7, 7, 7));
  EXPECT_THAT(run_one_kernel(pad({1}, {.fill = {7, 8}}), pixel).error().message(),
              HasSubstr("2 values fill an image of 3 channels"));
}

TEST(RandomCrop, TakesEachPlaceAndItsWordsFollowFromTheKey) {
  std::vector<uint8_t> values;
  for (uint8_t i = 0; i < 20; ++i) values.push_back(i);
  const Tensor image = Tensor::from(values, {4, 5, 1});
  std::set<uint8_t> firsts;
  for (uint64_t key = 0; key < 200; ++key) {
    const auto made = run_one_kernel(random_crop({3, 4}), image, {.seed = 3, .key = key});
    Random random(random_key(3, "random_crop", 0, 0), key);
    const auto y = (uint64_t{random.u32()} * 2) >> 32, x = (uint64_t{random.u32()} * 2) >> 32;
    ASSERT_EQ(made->as<uint8_t>()[0], y * 5 + x);
    firsts.insert(made->as<uint8_t>()[0]);
  }
  EXPECT_THAT(firsts, ElementsAre(0, 1, 5, 6));
}

TEST(RandomCrop, PadsFirstAndRefusesAnImageThatIsTooSmall) {
  const Tensor row = row_image({1, 2});
  EXPECT_THAT(run_one_kernel(random_crop({1, 3}), row).error().message(),
              HasSubstr("a crop of 3 x 1 pixels from an image of 2 x 1"));
  for (uint64_t key = 0; key < 20; ++key) {
    const auto padded = run_one_kernel(random_crop({1, 4}, {.padding = {1, 0}}), row, {.key = key});
    EXPECT_THAT(padded->as<uint8_t>(), ElementsAre(0, 1, 2, 0));
    const auto grown = run_one_kernel(random_crop({3, 4}, {.pad_if_needed = true}), row, {.key = key});
    ASSERT_EQ(grown->shape(), (Shape{3, 4, 1}));
  }
}

TEST(RandomResizedCrop, ConstantsStayAndTheSizeIsExact) {
  Random random(2);
  for (uint64_t key = 0; key < 50; ++key) {
    const int64_t height = 1 + image_internal::below(random, 30), width = 1 + image_internal::below(random, 30);
    const Tensor image =
        Tensor::from(std::vector<uint8_t>(static_cast<size_t>(height * width), 77), {height, width, 1});
    const auto made = run_one_kernel(random_resized_crop({5, 6}), image, {.key = key});
    ASSERT_EQ(made->shape(), (Shape{5, 6, 1}));
    EXPECT_THAT(made->as<uint8_t>(), testing::Each(77));
  }
}

TEST(RandomResizedCrop, FallsBackToTheMiddle) {
  std::vector<uint8_t> values;
  for (uint8_t i = 0; i < 12; ++i) values.push_back(i);
  const RandomResizedCropOptions square = {.scale = {1, 1}, .ratio = {1, 1}};
  // No square has the area of a 2 x 6 image, so the middle 2 x 2 is taken.
  const auto made = run_one_kernel(random_resized_crop({2, 2}, square), Tensor::from(values, {2, 6, 1}));
  EXPECT_THAT(made->as<uint8_t>(), ElementsAre(2, 3, 8, 9));
  const auto tall = run_one_kernel(random_resized_crop({2, 2}, square), Tensor::from(values, {6, 2, 1}));
  EXPECT_THAT(tall->as<uint8_t>(), ElementsAre(4, 5, 6, 7));
}

TEST(CropKernels, TitlesNameWhatIsNotTheDefault) {
  EXPECT_EQ(crop(1, -2, {3, 4})->facts().title, "crop(1, -2, [3,4])");
  EXPECT_EQ(center_crop(224)->facts().title, "center_crop(224)");
  EXPECT_EQ(center_crop(224, {.min_area = 4, .mask_fill = 255})->facts().title,
            "center_crop(224, min_area=4, mask_fill=255)");
  EXPECT_EQ(pad({4})->facts().title, "pad(4)");
  EXPECT_EQ(pad({4, 2}, {.fill = {1.5}, .mode = PadMode::reflect})->facts().title,
            "pad([4,2], fill=[1.5], mode=reflect)");
  EXPECT_EQ(random_crop(32, {.padding = {4}})->facts().title, "random_crop(32, padding=[4])");
  EXPECT_EQ(random_resized_crop({224, 224})->facts().title, "random_resized_crop([224,224])");
  EXPECT_EQ(random_resized_crop(224, {.scale = {0.5, 1}, .antialias = false, .min_area = 4})->facts().title,
            "random_resized_crop(224, scale=[0.5,1], antialias=false, min_area=4)");
  EXPECT_EQ(random_resized_crop(224)->facts().draws, "random_resized_crop");
}

TEST(CropKernels, RefuseOptionsOutOfRange) {
  EXPECT_THAT(refusal([] { crop(0, 0, {0, 1}); }), HasSubstr("size [0,1]"));
  EXPECT_THAT(refusal([] { crop(int64_t{1} << 40, 0, 1); }), HasSubstr("y 1099511627776: it must be -1048576"));
  EXPECT_THAT(refusal([] { crop(0, int64_t{-1} << 40, 1); }), HasSubstr("x -1099511627776"));
  EXPECT_THAT(refusal([] { center_crop(-1); }), HasSubstr("size -1"));
  EXPECT_THAT(refusal([] { center_crop(1, {.mask_fill = NAN}); }), HasSubstr("mask_fill"));
  EXPECT_THAT(refusal([] { pad({}); }), HasSubstr("padding of 0 numbers"));
  EXPECT_THAT(refusal([] { pad({1, 2, 3}); }), HasSubstr("padding of 3 numbers"));
  EXPECT_THAT(refusal([] { pad({-1}); }), HasSubstr("padding -1"));
  EXPECT_THAT(refusal([] { pad({1}, {.fill = {}}); }), HasSubstr("fill"));
  EXPECT_THAT(refusal([] { random_resized_crop(4, {.scale = {0, 1}}); }), HasSubstr("scale"));
  EXPECT_THAT(refusal([] { random_resized_crop(4, {.ratio = {2, 1}}); }), HasSubstr("ratio"));
  EXPECT_THAT(refusal([] { random_resized_crop(4, {.min_area = -1}); }), HasSubstr("min_area"));
}

}  // namespace
}  // namespace headpond
