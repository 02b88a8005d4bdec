// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/mixup.h"

#include "headpond/base/math/beta.h"
#include "headpond/codec/image/color/color_test_internal.h"

namespace headpond {
namespace {

using color_test::bytes_of;
using color_test::values_of;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<FieldRole> kMixedRoles = {FieldRole::image, FieldRole::labels};

Result<std::vector<Tensor>> mixed(const KernelRef& kernel, const Tensor& image, const Tensor& labels,
                                  uint64_t batch = 0) {
  const std::vector<KernelRef> chain = {kernel};
  return run_kernels(chain, {image, labels}, {.key = batch, .roles = kMixedRoles});
}

// Row r has the value 10 r + 1 everywhere.
Tensor rows_of_floats(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(*shape.size()));
  const size_t size = values.size() / static_cast<size_t>(shape[0]);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(10 * (i / size) + 1);
  return Tensor::from(values, shape);
}

TEST(MixUp, MixesEachRowWithTheOneBeforeIt) {
  const Tensor image = rows_of_floats({3, 2, 4, 4});
  const Tensor labels = Tensor::from(std::vector<int64_t>{2, 0, 1}, {3});
  for (const double alpha : {1.0, 0.2, 5.0}) {
    Random random(random_key(0, "mixup", 0, 0), 7);
    const double lambda = draw_beta(random, alpha, alpha);
    const auto own = static_cast<float>(lambda), other = static_cast<float>(1 - lambda);
    const auto out = mixed(mixup(3, alpha), image, labels, 7);
    ASSERT_TRUE(out) << out.error();
    for (size_t row = 0; row < 3; ++row) {
      const float a = rows_of_floats({3}).as<float>()[row], b = rows_of_floats({3}).as<float>()[(row + 2) % 3];
      for (size_t i = 0; i < 32; ++i) ASSERT_EQ((*out)[0].as<float>()[row * 32 + i], b * other + a * own);
    }
    EXPECT_THAT(values_of<float>((*out)[1]), ElementsAre(0, other, own, own, 0, other, other, own, 0));
  }
}

TEST(MixUp, BytesAreRoundedToTheNearest) {
  const Tensor image = Tensor::from(std::vector<uint8_t>{0, 255, 10, 200}, {2, 2});
  const Tensor labels = Tensor::from(std::vector<uint8_t>{0, 1}, {2});
  for (uint64_t batch = 0; batch < 20; ++batch) {
    Random random(random_key(0, "mixup", 0, 0), batch);
    const double lambda = draw_beta(random, 1, 1);
    const auto out = mixed(mixup(2), image, labels, batch);
    ASSERT_TRUE(out);
    EXPECT_NEAR((*out)[0].as<uint8_t>()[1], 255 * lambda + 200 * (1 - lambda), 0.51);
    EXPECT_NEAR((*out)[0].as<uint8_t>()[2], 10 * lambda, 0.51);
  }
}

TEST(MixUp, TakesLabelsThatAreSharesAlready) {
  const Tensor image = rows_of_floats({2, 5});
  const auto numbers = mixed(mixup(3), image, Tensor::from(std::vector<int32_t>{1, 2}, {2}));
  const auto shares = mixed(mixup(3), image, Tensor::from(std::vector<float>{0, 1, 0, 0, 0, 1}, {2, 3}));
  ASSERT_TRUE(numbers && shares);
  EXPECT_EQ(bytes_of((*numbers)[1]), bytes_of((*shares)[1]));
  const auto alone = mixed(mixup(3), rows_of_floats({1, 5}), Tensor::from(std::vector<int64_t>{2}, {1}));
  EXPECT_EQ(bytes_of((*alone)[0]), bytes_of(rows_of_floats({1, 5})));
  EXPECT_THAT(values_of<float>((*alone)[1]), ElementsAre(0, 0, 1));
}

// Rectangles of the row before; the labels have the shares of pixels.
void expect_cut(const Tensor& out, const Tensor& labels, ImageLayout layout) {
  const auto values = values_of<float>(out);
  const size_t rows = static_cast<size_t>(out.dim(0)), size = values.size() / rows;
  std::vector<size_t> foreign;
  for (size_t i = 0; i < size; ++i) {
    if (values[i] != 1) foreign.push_back(i);
  }
  for (size_t row = 0; row < rows; ++row) {
    const float own = static_cast<float>(10 * row + 1), other = static_cast<float>(10 * ((row + rows - 1) % rows) + 1);
    for (size_t i = 0; i < size; ++i) {
      const bool is_foreign = std::ranges::binary_search(foreign, i);
      ASSERT_EQ(values[row * size + i], is_foreign ? other : own) << row << " " << i;
    }
    const double share = 1 - static_cast<double>(foreign.size()) / static_cast<double>(size);
    EXPECT_NEAR(labels.as<float>()[row * rows + row], share, 1e-6) << (layout == ImageLayout::chw);
  }
}

TEST(CutMix, PutsTheSameRectangleIntoEachRow) {
  const Tensor labels = Tensor::from(std::vector<int64_t>{0, 1, 2, 3}, {4});
  int changes = 0;
  for (uint64_t batch = 0; batch < 30; ++batch) {
    const auto planar = mixed(cutmix(4), rows_of_floats({4, 3, 12, 20}), labels, batch);
    const auto pixels = mixed(cutmix(4, 1, ImageLayout::hwc), rows_of_floats({4, 12, 20, 3}), labels, batch);
    ASSERT_TRUE(planar && pixels);
    expect_cut((*planar)[0], (*planar)[1], ImageLayout::chw);
    expect_cut((*pixels)[0], (*pixels)[1], ImageLayout::hwc);
    EXPECT_EQ(bytes_of((*planar)[1]), bytes_of((*pixels)[1]));
    for (size_t i = 0; i < 240; ++i) ASSERT_EQ((*planar)[0].as<float>()[i], (*pixels)[0].as<float>()[3 * i]);
    changes += bytes_of((*planar)[0]) == bytes_of(rows_of_floats({4, 3, 12, 20})) ? 0 : 1;
  }
  EXPECT_GT(changes, 20);
}

TEST(CutMix, CutsAboutOneMinusLambda) {
  double left = 0;
  const Tensor labels = Tensor::from(std::vector<int64_t>{0, 1}, {2});
  for (uint64_t batch = 0; batch < 300; ++batch) {
    const auto out = mixed(cutmix(2), rows_of_floats({2, 1, 16, 16}), labels, batch);
    left += static_cast<double>((*out)[1].as<float>()[0]);
  }
  EXPECT_NEAR(left / 300, 0.66, 0.08) << "lambda is 0.5 on average, and a part of each rectangle is outside";
}

TEST(CutMix, TakesAnyNumbers) {
  const Tensor labels = Tensor::from(std::vector<int64_t>{0, 1}, {2});
  EXPECT_TRUE(mixed(cutmix(2), Tensor::from(std::vector<uint8_t>(32), {2, 1, 4, 4}), labels));
  EXPECT_TRUE(mixed(cutmix(2), Tensor::from(std::vector<double>(32), {2, 1, 4, 4}), labels));
  EXPECT_TRUE(mixed(cutmix(2), Tensor::from(std::vector<uint8_t>(6), {2, 3, 1, 1}), labels));
  EXPECT_TRUE(mixed(cutmix(2), Tensor::empty(DType::f32, {2, 3, 0, 5}), labels));
}

TEST(MixUpAndCutMix, SayWhatTheyGive) {
  const Spec in = {{"image", DType::f32, {32, 3, 8, 8}}, {"labels", DType::i64, {32}}};
  for (const KernelRef& kernel : {mixup(10), cutmix(10)}) {
    const Spec out = kernel->facts().result(in);
    EXPECT_EQ(out[0].shape, in[0].shape);
    EXPECT_EQ(out[1].dtype, DType::f32);
    EXPECT_EQ(out[1].shape, (Shape{32, 10}));
  }
  const Spec open = {{"image", DType::f32, {kUnknown, 3, 8, 8}}, {"labels", DType::i64, {kUnknown}}};
  EXPECT_EQ(mixup(10)->facts().result(open)[1].shape, (Shape{kUnknown, 10}));
  EXPECT_EQ(mixup(10)->facts().title, "mixup(10)");
  EXPECT_EQ(cutmix(10, 0.5, ImageLayout::hwc)->facts().title, "cutmix(10, alpha=0.5, layout=hwc)");
}

TEST(MixUpAndCutMix, RefuseOptionsFieldsAndLabels) {
  EXPECT_THROW(mixup(0), Exception);
  EXPECT_THROW(mixup(10, 0), Exception);
  EXPECT_THROW(cutmix(10, -1), Exception);
  const auto refuses = [](const KernelRef& kernel, const Spec& in) {
    EXPECT_THROW(kernel->facts().result(in), Exception);
  };
  refuses(mixup(10), {{"image", DType::f32, {32, 3, 8, 8}}});
  refuses(mixup(10), {{"image", DType::f32, {32, 8}}, {"labels", DType::i64, {}}});
  refuses(mixup(10), {{"image", DType::f32, {32, 8}}, {"labels", DType::f32, {32, 9}}});
  refuses(mixup(10), {{"image", DType::f64, {32, 8}}, {"labels", DType::i64, {32}}});
  refuses(mixup(10), {{"image", DType::f32, {32, 8}}, {"mask", DType::u8, {32}}});
  refuses(cutmix(10), {{"image", DType::f32, {32, 8, 8, 3}}, {"labels", DType::i64, {32}}});
  const auto bad = mixed(mixup(2), rows_of_floats({2, 3}), Tensor::from(std::vector<int64_t>{0, 2}, {2}));
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message(), HasSubstr("label 2 in row 1 of the batch: num_classes is 2"));
  EXPECT_FALSE(mixed(mixup(2), rows_of_floats({2, 3}), Tensor::from(std::vector<int64_t>{0, -1}, {2})));
  EXPECT_FALSE(mixed(mixup(2), rows_of_floats({3, 3}), Tensor::from(std::vector<int64_t>{0, 1}, {2})));
}

}  // namespace
}  // namespace headpond
