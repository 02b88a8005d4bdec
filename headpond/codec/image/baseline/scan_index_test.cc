// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/base/random.h"
#include "headpond/codec/image/baseline/scan_index_internal.h"

namespace headpond::jpeg_internal {
namespace {

using testing::HasSubstr;

ScanIndex some_index(int components, int64_t rows, int64_t points_a_row) {
  ScanIndex index = {.file_bytes = 100'000, .file_digest = 0x0123456789abcdef, .components = components, .interval = 3};
  index.rows = rows;
  index.points_a_row = points_a_row;
  Random random(5);
  ScanPoint point;
  for (int64_t i = 0; i < rows * points_a_row; ++i) {
    point.bit += random.below(3'000);
    for (int c = 0; c < components; ++c) {
      point.dc[static_cast<size_t>(c)] = static_cast<int32_t>(random.below(4'001)) - 2'000;
    }
    index.points.push_back(point);
  }
  return index;
}

TEST(ScanIndex, IsReadAsItWasWritten) {
  ScanIndex read = some_index(3, 9, 9);  // Its memory is used again.
  for (const int components : {1, 3}) {
    const ScanIndex index = some_index(components, 4, 5);
    const auto bytes = to_bytes(index);
    EXPECT_LE(bytes.size(), 29U + 20U * (3U + 2U * static_cast<size_t>(components)));
    ASSERT_TRUE(read_index(bytes, "a.jpg", read));
    EXPECT_EQ(read.points, index.points);
    EXPECT_EQ(read.components, components);
    EXPECT_EQ(read.interval, 3);
    EXPECT_EQ(read.rows, 4);
    EXPECT_EQ(read.points_a_row, 5);
    EXPECT_EQ(read.file_bytes, index.file_bytes);
    EXPECT_EQ(read.file_digest, index.file_digest);
    EXPECT_EQ(read.at(2, 0), index.points[10]);
    EXPECT_EQ(read.at(2, 8), index.points[12]);
  }
}

TEST(ScanIndex, BelongsToOneFile) {
  std::vector<std::byte> file(300, std::byte{7});
  ScanIndex index;
  mark_file(file, index);
  EXPECT_TRUE(is_of_file(index, file));
  file.push_back(std::byte{7});
  EXPECT_FALSE(is_of_file(index, file));
  file.pop_back();
  file[200] = std::byte{8};
  EXPECT_FALSE(is_of_file(index, file));
}

TEST(ScanIndex, AnyDamageIsFound) {
  const auto bytes = to_bytes(some_index(3, 2, 2));
  ScanIndex index;
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] ^= std::byte{0x10};
    const auto read = read_index(damaged, "a.jpg", index);
    ASSERT_FALSE(read) << i;
    EXPECT_EQ(read.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(read.error().message(), HasSubstr("a.jpg: the index of the JPEG file is damaged: it"));
    EXPECT_FALSE(read_index(std::span(bytes).first(i), "a.jpg", index)) << i;
  }
}

// What to_bytes() writes has the right checksum, whatever it is of.
TEST(ScanIndex, ContentThatContradictsItselfIsRefused) {
  ScanIndex index;
  const auto is_read = [&](const ScanIndex& from) { return read_index(to_bytes(from), "a.jpg", index).has_value(); };
  const ScanIndex good = some_index(3, 2, 2);
  EXPECT_TRUE(is_read(good)) << "control";
  ScanIndex bad = good;
  bad.rows = 3;
  EXPECT_FALSE(is_read(bad));
  bad.rows = 1;
  EXPECT_FALSE(is_read(bad));
  bad.rows = 0;
  EXPECT_FALSE(is_read(bad));
  bad.rows = bad.points_a_row = 65'536;
  EXPECT_FALSE(is_read(bad)) << "asks for much memory";
  bad = good;
  bad.interval = 0;
  EXPECT_FALSE(is_read(bad));
  bad = good;
  bad.components = 2;
  EXPECT_FALSE(is_read(bad));
  bad = good;
  bad.points[3].dc[1] = 40'000;
  EXPECT_FALSE(is_read(bad));
  bad = good;
  bad.points[3].bit = 800'001;
  EXPECT_FALSE(is_read(bad)) << "after the end of the file";
}

}  // namespace
}  // namespace headpond::jpeg_internal
