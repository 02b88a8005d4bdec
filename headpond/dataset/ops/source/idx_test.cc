// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/idx.h"

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class IdxFiles : public testing::Test {
 protected:
  IdxFiles() {
    const std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 6}, labels = {7, 8, 9};
    EXPECT_TRUE(write_idx(images_, Tensor::from(std::span<const uint8_t>(pixels), {3, 2})));
    EXPECT_TRUE(write_idx(labels_, Tensor::from(std::span<const uint8_t>(labels), {3})));
  }
  test::TempFolder folder_;
  const std::string images_ = folder_.file("images"), labels_ = folder_.file("labels");
};

TEST_F(IdxFiles, AreImagesBesideTheirLabels) {
  const Dataset dataset = idx(images_, labels_);
  EXPECT_EQ(to_string(dataset.spec()), "{'image': uint8[2], 'label': uint8[]}");
  EXPECT_THAT(elements(dataset), ElementsAre("[1 2], 7", "[3 4], 8", "[5 6], 9"));
  EXPECT_THAT(elements(idx(labels_)), ElementsAre("7", "8", "9"));
  EXPECT_THAT(dataset.plan(), HasSubstr(images_));
}

TEST_F(IdxFiles, NameTheRecordInAnError) {
  const auto bad = [](const Tensor&, uint8_t label) -> Result<int64_t> {
    if (label == 8) return fail(ErrorKind::DataLoss, "smudged");
    return label;
  };
  EXPECT_THAT(elements(idx(images_, labels_) | map(bad)),
              ElementsAre("7", HasSubstr(images_ + ", record 1: smudged"), "9"));
}

TEST_F(IdxFiles, OfOtherValuesRefuseTheState) {
  const Dataset both = idx(images_, labels_), alone = idx(images_);
  Sequence of_both(both), of_one(alone);
  (void)of_both.next();
  (void)of_one.next();
  EXPECT_TRUE(Sequence::restored(idx(images_, labels_), {}, of_both.state())) << "control: read once more";
  const std::vector<uint8_t> pixels = {1, 2, 3, 4, 5, 7};
  ASSERT_TRUE(write_idx(images_, Tensor::from(std::span<const uint8_t>(pixels), {3, 2})));
  const auto refused = Sequence::restored(idx(images_, labels_), {}, of_both.state());
  ASSERT_FALSE(refused) << "a file of the same name and size, but with one other pixel";
  EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(refused.error().message(), HasSubstr("uint8[3,2], crc32c "));
  EXPECT_FALSE(Sequence::restored(idx(images_), {}, of_one.state()));
}

TEST_F(IdxFiles, KeepTheContract) { check_contract(idx(images_, labels_) | shuffle() | batch(2)); }

TEST_F(IdxFiles, ThatAreMissingOrOfDifferentLengthsAreRefusedByName) {
  try {
    (void)idx(folder_.file("none"));
    FAIL();
  } catch (const Exception& e) {
    EXPECT_EQ(e.error().kind(), ErrorKind::NotFound);
    EXPECT_THAT(e.what(), HasSubstr("none"));
  }
  ASSERT_TRUE(write_idx(labels_, Tensor::empty(u8, {2})));
  EXPECT_THROW((void)idx(images_, labels_), Exception);
}

}  // namespace
}  // namespace headpond::internal
