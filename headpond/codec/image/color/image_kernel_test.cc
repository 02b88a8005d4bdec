// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/color_test_internal.h"
#include "headpond/codec/image/color/image_kernel_internal.h"

namespace headpond::color_internal {
namespace {

using color_test::after_kernel;
using color_test::bytes_of;
using color_test::bytes_picture;

// Each byte becomes the upper byte of the next word.
ImageFunction numbering() {
  return {.name = "numbering",
          .draws = true,
          .run = [](const Tensor& image, std::byte* out, Random& random, KernelCall&) -> Result<void> {
            for (size_t i = 0; i < image.byte_size(); ++i) out[i] = static_cast<std::byte>(random.u32() >> 24);
            return {};
          }};
}

TEST(ImageKernel, RunsTheFunctionUnderItsName) {
  const Tensor image = bytes_picture(1, 2, 3);
  const Tensor out = after_kernel(image_kernel(numbering()), image, {.seed = 3, .epoch = 2, .key = 5});
  Random random(random_key(3, "numbering", 0, 2), 5);
  for (const uint8_t value : out.as<uint8_t>()) EXPECT_EQ(value, random.u32() >> 24);
}

TEST(ImageKernel, TheFirstWordDecidesIfThereIsAProbability) {
  ImageFunction function = numbering();
  function.p = 0.5;
  const KernelRef kernel = image_kernel(function);
  const Tensor image = bytes_picture(1, 2, 3);
  int changes = 0;
  for (uint64_t key = 0; key < 200; ++key) {
    Random random(random_key(0, "numbering", 0, 0), key);
    const bool expected = static_cast<double>(random.uniform()) < 0.5;
    const Tensor out = after_kernel(kernel, image, {.key = key});
    EXPECT_EQ(bytes_of(out) != bytes_of(image), expected) << key;
    if (expected) {
      EXPECT_EQ(out.as<uint8_t>()[0], random.u32() >> 24) << "the next word";
    }
    changes += expected ? 1 : 0;
  }
  EXPECT_NEAR(changes, 100, 36);
}

TEST(ImageKernel, OtherFieldsStay) {
  std::vector<Tensor> fields = {bytes_picture(2, 2, 3), bytes_picture(2, 2, 1), Tensor::scalar(7)};
  const std::vector<KernelRef> chain = {image_kernel(numbering())};
  const auto out = run_kernels(chain, fields, {.roles = {FieldRole::image, FieldRole::mask, FieldRole::labels}});
  ASSERT_TRUE(out);
  EXPECT_EQ(bytes_of((*out)[1]), bytes_of(fields[1]));
  EXPECT_EQ((*out)[2].item<int>(), 7);
  EXPECT_NE(bytes_of((*out)[0]), bytes_of(fields[0]));
}

TEST(ImageKernel, FixesTheNumberOfChannels) {
  ImageFunction function = numbering();
  function.output_channels = 1;
  const Spec in = {{"image", DType::u8, {kUnknown, 5, 3}}, {"mask", DType::u8, {kUnknown, 5}}};
  const Spec out = image_kernel(function)->facts().result(in);
  EXPECT_EQ(out[0].shape, (Shape{kUnknown, 5, 1}));
  EXPECT_EQ(out[1].shape, in[1].shape);
}

TEST(ImageKernel, RefusesFieldsWhenBuiltAndImagesWhenRun) {
  ImageFunction function = numbering();
  function.channels = Channels::grey_or_rgb;
  const KernelRef kernel = image_kernel(function);
  EXPECT_THROW(kernel->facts().result({{"image", DType::u8, {2, 2, 4}}}), Exception);
  EXPECT_THROW(kernel->facts().result({{"image", DType::bytes, {}}}), Exception);
  const std::vector<KernelRef> chain = {kernel};
  EXPECT_FALSE(run_kernels(chain, bytes_picture(2, 2, 4)));
}

}  // namespace
}  // namespace headpond::color_internal
