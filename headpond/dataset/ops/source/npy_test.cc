// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NpyFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(*shape.size()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 2;
    EXPECT_TRUE(write_npy(folder_.file(name), Tensor::from(std::span<const float>(values), shape)));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(NpyFiles, AreRows) {
  const Dataset dataset = npy({write("1", {2, 2}), write("2", {0, 2}), write("3", {1, 2})});
  EXPECT_EQ(to_string(dataset.spec()), "{0: float32[2]}");
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("[0 0.5] #0", "[1 1.5] #1", "[0 0.5] #2"));
  EXPECT_TRUE(fills(*(dataset | shuffle()).node()));
  check_contract(dataset | shuffle() | batch(2));
}

TEST_F(NpyFiles, ThatDisagreeOrShrinkAreNamed) {
  const std::string path = write("1", {300, 20});
  EXPECT_FALSE(check(npy({path, write("2", {3, 21})})));
  EXPECT_THROW((void)npy(std::vector<std::string>()), Exception);
  EXPECT_THROW((void)npy(folder_.file("none")), Exception);
  const Dataset dataset = npy(path);
  ASSERT_TRUE(check(dataset));
  std::filesystem::resize_file(path, 200);
  EXPECT_THAT(elements(dataset | skip(299)), ElementsAre(HasSubstr("!DataLoss")));
}

}  // namespace
}  // namespace headpond::internal
