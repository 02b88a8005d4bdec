// SPDX-License-Identifier: Apache-2.0
// The first pass. gzip_chunks_test.cc has what is kept of it.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

// A header that ends with '#', then records that end with ';'; spaces are between records.
ChunkFormat format(std::vector<std::string>& seen) {
  const auto ends_at = [](std::string_view text, char end) {
    const size_t at = text.find(end);
    return at == std::string_view::npos ? std::nullopt : std::optional(at + 1);
  };
  return {.reader = "test",
          .header = [ends_at](std::string_view text, bool) { return ends_at(text, '#'); },
          .next = [ends_at](std::string_view text, bool) -> std::optional<ChunkFormat::Found> {
            if (text[0] == ' ') return ChunkFormat::Found{1, 1, false};
            const auto end = ends_at(text, ';');
            return end ? std::optional(ChunkFormat::Found{.end = *end}) : std::nullopt;
          },
          .visit =
              [&seen](std::string_view text, bool is_header) {
                seen.push_back((is_header ? "header " : "") + std::string(text));
                return text != "refused;";
              }};
}

class FirstPass : public testing::Test {
 protected:
  std::shared_ptr<GzipChunks> open(const std::string& text, uint64_t limit = UINT64_MAX) {
    seen_.clear();
    test::put_file(folder_.file("t"), test::gzip(test::to_bytes(text)));
    return GzipChunks::open(folder_.file("t"), format(seen_), {.max_inflated_bytes = limit, .keep_index = false})
        .value();
  }

  const test::TempFolder folder_;
  std::vector<std::string> seen_;
};

TEST_F(FirstPass, ShowsTheHeaderAndEachRecordInOrder) {
  const auto file = open("head#a; bc;  d;");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(seen_, (std::vector<std::string>{"header head#", "a;", "bc;", "d;"}));
  EXPECT_EQ(file->size(), 3);
  EXPECT_EQ(file->header(), "head#");
  EXPECT_EQ(file->chunk_of(1, true).value()->record(1), "bc;  ") << "up to the next one";
}

TEST_F(FirstPass, RefusesWhatTheOtherReaderTells) {
  EXPECT_EQ(open("head#a;refused;b;"), nullptr);
  EXPECT_EQ(seen_.back(), "refused;");
  EXPECT_EQ(open("no end of the header"), nullptr);
  EXPECT_EQ(open("head#a;b"), nullptr) << "the last record has no end";
  EXPECT_EQ(open("h#a;b;", 6 + 16 - 1), nullptr);
  EXPECT_NE(open("h#a;b;", 6 + 16), nullptr);
  EXPECT_NE(open("h#"), nullptr);
}

TEST_F(FirstPass, OfARecordThatIsMuchLongerThanAPiece) {
  const std::string text = "h#a;" + std::string(3'000'000, 'x') + ";b;";
  const auto file = open(text);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->size(), 3);
  EXPECT_EQ(file->chunk_of(1, true).value()->record(1).size(), 3'000'001U);
}

}  // namespace
}  // namespace headpond::internal
