// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/resize_kernel.h"

#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/image_test_internal.h"

namespace headpond {
namespace {

using image_internal::refusal;
using image_internal::run_one_kernel;
using testing::HasSubstr;

TEST(ResizeKernel, HasTheBytesOfTheFunction) {
  Random random(1);
  for (const DType dtype : {u8, f32}) {
    const Tensor image = image_internal::random_image(random, dtype, 9, 7, 3);
    for (const bool antialias : {false, true}) {
      const auto made =
          run_one_kernel(resize({4, 11}, {.filter = ResizeFilter::bicubic, .antialias = antialias}), image);
      const auto expected = resize_image(image, 4, 11, {ResizeFilter::bicubic, antialias});
      EXPECT_TRUE(image_internal::same_tensor(*made, *expected));
    }
  }
}

TEST(ResizeKernel, OneNumberIsTheShorterSide) {
  const auto shape = [](int64_t height, int64_t width, const KernelRef& kernel) {
    return run_one_kernel(kernel,
                          Tensor::from(std::vector<uint8_t>(static_cast<size_t>(height * width)), {height, width, 1}))
        ->shape();
  };
  EXPECT_EQ(shape(30, 50, resize(10)), (Shape{10, 16, 1}));
  EXPECT_EQ(shape(50, 30, resize(10)), (Shape{16, 10, 1}));
  EXPECT_EQ(shape(8, 8, resize(3)), (Shape{3, 3, 1}));
  EXPECT_EQ(shape(30, 50, resize(10, {.max_size = 12})), (Shape{7, 12, 1}));
  EXPECT_EQ(shape(2, 100, resize(10, {.max_size = 11})), (Shape{1, 11, 1}));
}

TEST(ResizeKernel, WithoutASizeTheLongerSideIsGiven) {
  const auto shape = [](int64_t height, int64_t width) {
    return run_one_kernel(resize({.max_size = 20}),
                          Tensor::from(std::vector<uint8_t>(static_cast<size_t>(height * width)), {height, width, 1}))
        ->shape();
  };
  EXPECT_EQ(shape(30, 50), (Shape{12, 20, 1}));
  EXPECT_EQ(shape(50, 31), (Shape{20, 12, 1}));
  EXPECT_EQ(shape(4, 4), (Shape{20, 20, 1})) << "smaller images grow";
  EXPECT_EQ(shape(1, 100), (Shape{1, 20, 1}));
  EXPECT_EQ(resize({.filter = ResizeFilter::area, .max_size = 20})->facts().title, "resize(filter=area, max_size=20)");
  EXPECT_THAT(refusal([] { resize(ResizeKernelOptions()); }), HasSubstr("max_size 0: without a size"));
  EXPECT_THAT(refusal([] { resize({.max_size = -4}); }), HasSubstr("max_size -4"));
}

TEST(ResizeKernel, RefusesBadOptionsAndImages) {
  EXPECT_THAT(refusal([] { resize({0, 4}); }), HasSubstr("size [0,4]"));
  EXPECT_THAT(refusal([] { resize(4, {.max_size = 4}); }), HasSubstr("max_size 4"));
  EXPECT_THAT(refusal([] { resize({4, 4}, {.max_size = 8}); }), HasSubstr("max_size 8"));
  EXPECT_EQ(resize(256, {.filter = ResizeFilter::lanczos, .antialias = false, .max_size = 300})->facts().title,
            "resize(256, filter=lanczos, antialias=false, max_size=300)");
  EXPECT_THAT(run_one_kernel(resize(4), Tensor::empty(u8, {0, 4, 3})).error().message(), HasSubstr("4 x 0 pixels"));
  EXPECT_THAT(run_one_kernel(resize(1 << 20), Tensor::empty(u8, {1, 9, 3})).error().message(),
              HasSubstr("can't become"));
  EXPECT_THAT(run_one_kernel(resize(4), Tensor::scalar(1.5F)).error().message(), HasSubstr("was expected"));
}

}  // namespace
}  // namespace headpond
