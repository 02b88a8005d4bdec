// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/random_erasing.h"

#include <limits>
#include <optional>

#include "headpond/base/math/half.h"
#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::after_kernel;
using color_test::bytes_of;

// An image of `value` in either layout.
Tensor even_floats(const Shape& shape, float value = 1) {
  return Tensor::from(std::vector<float>(static_cast<size_t>(*shape.size()), value), shape);
}

struct Found {
  int64_t top, left, bottom, right;
  bool is_whole;  // All of the rectangle, and nothing else, in each channel.
};

// Where a [channels, height, width] image of ones is 0.
std::optional<Found> zeros_of(const Tensor& image) {
  const int64_t channels = image.dim(0), height = image.dim(1), width = image.dim(2);
  const auto values = image.as<float>();
  Found found = {height, width, 0, 0, true};
  int64_t count = 0;
  for (int64_t i = 0; i < channels * height * width; ++i) {
    if (values[static_cast<size_t>(i)] != 0) continue;
    const int64_t y = i / width % height, x = i % width;
    found = {std::min(found.top, y), std::min(found.left, x), std::max(found.bottom, y + 1),
             std::max(found.right, x + 1), true};
    ++count;
  }
  if (count == 0) return std::nullopt;
  found.is_whole = count == channels * (found.bottom - found.top) * (found.right - found.left);
  return found;
}

TEST(RandomErasing, ErasesOneRectangleOfEveryChannel) {
  const KernelRef kernel = random_erasing({.p = 1});
  for (uint64_t key = 0; key < 100; ++key) {
    const auto found = zeros_of(after_kernel(kernel, even_floats({3, 40, 60}), {.key = key}));
    ASSERT_TRUE(found) << key;
    EXPECT_TRUE(found->is_whole);
    const auto height = static_cast<double>(found->bottom - found->top);
    const auto width = static_cast<double>(found->right - found->left);
    EXPECT_GE((height + 0.5) * (width + 0.5), 0.02 * 2400);
    EXPECT_LE((height - 0.5) * (width - 0.5), 0.33 * 2400);
    EXPECT_GE((height + 0.5) / (width - 0.5), 0.3);
    EXPECT_LE((height - 0.5) / (width + 0.5), 3.3);
  }
}

TEST(RandomErasing, LayoutsEraseTheSamePixels) {
  for (uint64_t key = 0; key < 20; ++key) {
    const Tensor planar = after_kernel(random_erasing({.p = 1}), even_floats({3, 20, 30}), {.key = key});
    const Tensor pixels =
        after_kernel(random_erasing({.p = 1, .layout = ImageLayout::hwc}), even_floats({20, 30, 3}), {.key = key});
    for (size_t i = 0; i < 600; ++i) {
      for (size_t c = 0; c < 3; ++c) ASSERT_EQ(planar.as<float>()[c * 600 + i], pixels.as<float>()[i * 3 + c]);
    }
  }
}

TEST(RandomErasing, ErasesEverywhereAndAsOftenAsPSays) {
  constexpr int kDraws = 1000;
  std::vector<int> erased(8 * 8);
  int images = 0;
  for (uint64_t key = 0; key < kDraws; ++key) {
    const Tensor out = after_kernel(random_erasing({.scale = {0.1, 0.4}}), even_floats({1, 8, 8}), {.key = key});
    images += zeros_of(out) ? 1 : 0;
    for (size_t i = 0; i < erased.size(); ++i) erased[i] += out.as<float>()[i] == 0 ? 1 : 0;
  }
  EXPECT_NEAR(images, kDraws / 2, 80);
  for (const int count : erased) EXPECT_GT(count, kDraws / 100) << "the corners too";
}

TEST(RandomErasing, ValuesAreOfEachChannelAndDtype) {
  const RandomErasingOptions options = {.p = 1, .value = {0.5, -2, 7}, .layout = ImageLayout::hwc};
  const auto is_one_of = [](float value, size_t c, float before) {
    return value == before || value == std::array<float, 3>{0.5F, -2, 7}[c];
  };
  const Tensor floats = after_kernel(random_erasing(options), even_floats({9, 9, 3}));
  for (size_t i = 0; i < 243; ++i) EXPECT_TRUE(is_one_of(floats.as<float>()[i], i % 3, 1));
  std::vector<uint16_t> ones(243, to_f16(1));
  const Tensor halves = after_kernel(random_erasing(options), Tensor::view(ones.data(), DType::f16, {9, 9, 3}));
  const auto* const words = reinterpret_cast<const uint16_t*>(halves.data());
  for (size_t i = 0; i < 243; ++i) EXPECT_EQ(from_f16(words[i]), floats.as<float>()[i]);
  const Tensor bytes = after_kernel(random_erasing({.p = 1, .value = 200, .layout = ImageLayout::hwc}),
                                    Tensor::from(std::vector<uint8_t>(243, 1), {9, 9, 3}));
  for (size_t i = 0; i < 243; ++i) EXPECT_EQ(bytes.as<uint8_t>()[i], floats.as<float>()[i] == 1 ? 1 : 200);
}

TEST(RandomErasing, RandomValuesAreNormalAndKeyed) {
  const KernelRef kernel = random_erasing({.p = 1, .scale = {0.3, 0.3}, .ratio = {1, 1}, .random_value = true});
  const Tensor out = after_kernel(kernel, even_floats({3, 100, 100}));
  double sum = 0, squares = 0;
  int count = 0;
  for (const float value : out.as<float>()) {
    if (value == 1) continue;
    sum += static_cast<double>(value);
    squares += static_cast<double>(value) * static_cast<double>(value);
    ++count;
  }
  ASSERT_NEAR(count, 9000, 300);
  EXPECT_NEAR(sum / count, 0, 0.06);
  EXPECT_NEAR(squares / count, 1, 0.08);
  EXPECT_EQ(bytes_of(out), bytes_of(after_kernel(kernel, even_floats({3, 100, 100}))));
  EXPECT_NE(bytes_of(out), bytes_of(after_kernel(kernel, even_floats({3, 100, 100}), {.key = 1})));
}

TEST(RandomErasing, AnImageTooSmallForARectangleStays) {
  const KernelRef kernel = random_erasing({.p = 1, .scale = {1, 1}});
  for (uint64_t key = 0; key < 20; ++key) {
    EXPECT_FALSE(zeros_of(after_kernel(kernel, even_floats({3, 1, 1}), {.key = key})));
    EXPECT_FALSE(zeros_of(after_kernel(kernel, even_floats({1, 12, 12}), {.key = key})));
  }
  (void)after_kernel(kernel, Tensor::empty(DType::f32, {3, 0, 5}));
}

TEST(RandomErasing, MasksStay) {
  const Tensor mask = even_floats({20, 20});
  const std::vector<KernelRef> chain = {random_erasing({.p = 1})};
  const auto out = run_kernels(chain, {even_floats({3, 20, 20}), mask}, {.roles = {FieldRole::image, FieldRole::mask}});
  ASSERT_TRUE(out);
  EXPECT_EQ((*out)[1].data(), mask.data());
}

TEST(RandomErasing, TitleNamesWhatIsNotTheDefault) {
  EXPECT_EQ(random_erasing()->facts().title, "random_erasing");
  EXPECT_EQ(
      random_erasing({.p = 0.25, .scale = {0.1, 0.2}, .value = {1, 2, 3}, .layout = ImageLayout::hwc})->facts().title,
      "random_erasing(p=0.25, scale=[0.1,0.2], value=[1,2,3], layout=hwc)");
}

TEST(RandomErasing, RefusesOptionsAndImages) {
  EXPECT_THROW(random_erasing({.p = 2}), Exception);
  EXPECT_THROW(random_erasing({.scale = {0.5, 0.1}}), Exception);
  EXPECT_THROW(random_erasing({.scale = {0.5, 1.1}}), Exception);
  EXPECT_THROW(random_erasing({.ratio = {0, 1}}), Exception);
  EXPECT_THROW(random_erasing({.value = std::numeric_limits<double>::infinity()}), Exception);
  const auto refuses = [](const RandomErasingOptions& options, DType dtype, const Shape& shape) {
    EXPECT_THROW(random_erasing(options)->facts().result({{"image", dtype, shape}}), Exception);
  };
  refuses({}, DType::f32, {224, 224, 3});
  refuses({.layout = ImageLayout::hwc}, DType::f32, {3, 224, 224});
  refuses({.value = {1, 2}}, DType::f32, {3, 224, 224});
  refuses({.value = 0.5}, DType::u8, {3, 224, 224});
  refuses({.random_value = true}, DType::u8, {3, 224, 224});
  refuses({}, DType::i64, {3, 224, 224});
  const std::vector<KernelRef> chain = {random_erasing()};
  EXPECT_FALSE(run_kernels(chain, even_floats({20, 20, 3})));
}

}  // namespace
}  // namespace headpond
