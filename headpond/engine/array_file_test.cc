// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/array_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/array/npy.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

constexpr int64_t kArrayRows = 40;

// Rows of 3 numbers; those of a later version differ.
Dataset array_rows(int version = 0) {
  const auto row = [version](int64_t i) {
    const std::vector<int32_t> values = {static_cast<int32_t>(i), version, -1};
    return Tensor::from(std::span<const int32_t>(values), {3});
  };
  return range(kArrayRows) | map(row, {.output = {{"", DType::i32, {3}}}, .name = "row", .version = version});
}

class ArrayFiles : public testing::Test {
 protected:
  // Writes until `rows` are there, as an interrupted run.
  void write_part(int64_t rows) {
    const auto part = write_npy(array_rows(), path_, {.progress = [rows](int64_t done) { return done < rows; }});
    ASSERT_FALSE(part);
    EXPECT_EQ(part.error().kind(), ErrorKind::Cancelled);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  std::string error_of_resume(int version = 0) {
    const auto report = write_npy(array_rows(version), path_, {.resume = true});
    return report ? "" : report.error().to_string();
  }
  test::TempFolder folder_;
  const std::string path_ = folder_.file("sub/rows.npy");
};

TEST_F(ArrayFiles, HoldTheElementsInTheirOrder) {
  const auto report = write_npy(array_rows(), path_, {.threads = 2});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->rows, kArrayRows);
  EXPECT_EQ(report->resumed_from, 0);
  EXPECT_EQ(report->bytes, std::filesystem::file_size(path_));
  const auto all = read_npy(path_);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->shape(), (Shape{kArrayRows, 3}));
  EXPECT_EQ(all->as<int32_t>()[3 * 17], 17);
  EXPECT_EQ(npy(path_).spec()[0].shape, (Shape{3}));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".partial"));
}

TEST_F(ArrayFiles, HaveTheSameBytesAfterAnInterruption) {
  ASSERT_TRUE(write_npy(array_rows(), path_));
  const auto whole = test::get_file(path_);
  std::filesystem::remove(path_);
  for (const int64_t rows : {int64_t{1}, int64_t{17}, kArrayRows}) {
    write_part(rows);
    const auto resumed = write_npy(array_rows(), path_, {.resume = true, .threads = 0});
    ASSERT_TRUE(resumed) << resumed.error().to_string();
    EXPECT_EQ(resumed->resumed_from, rows);
    EXPECT_EQ(test::get_file(path_), whole);
    std::filesystem::remove(path_);
  }
}

TEST_F(ArrayFiles, DropRowsThatWereNotBroughtToTheDisk) {
  ASSERT_TRUE(write_npy(array_rows(), path_));
  const auto whole = test::get_file(path_);
  std::filesystem::remove(path_);
  write_part(17);
  auto partial = test::get_file(path_ + ".partial");
  partial.insert(partial.end(), 13, std::byte{0xee});  // What a kill leaves.
  test::put_file(path_ + ".partial", partial);
  ASSERT_EQ(error_of_resume(), "");
  EXPECT_EQ(test::get_file(path_), whole);
  std::filesystem::remove(path_);
  write_part(17);
  std::filesystem::resize_file(path_ + ".partial", 150);  // Shorter than was promised: from the beginning.
  ASSERT_EQ(error_of_resume(), "");
  EXPECT_EQ(test::get_file(path_), whole);
}

TEST_F(ArrayFiles, AreNotWrittenTwiceUnlessTheyChanged) {
  ASSERT_TRUE(write_npy(array_rows(), path_));
  const auto whole = test::get_file(path_);
  EXPECT_EQ(write_npy(array_rows(), path_, {.resume = true})->resumed_from, kArrayRows);
  auto damaged = whole;
  damaged.back() ^= std::byte{1};
  test::put_file(path_, damaged);
  EXPECT_EQ(write_npy(array_rows(), path_, {.resume = true})->resumed_from, 0);
  EXPECT_EQ(test::get_file(path_), whole);
}

TEST_F(ArrayFiles, OfAnotherDatasetAreRefusedByAResumeAndReplacedWithoutOne) {
  write_part(5);
  EXPECT_THAT(error_of_resume(1), HasSubstr("FailedPrecondition: cannot continue"));
  const auto other = write_npy(array_rows(1), path_);
  ASSERT_TRUE(other) << other.error().to_string();
  EXPECT_EQ(read_npy(path_)->as<int32_t>()[1], 1);
}

TEST_F(ArrayFiles, EndAtAnErrorAndKeepWhatCameBefore) {
  const auto bad = [](const Tensor& row) -> Result<Tensor> {
    if (row.as<int32_t>()[0] == 9) return fail(ErrorKind::DataLoss, "smudged");
    return row;
  };
  const Dataset rows = array_rows() | map(bad, {.output = {{"", DType::i32, {3}}}, .name = "bad"});
  const auto report = write_npy(rows, path_);
  ASSERT_FALSE(report);
  EXPECT_THAT(report.error().to_string(), HasSubstr("smudged"));
  EXPECT_EQ(std::filesystem::file_size(path_ + ".partial"), npy_header(DType::i32, {kArrayRows, 3})->size() + 9 * 12);
}

TEST_F(ArrayFiles, NeedPositionsAndOneFieldOfAFixedShape) {
  EXPECT_THROW((void)write_npy(counter(), path_), Exception);
  EXPECT_THROW((void)write_npy(range(3) | map([](int64_t) { return std::string("x"); }, {.name = "x"}), path_),
               Exception);
  EXPECT_THROW((void)write_npy(zip({range(3), range(3)}), path_), Exception);
  EXPECT_THROW((void)write_npy(array_rows(), folder_.path() + "/"), Exception);
  EXPECT_TRUE(write_npy(range(0), path_));
}

}  // namespace
}  // namespace headpond
