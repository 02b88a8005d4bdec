// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Dataset raw_images(std::string_view pixels, int64_t height, int64_t width) {
  const std::vector<int64_t> size = {height, width};
  return from_tensors({{"image", Tensor::scalar(pixels)},
                       {"size", Tensor::from(std::span<const int64_t>(size), {2})},
                       {"label", Tensor::scalar(int64_t{7})}});
}

TEST(RawImage, HasTheShapeThatItsSizeSays) {
  const Dataset dataset = raw_images("abcdef", 1, 2) | raw_image("image", "size");
  EXPECT_EQ(to_string(dataset.spec()), "{'image': uint8[?,?,?], 'label': int64[]}");
  EXPECT_THAT(elements(dataset), ElementsAre("[1,2,3][97 98 99 100 101 102], 7"));
  EXPECT_EQ(to_string((raw_images("ab", 1, 2) | raw_image("image", "size", 1)).spec()),
            "{'image': uint8[?,?,1], 'label': int64[]}");
  EXPECT_THAT(dataset.plan(), HasSubstr("raw_image(image, size)"));
}

TEST(RawImage, BorrowsTheBytes) {
  const std::string pixels(3000, 'x');
  const Tensor text = Tensor::scalar(pixels);
  const std::vector<int64_t> size = {10, 100};
  const auto record = [text, size](int64_t) {
    return Element(text, Tensor::from(std::span<const int64_t>(size), {2}));
  };
  const Spec spec = {{"image", DType::bytes, {}}, {"size", DType::i64, {2}}};
  const Dataset dataset = range(1) | map(record, {.output = spec, .name = "record"}) | raw_image("image", "size");
  Sequence sequence(dataset);
  const auto element = sequence.next();
  ASSERT_TRUE(element);
  EXPECT_EQ((*element)[size_t{0}].shape(), (Shape{10, 100, 3}));
  EXPECT_EQ(static_cast<const void*>((*element)[size_t{0}].data()), static_cast<const void*>(text.bytes_at(0).data()));
}

TEST(RawImage, OfAnotherNumberOfBytesIsAnError) {
  const auto error = [](std::string_view pixels, int64_t height, int64_t width, int channels = 0) {
    return elements(raw_images(pixels, height, width) | raw_image("image", "size", channels))[0];
  };
  EXPECT_THAT(error("abcdef", 2, 2), HasSubstr("6 bytes are no 2 x 2 pixels of 1 to 4 channels"));
  EXPECT_THAT(error("abcde", 1, 1), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error("", 1, 1), HasSubstr("0 bytes"));
  EXPECT_THAT(error("a", 0, 1), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error("a", -1, -1), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error("a", INT64_MAX, INT64_MAX), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error("abcdef", 1, 2, 4), HasSubstr("of 4 channels"));
}

TEST(RawImage, RefusesFieldsOfOtherTypes) {
  EXPECT_THROW(range(3) | raw_image("image", "size"), Exception);
  EXPECT_THROW(raw_images("a", 1, 1) | raw_image("label", "size"), Exception);
  EXPECT_THROW(raw_images("a", 1, 1) | raw_image("image", "label"), Exception);
  EXPECT_THROW(raw_image("image", "size", 5), Exception);
}

}  // namespace
}  // namespace headpond::internal
