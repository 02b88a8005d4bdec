// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headpond/io/array/idx.h"
#include "headpond/train/articles/digits/digits.h"
#include "headpond/train/articles/mnist/mnist_test_internal.h"

namespace headpond {
namespace {

using testing::HasSubstr;

// A template, so that a call that does not compile is false.
template <class Text>
constexpr bool kLoadsTwo = requires(Text a) {
  load_mnist({a, a});
};
static_assert(!kLoadsTwo<const char*>);

class MnistFiles : public testing::Test {
 protected:
  void write(const char* name, const Tensor& tensor) { ASSERT_TRUE(write_idx(folder_.path(name), tensor)); }

  Error refused() {
    const auto data = load_mnist(folder_.path());
    EXPECT_FALSE(data);
    return data ? Error() : data.error();
  }

  internal::DigitFolder folder_{64, 32};
};

TEST_F(MnistFiles, AreReadWithTheirDigest) {
  const MnistData data = load_mnist(folder_.path()).value();
  EXPECT_EQ(data.train_images.shape(), (Shape{64, 28, 28}));
  EXPECT_EQ(data.test_labels.shape(), Shape{32});
  EXPECT_EQ(data.source, folder_.path());
  EXPECT_EQ(data.digest, load_mnist(folder_.path()).value().digest);
}

TEST_F(MnistFiles, DigestSeesOneOtherByte) {
  const uint32_t before = load_mnist(folder_.path()).value().digest;
  write(kTestLabels, internal::labels(32, 1));
  EXPECT_NE(load_mnist(folder_.path()).value().digest, before);
}

TEST_F(MnistFiles, MissingFileIsNamedWithBothItsNames) {
  std::filesystem::remove(folder_.path(kTestImages));
  const Error error = refused();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_THAT(error.message(), HasSubstr("t10k-images-idx3-ubyte: no such file, nor"));
}

TEST_F(MnistFiles, ImagesOfAnotherSizeAreRefused) {
  write(kTrainImages, Tensor::empty(u8, {64, 28, 27}));
  const Error error = refused();
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("train-images-idx3-ubyte: expected uint8 [n,28,28], found uint8 [64,28,27]"));
}

TEST_F(MnistFiles, LabelAboveNineIsRefusedWithItsPlace) {
  Tensor labels = internal::labels(64, 0);
  Tensor wrong = Tensor::empty(u8, {64});
  std::copy(labels.as<uint8_t>().begin(), labels.as<uint8_t>().end(), wrong.mutable_as<uint8_t>().begin());
  wrong.mutable_as<uint8_t>()[17] = 10;
  write(kTrainLabels, wrong);
  EXPECT_THAT(refused().message(), HasSubstr("train-labels-idx1-ubyte: label 17 is 10, expected below 10"));
}

TEST_F(MnistFiles, LabelsOfAnotherNumberAreRefused) {
  write(kTrainLabels, internal::labels(63, 0));
  EXPECT_EQ(refused().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond
