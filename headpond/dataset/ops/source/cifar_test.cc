// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class CifarFiles : public testing::Test {
 protected:
  // A record whose red, green and blue planes begin with these values.
  static std::string record(const std::string& labels, char red, char green, char blue) {
    std::string planes(3072, '\0');
    planes[0] = red;
    planes[1024] = green;
    planes[2048] = blue;
    return labels + planes;
  }
  void put(const std::string& name, const std::string& content) {
    test::put_file(folder_.file(name), std::as_bytes(std::span(content)));
  }
  void put_train() {
    for (char i = 1; i <= 5; ++i) {
      put("data_batch_" + std::to_string(i) + ".bin", record(std::string(1, i), i, 20, 30));
    }
  }
  std::string refusal() {
    try {
      cifar10(folder_.path());
    } catch (const Exception& e) {
      return e.error().to_string();
    }
    return "";
  }
  test::TempFolder folder_;
};

TEST_F(CifarFiles, AreRowsOfPixelsBesideTheirLabels) {
  put_train();
  const Dataset dataset = cifar10(folder_.path());
  EXPECT_EQ(to_string(dataset.spec()), "{'image': uint8[32,32,3], 'label': uint8[]}");
  const auto all = elements(dataset);
  ASSERT_THAT(all, SizeIs(5));
  EXPECT_THAT(all[1], testing::StartsWith("[32,32,3][2 20 30 0"));
  EXPECT_THAT(all[1], testing::EndsWith(", 2"));
  EXPECT_THAT(dataset.plan(), HasSubstr("cifar10"));
}

TEST_F(CifarFiles, OfTheTestPartAreAnotherFile) {
  put("test_batch.bin", record("\x09", 1, 2, 3) + record("\x01", 4, 5, 6));
  EXPECT_THAT(elements(cifar10(folder_.path(), {.train = false})), SizeIs(2));
  EXPECT_THAT(refusal(), HasSubstr("data_batch_1.bin"));
}

TEST_F(CifarFiles, OfAHundredClassesHaveTwoLabels) {
  put("train.bin", record("\x13\x63", 1, 2, 3));
  put("test.bin", record("\x01\x02", 1, 2, 3));
  const Dataset dataset = cifar100(folder_.path());
  EXPECT_EQ(to_string(dataset.spec()), "{'image': uint8[32,32,3], 'coarse_label': uint8[], 'label': uint8[]}");
  EXPECT_THAT(elements(dataset)[0], testing::EndsWith(", 19, 99"));
  EXPECT_THAT(elements(cifar100(folder_.path(), {.train = false}))[0], testing::EndsWith(", 1, 2"));
}

TEST_F(CifarFiles, NameFileAndOffsetInAnError) {
  put_train();
  put("data_batch_3.bin", record("\x03", 1, 2, 3) + "abc");
  EXPECT_THAT(refusal(),
              HasSubstr("data_batch_3.bin: the file ends at offset 3076, within the record of 3073 bytes that "
                        "begins at offset 3073"));
  put("data_batch_3.bin", "");
  EXPECT_THAT(refusal(), HasSubstr("DataLoss"));
  put("data_batch_3.bin", record("\x03", 1, 2, 3) + record("\x0a", 1, 2, 3));
  EXPECT_THAT(refusal(), HasSubstr("InvalidArgument"));
  EXPECT_THAT(refusal(), HasSubstr("data_batch_3.bin: label 10 at offset 3073: there are 10 classes"));
}

}  // namespace
}  // namespace headpond::internal
