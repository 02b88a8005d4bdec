// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/kernels/jpeg_kernel.h"

#include <gmock/gmock.h>

#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/kernels/image_test_internal.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/png_kernel.h"

namespace headpond {
namespace {

using image_internal::jpeg_of;
using image_internal::refusal;
using image_internal::run_one_kernel;
using image_internal::same_tensor;
using image_internal::smooth_image;
using testing::HasSubstr;
using testing::StartsWith;

std::span<const std::byte> bytes_of(const Tensor& file) {
  return std::as_bytes(std::span(file.bytes_at(0).data(), file.bytes_at(0).size()));
}

TEST(JpegKernel, DecodesAsTheFunctionDoes) {
  const Tensor file = jpeg_of(smooth_image(20, 30));
  for (const JpegOptions& options : {JpegOptions(), JpegOptions{.channels = 1, .ratio = 4}}) {
    const auto made = run_one_kernel(decode_jpeg(options), file);
    ASSERT_TRUE(made) << made.error();
    EXPECT_TRUE(same_tensor(*made, decode_jpeg(bytes_of(file), options)->pixels));
  }
}

TEST(JpegKernel, ErrorsHaveTheJpegsOwnText) {
  const Tensor file = jpeg_of(smooth_image(64, 80));
  std::string text(file.bytes_at(0));
  text[text.size() * 3 / 4] = '\xff';
  text[text.size() * 3 / 4 + 1] = '\xd9';
  const Tensor broken = Tensor::scalar(std::string_view(text));
  EXPECT_THAT(run_one_kernel(decode_jpeg(), broken).error().message(), StartsWith("corrupt data at byte "));
  EXPECT_THAT(run_one_kernel(decode_jpeg(), Tensor::scalar(std::string_view("no image"))).error().message(),
              StartsWith("not a JPEG file"));
  const std::vector<KernelRef> crop_only = {decode_jpeg(), crop(0, 0, {8, 8})};
  const std::vector<KernelRef> all = {decode_jpeg({.check = JpegCheck::whole}), crop(0, 0, {8, 8})};
  EXPECT_TRUE(run_kernels(crop_only, broken));
  EXPECT_EQ(run_kernels(all, broken).error().kind(), ErrorKind::DataLoss);
  const Tensor cut = Tensor::scalar(file.bytes_at(0).substr(0, text.size() - 10));
  EXPECT_EQ(run_kernels(crop_only, cut).error().kind(), ErrorKind::DataLoss);
}

TEST(JpegKernel, NotesDefectsThatAreNoErrors) {
  const Tensor file = jpeg_of(smooth_image(64, 80));
  std::vector<Tensor> fields = {Tensor::scalar(file.bytes_at(0).substr(0, file.bytes_at(0).size() / 2))};
  const std::vector<RandomKey> keys(1);
  KernelScratch scratch;
  KernelCall call(fields, keys, 0, {}, scratch);
  ASSERT_TRUE(decode_jpeg({.damage = JpegDamage::recover, .acceptable_fraction = 0})->run(call));
  EXPECT_GT(scratch.defects.count, 0);
  EXPECT_THAT(scratch.defects.first, StartsWith("corrupt data at byte "));
  fields = {file};
  KernelScratch unused;
  KernelCall whole(fields, keys, 0, {}, unused);
  ASSERT_TRUE(decode_jpeg(JpegOptions())->run(whole));
  EXPECT_EQ(unused.defects.count, 0);
}

TEST(JpegKernel, AnIndexChangesNoBytesAndOneOfAnotherFileIsCounted) {
  const Tensor file = jpeg_of(smooth_image(64, 80)), other = jpeg_of(smooth_image(65, 80));
  const auto index_of = [](const Tensor& of) {
    const auto index = jpeg_index(bytes_of(of), 2).value();
    return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(index.data()), index.size()));
  };
  const Tensor own = index_of(file), foreign = index_of(other), none = Tensor::scalar(std::string_view());
  std::string broken(own.bytes_at(0));
  broken[25] ^= 1;
  const Tensor damaged = Tensor::scalar(std::string_view(broken));
  for (const KernelRef& decode : {decode_jpeg(), decode_image()}) {
    const KernelRef chain = decode->with(crop(20, 30, {16, 24}));
    EXPECT_EQ(chain->facts().companion, "jpeg_index");
    KernelScratch scratch;
    const auto run = [&](const Tensor* index) {
      std::vector<Tensor> fields = {file};
      const std::vector<RandomKey> keys(2);
      KernelCall call(fields, keys, 0, {}, scratch);
      call.set_companion(index);
      scratch.defects = {};
      const auto done = chain->run(call);
      if (!done) return Result<Tensor>(tl::unexpected(done.error()));
      call.finish();
      return Result<Tensor>(fields[0]);
    };
    const Tensor expected = run(nullptr).value();
    for (const Tensor* const index : {&own, &none}) {
      EXPECT_TRUE(same_tensor(run(index).value(), expected));
      EXPECT_EQ(scratch.defects.count, 0);
    }
    EXPECT_TRUE(same_tensor(run(&foreign).value(), expected));
    EXPECT_EQ(scratch.defects.count, 1);
    EXPECT_EQ(scratch.defects.first, "the index is of another file");
    EXPECT_EQ(run(&damaged).error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_EQ(decode_png()->facts().companion, "");
}

TEST(JpegKernel, ACropOutsideTheImageStillFindsABrokenHeader) {
  const std::vector<KernelRef> outside = {decode_jpeg(), crop(1'000, 0, {2, 2})};
  const Tensor file = jpeg_of(smooth_image(16, 16));
  EXPECT_THAT(run_kernels(outside, file)->as<uint8_t>(), testing::Each(0));
  EXPECT_FALSE(run_kernels(outside, Tensor::scalar(file.bytes_at(0).substr(0, 200))));
}

TEST(JpegKernel, ScaleFitDecodesTheSmallestSizeThatIsEnough) {
  const Tensor file = jpeg_of(smooth_image(64, 80));
  const KernelRef fit = decode_jpeg({.scale = JpegScale::fit});
  const std::vector<KernelRef> half = {fit, resize({20, 21})}, none = {fit, resize({33, 20})};
  const std::vector<KernelRef> by_two = {decode_jpeg({.ratio = 2}), resize({20, 21})};
  const std::vector<KernelRef> full = {decode_jpeg(), resize({20, 21})}, other = {decode_jpeg(), resize({33, 20})};
  EXPECT_TRUE(same_tensor(*run_kernels(half, file), *run_kernels(by_two, file)));
  EXPECT_FALSE(same_tensor(*run_kernels(half, file), *run_kernels(full, file)));
  EXPECT_TRUE(same_tensor(*run_kernels(none, file), *run_kernels(other, file)));
  EXPECT_THAT(join_kernels(half).joints[0].joined, HasSubstr("changes pixels"));
  const std::vector<KernelRef> unscaled = {fit, crop(0, 0, {8, 8})};
  EXPECT_EQ(join_kernels(unscaled).joints[0].joined, "region of the JPEG") << "without a resize nothing changes";
}

TEST(JpegKernel, SaysWhatItGivesAndRefusesBadOptions) {
  const Spec bytes = {{"image", DType::bytes, {}}};
  EXPECT_EQ(decode_jpeg(JpegOptions())->facts().title, "decode_jpeg");
  EXPECT_EQ(decode_jpeg({.channels = 1, .check = JpegCheck::whole, .scale = JpegScale::fit})->facts().title,
            "decode_jpeg(channels=1, check=whole, scale=fit)");
  EXPECT_EQ(decode_jpeg({.channels = 1})->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, 1}));
  EXPECT_EQ(decode_jpeg({.channels = 0})->facts().result(bytes)[0].shape, (Shape{kUnknown, kUnknown, kUnknown}));
  EXPECT_THAT(refusal([&] {
                decode_jpeg(JpegOptions())->facts().result({{"x", u8, {3}}});
              }),
              HasSubstr("takes bytes[]"));
  EXPECT_THAT(refusal([] { decode_jpeg({.channels = 2}); }), HasSubstr("channels 2"));
  EXPECT_THAT(refusal([] { decode_jpeg({.ratio = 3}); }), HasSubstr("ratio 3"));
  EXPECT_THAT(refusal([] { decode_jpeg({.max_pixels = 0}); }), HasSubstr("max_pixels"));
}

}  // namespace
}  // namespace headpond
