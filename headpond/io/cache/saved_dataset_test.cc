// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/saved_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/test_files.h"

namespace headpond::internal {
namespace {

SavedDataset sample() {
  return {.id = "0123456789abcdef",
          .elements = 12,
          .spec = {{"image", DType::u8, {28, kUnknown}}, {"a name", DType::bytes, {}}, {"", DType::f32, {3}}}};
}

TEST(SavedDataset, IsReadAsItWasWritten) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_saved(folder.path(), sample()));
  const auto read = read_saved(folder.path());
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->id, sample().id);
  EXPECT_EQ(read->elements, 12);
  ASSERT_EQ(read->spec.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read->spec[i].name, sample().spec[i].name);
    EXPECT_EQ(read->spec[i].dtype, sample().spec[i].dtype);
    EXPECT_EQ(read->spec[i].shape, sample().spec[i].shape);
  }
}

TEST(SavedDataset, NoticesEachChangedByteAndEachCut) {
  const test::TempFolder folder;
  EXPECT_EQ(read_saved(folder.path()).error().kind(), ErrorKind::NotFound);
  ASSERT_TRUE(write_saved(folder.path(), sample()));
  const auto good = test::get_file(folder.file("dataset"));
  for (size_t at = 0; at < good.size(); ++at) {
    auto bad = good;
    bad[at] ^= std::byte{1};
    test::put_file(folder.file("dataset"), bad);
    EXPECT_EQ(read_saved(folder.path()).error().kind(), ErrorKind::DataLoss) << at;
    test::put_file(folder.file("dataset"), std::span(good).first(at));
    EXPECT_EQ(read_saved(folder.path()).error().kind(), ErrorKind::DataLoss) << at;
  }
}

TEST(SavedDataset, RefusesANameThatIsTwoLines) {
  const test::TempFolder folder;
  SavedDataset saved = sample();
  saved.spec[0].name = "a\nb";
  EXPECT_EQ(write_saved(folder.path(), saved).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
