// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_images.h"

#include <gmock/gmock.h>

#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;

// A grey image of 6 x 4 pixels, as a folder gives it.
Dataset image_files(std::string_view content) {
  return from_tensors({{"path", Tensor::scalar(std::string_view("cat/a.pgm"))},
                       {"file", Tensor::scalar(content)},
                       {"label", Tensor::scalar(int64_t{0})}});
}
const std::string kGreyImage = "P5 6 4 255 " + std::string(24, 'g');

Element first_of(const Dataset& dataset) {
  Sequence sequence(dataset);
  auto element = sequence.next();
  EXPECT_TRUE(element) << element.error().to_string();
  return element ? *std::move(element) : Element();
}

TEST(ConvertImages, StoresPixelsAndTheirSize) {
  const Element sample = first_of(with_images(image_files(kGreyImage), {.image = "raw"}));
  EXPECT_EQ(sample[size_t{1}].bytes_at(0), std::string(72, 'g'));
  EXPECT_EQ(sample[size_t{3}].as<int64_t>()[0], 4);
  EXPECT_EQ(sample[size_t{3}].as<int64_t>()[1], 6);
  const Element again = first_of(with_images(image_files(kGreyImage), {.image = "raw"}) | raw_image("image", "size"));
  EXPECT_EQ(again[size_t{1}].shape(), (Shape{4, 6, 3}));
}

TEST(ConvertImages, CutsASquareOutOfTheMiddle) {
  const Element sample = first_of(with_images(image_files(kGreyImage), {.image = "raw", .size = 8}));
  EXPECT_EQ(sample[size_t{1}].bytes_at(0), std::string(192, 'g'));
  EXPECT_EQ(first_of(image_rows(image_files(kGreyImage), 2))[size_t{0}].shape(), (Shape{2, 2, 3}));
}

TEST(ConvertImages, EncodesThemAgain) {
  for (const auto& [form, format] : {std::pair("png", ImageFormat::png), std::pair("jpeg", ImageFormat::jpeg)}) {
    if (!has_decoder(format)) continue;
    const Element sample = first_of(with_images(image_files(kGreyImage), {.image = form, .size = 3}));
    const auto file = std::as_bytes(std::span(sample[size_t{1}].bytes_at(0)));
    EXPECT_EQ(*image_info(file, file.size()), (ImageInfo{.format = format, .height = 3, .width = 3, .channels = 3}));
  }
}

TEST(ConvertImages, StayAsTheyAreWithoutAForm) {
  EXPECT_EQ(first_of(with_images(image_files("any"), {}))[size_t{1}].bytes_at(0), "any");
  Sequence sequence(with_images(image_files("<html>"), {.image = "png"}));
  const auto element = sequence.next();
  ASSERT_FALSE(element);
  EXPECT_THAT(element.error().to_string(), HasSubstr("HTML"));
}

}  // namespace
}  // namespace headpond::cli
