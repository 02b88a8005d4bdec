// SPDX-License-Identifier: Apache-2.0
// gzip_chunks_test.cc compares all lines with those of LineFile.
#include "headpond/io/text/gzip_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

TEST(GzipLines, AreThoseOfLargeGzipFilesOnly) {
  const test::TempFolder folder;
  const std::string path = folder.file("t");
  const LineFileOptions options{.keep_index = false};
  std::string text = "a\n";
  for (int i = 0; i < 200'000; ++i) text += std::to_string(i * 2654435761U % 1'000'003) + "\n";
  test::put_file(path, test::gzip(test::to_bytes("a\nb\n")));
  EXPECT_EQ(GzipLines::open(path, options).value(), nullptr) << "small";
  test::put_file(path, test::to_bytes(text));
  EXPECT_EQ(GzipLines::open(path, options).value(), nullptr) << "plain";
  EXPECT_EQ(GzipLines::open(folder.file("none"), options).value(), nullptr);
  test::put_file(path, test::gzip(test::to_bytes(text)));
  const auto file = GzipLines::open(path, options).value();
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 200'001);
  EXPECT_EQ(file->at(0, true)->text, "a");
  EXPECT_EQ(file->at(2, true)->text, std::to_string(2654435761U % 1'000'003));
  EXPECT_EQ(file->mark().size, test::get_file(path).size());
}

TEST(GzipLines, TellALineThatIsTooLongWithItsNumberAndOffset) {
  const test::TempFolder folder;
  const uint64_t least = least_chunked_bytes.exchange(0);
  test::put_file(folder.file("t"), test::gzip(test::to_bytes("head\nab\ntoo long\r\nc\n")));
  const auto file =
      GzipLines::open(folder.file("t"), {.skip_header_lines = 1, .max_line_bytes = 4, .keep_index = false}).value();
  EXPECT_EQ(file->at(0, true)->text, "ab");
  EXPECT_EQ(file->at(1, true).error().message(),
            folder.file("t") + ", line 3 at offset 8: 8 bytes in a line, at most 4 (max_line_bytes)");
  EXPECT_EQ(file->at(2, true)->text, "c");
  least_chunked_bytes = least;
}

}  // namespace
}  // namespace headpond::internal
