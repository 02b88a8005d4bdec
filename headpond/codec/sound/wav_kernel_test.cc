// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav_kernel.h"

#include <gmock/gmock.h>

#include <string_view>

namespace headpond {
namespace {

using testing::ElementsAre;

Tensor wav_kernel_file() {
  const auto file = encode_wav(Tensor::from(std::vector<float>{0.25F, 0.5F, 0.75F}, {3, 1}), 8000);
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file->data()), file->size()));
}

TEST(WavKernel, DecodesAsTheFunctionDoes) {
  const std::vector<KernelRef> all = {decode_wav()};
  const auto samples = run_kernels(all, wav_kernel_file());
  ASSERT_TRUE(samples);
  EXPECT_EQ(samples->shape(), (Shape{3, 1}));
  EXPECT_THAT(samples->as<float>(), ElementsAre(0.25F, 0.5F, 0.75F));
  const std::vector<KernelRef> part = {decode_wav({.desired_channels = 2, .desired_samples = 3, .first_sample = 1})};
  EXPECT_THAT(run_kernels(part, wav_kernel_file())->as<float>(), ElementsAre(0.5F, 0.5F, 0.75F, 0.75F, 0, 0));
}

TEST(WavKernel, SaysWhatItGives) {
  const Spec bytes = {{"sound", DType::bytes, {}}};
  EXPECT_EQ(decode_wav()->facts().title, "decode_wav");
  EXPECT_EQ(decode_wav()->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown}));
  const KernelRef mono = decode_wav({.desired_channels = 1, .desired_samples = 16000});
  EXPECT_EQ(mono->facts().title, "decode_wav(desired_channels=1, desired_samples=16000)");
  EXPECT_EQ(mono->facts().result(bytes)[0].shape, (Shape{16000, 1}));
  const KernelRef other = decode_wav({.desired_samples = 100, .sample_rate = 16000});
  EXPECT_EQ(other->facts().title, "decode_wav(desired_samples=100, sample_rate=16000)");
  EXPECT_EQ(other->facts().result(bytes)[0].shape, (Shape{100, kUnknown})) << "of the result";
}

TEST(WavKernel, RefusesBadOptionsFieldsAndFiles) {
  EXPECT_THROW(decode_wav({.desired_channels = 0}), Exception);
  EXPECT_THROW(decode_wav({.desired_samples = -2}), Exception);
  EXPECT_THROW(decode_wav({.first_sample = -1}), Exception);
  EXPECT_THROW(decode_wav({.sample_rate = 768001}), Exception);
  EXPECT_THROW(decode_wav()->facts().result({{"sound", DType::f32, {3}}}), Exception);
  const std::vector<KernelRef> late = {decode_wav({.first_sample = 4})};
  EXPECT_EQ(run_kernels(late, wav_kernel_file()).error().kind(), ErrorKind::InvalidArgument);
  const std::vector<KernelRef> all = {decode_wav()};
  EXPECT_FALSE(run_kernels(all, Tensor::scalar(std::string_view(""))));
}

}  // namespace
}  // namespace headpond
