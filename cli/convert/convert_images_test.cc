// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_images.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "cli/convert/convert_samples.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_index.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "tests/test_files.h"

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

TEST(ConvertImages, TakesLabelsFromTheListOfFilesAlone) {
  const test::TempFolder folder;
  for (const char* const name : {"cat/a.pgm", "cat/b.pgm", "dog/c.pgm"}) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    test::put_file(folder.file(name), test::to_bytes(kGreyImage));
  }
  Sequence labels(label_rows(folder.path()));
  std::filesystem::remove_all(folder.file("cat"));
  for (const int64_t label : {0, 0, 1}) EXPECT_EQ(labels.next().value()[size_t{0}].item<int64_t>(), label);
  EXPECT_TRUE(at_end(labels.next()));
  Sequence files(convert_samples("folder", {folder.path()}));
  std::filesystem::remove_all(folder.file("dog"));
  EXPECT_FALSE(files.next()) << "control: samples with their files";
}

TEST(ConvertImages, EncodesThemAgain) {
  for (const auto& [form, format] : {std::pair("png", ImageFormat::png), std::pair("jpeg", ImageFormat::jpeg)}) {
    if (!has_decoder(format)) continue;
    const Element sample = first_of(with_images(image_files(kGreyImage), {.image = form, .size = 3}));
    const auto file = std::as_bytes(std::span(sample[size_t{1}].bytes_at(0)));
    EXPECT_EQ(*image_info(file, file.size()), (ImageInfo{.format = format, .height = 3, .width = 3, .channels = 3}));
  }
}

TEST(ConvertImages, HaveTheIndexOfTheirJpegBeside) {
  const Dataset jpegs = with_images(image_files(kGreyImage), {.image = "jpeg", .field = "image"});
  const Dataset indexed = with_jpeg_index(jpegs, "image", 8);
  EXPECT_EQ(indexed.spec().back().name, "image/jpeg_index");
  const Element sample = first_of(indexed);
  const auto file = std::as_bytes(std::span(sample[size_t{1}].bytes_at(0)));
  const auto index = std::as_bytes(std::span(sample[size_t{3}].bytes_at(0)));
  EXPECT_TRUE(std::ranges::equal(index, jpeg_index(file, 8).value()));
  EXPECT_FALSE(index.empty());
  EXPECT_EQ(first_of(with_jpeg_index(image_files(kGreyImage), "file", 8))[size_t{3}].bytes_at(0), "") << "no JPEG";
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
