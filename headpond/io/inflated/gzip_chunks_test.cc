// SPDX-License-Identifier: Apache-2.0
// Lines and rows of gzip files that are inflated in chunks: those of the same file inflated whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/random.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/inflated/chunk_cache_internal.h"
#include "headpond/io/inflated/gzip_chunks_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/gzip_lines.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using test::put_file;
using test::to_bytes;
using testing::HasSubstr;

std::string types_of(const Spec& fields) {
  std::string types;
  for (const FieldSpec& field : fields) types += field.name + " " + std::string(name(field.dtype)) + ", ";
  return types;
}

using Records = std::vector<std::string>;

class GzipChunksTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    youngest_indexed_ns = -1'000'000'000;
    least_chunked_bytes = 0;
    chunk_bytes = 3000;
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    youngest_indexed_ns = 2'000'000'000;
    least_chunked_bytes = uint64_t{256} << 10;
    chunk_bytes = uint64_t{1} << 20;
  }

  std::string path() const { return folder_.file("data.gz"); }
  void put(const std::string& text, int level = 6) const { put_file(path(), test::gzip(to_bytes(text), level)); }
  std::string index_file() const {
    std::string found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file("cache/headpond/records"))) {
      found = entry.path();
    }
    return found;
  }

  // Words that deflate makes blocks of.
  static std::string line_text(int lines, uint64_t seed = 1) {
    Random random(seed);
    std::string text;
    for (int i = 0; i < lines; ++i) {
      text += std::to_string(i);
      for (uint64_t words = random.below(30); words > 0; --words) text += " w" + std::to_string(random.below(100'000));
      text += i % 5 == 0 ? "\r\n" : "\n";
    }
    return text;
  }
  static std::string row_text(int rows, bool header) {
    Random random(2);
    std::string text = header ? "\xef\xbb\xbfn,\"a\nb\",x\n" : "";
    for (int i = 0; i < rows; ++i) {
      if (i % 97 == 0) text += "\r\n\n";
      text += std::to_string(i) + ",\"q\n" + std::to_string(random.below(1'000'000'000)) + "\"\"\"," +
              (i % 50 == 7 ? "" : std::to_string(random.below(1000)) + ".25") + (i % 3 == 0 ? "\r\n" : "\n");
    }
    return text;
  }

  Result<Records> chunked_lines(const LineFileOptions& options = {}, bool may_keep = true) const {
    const auto file = GzipLines::open(path(), options);
    if (!file) return fail(file.error());
    if (*file == nullptr) return fail(ErrorKind::Unknown, "refused");
    Records all;
    for (int64_t i = 0; i < (*file)->size(); ++i) {
      const auto line = (*file)->at(i, may_keep);
      all.push_back(line ? std::string(line->text) : "!" + line.error().message());
    }
    return all;
  }
  Records whole_lines(const LineFileOptions& options = {}) const {
    const auto file = LineFile::open(path(), options).value();
    Records all;
    for (int64_t i = 0; i < file->size(); ++i) {
      const auto line = file->at(i);
      all.push_back(line ? std::string(*line) : "!" + line.error().message());
    }
    return all;
  }
  static Records rows_of(const CsvFile& file) {
    Records all = {types_of(file.fields())};
    for (int64_t i = 0; i < file.size(); ++i) {
      std::vector<Tensor> row(file.fields().size());
      const auto done = file.read(i, {}, row);
      std::string text;
      for (const Tensor& cell : row) text += done ? to_string(cell) + "|" : "";
      all.push_back(done ? text : "!" + done.error().message());
    }
    return all;
  }
  Result<Records> rows(bool chunked, const CsvOptions& options = {}) const {
    least_chunked_bytes = chunked ? 0 : UINT64_MAX;
    const auto file = CsvFile::open(path(), options);
    least_chunked_bytes = 0;
    if (!file) return fail(file.error());
    EXPECT_EQ((*file)->mark().has_value(), chunked) << "control";
    return rows_of(**file);
  }

  const test::TempFolder folder_;
};

TEST_F(GzipChunksTest, HasTheLinesOfTheWholeText) {
  for (const int level : {0, 1, 9}) {
    for (const std::string end : {"", "last", "\n", "\r"}) {
      put(line_text(5000) + end, level);
      for (int time = 0; time < 2; ++time) EXPECT_EQ(chunked_lines().value(), whole_lines()) << level;
    }
  }
}

TEST_F(GzipChunksTest, SkipsWhatPrecedesTheLines) {
  put("\xef\xbb\xbf" + line_text(3000));
  for (const int64_t skipped : {0, 1, 5, 4000}) {
    for (const bool skip_bom : {false, true}) {
      const LineFileOptions options{.skip_header_lines = skipped, .skip_bom = skip_bom, .max_line_bytes = 150};
      for (int time = 0; time < 2; ++time) EXPECT_EQ(chunked_lines(options).value(), whole_lines(options));
    }
  }
}

TEST_F(GzipChunksTest, OfManyMembersAndOfLongLines) {
  std::vector<test::Bytes> members;
  for (int i = 0; i < 40; ++i)
    members.push_back(test::gzip(to_bytes(line_text(i * 7, static_cast<uint64_t>(i)) + "part ")));
  members.push_back(test::gzip(to_bytes(line_text(200) + std::string(300'000, 'x') + "\n" + line_text(200))));
  members.push_back(test::gzip({}));
  put_file(path(), test::joined(members));
  for (int time = 0; time < 2; ++time) EXPECT_EQ(chunked_lines().value(), whole_lines());
}

TEST_F(GzipChunksTest, OfNothingHasNoLines) {
  put("");
  EXPECT_EQ(chunked_lines().value(), Records());
  put("one");
  EXPECT_EQ(chunked_lines().value(), Records{"one"});
}

TEST_F(GzipChunksTest, HasTheRowsOfTheWholeText) {
  for (const bool header : {true, false}) {
    put(row_text(4000, header));
    const CsvOptions options{.header = header};
    for (int time = 0; time < 2; ++time) EXPECT_EQ(rows(true, options).value(), rows(false, options).value());
    const CsvOptions typed{
        .header = header, .columns = {{header ? "x" : "a", f32}, {header ? "n" : "b"}}, .na_values = {"0.25"}};
    if (!header) continue;
    for (int time = 0; time < 2; ++time) {
      const auto found = rows(true, typed).value();
      EXPECT_EQ(found, rows(false, typed).value()) << "errors name row, line and offset";
      EXPECT_THAT(found.at(8), HasSubstr("row 7 (line "));
    }
  }
}

TEST_F(GzipChunksTest, TellsWhatIsWrongAsTheWholeTextDoes) {
  const std::string good = row_text(2000, true);
  for (const std::string& bad :
       {good + "1,2\n", good + "\"open", good + "1,\"a\"x,3\n", std::string("a,a\n1,2\n"), std::string()}) {
    put(bad);
    const CsvOptions options{.columns = {{"a"}}};
    EXPECT_EQ(CsvFile::open(path()).has_value(), rows(false).has_value());
    const auto chunked = CsvFile::open(path(), options);
    ASSERT_FALSE(chunked);
    EXPECT_EQ(chunked.error().message(), rows(false, options).error().message());
  }
  put(good);
  for (const uint64_t limit : {uint64_t{1000}, uint64_t{good.size()}, uint64_t{good.size()} + 8 * 2000 - 1}) {
    EXPECT_EQ(CsvFile::open(path(), {.max_inflated_bytes = limit}).error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_EQ(GzipLines::open(path(), {.max_inflated_bytes = limit}).value(), nullptr);
  }
  EXPECT_TRUE(CsvFile::open(path(), {.max_inflated_bytes = good.size() + 8 * 2000}));
  put(line_text(3000));
  auto damaged = test::get_file(path());
  damaged[damaged.size() - 6] ^= std::byte{1};
  put_file(path(), damaged);
  EXPECT_EQ(GzipLines::open(path(), {}).value(), nullptr);
}

TEST_F(GzipChunksTest, ABadCellHasThePlaceThatItHasInTheWholeText) {
  const std::string good = row_text(2000, true);
  put(good + "1,2,bad\n");
  for (const auto least : {uint64_t{0}, UINT64_MAX}) {
    least_chunked_bytes = least;
    const auto file = CsvFile::open(path(), {.columns = {{"x", f32}}}).value();
    least_chunked_bytes = 0;
    std::vector<Tensor> row(1);
    const auto read = file->read(2000, {}, row);
    ASSERT_FALSE(read);
    const ErrorPlace place = read.error().place();
    EXPECT_EQ(place.source, path());
    EXPECT_EQ(place.record, 2000U);
    EXPECT_EQ(place.offset, good.size()) << "where the row begins";
    EXPECT_THAT(read.error().message(), HasSubstr(fmt::format("offset {})", good.size() + 4)));
  }
}

TEST_F(GzipChunksTest, InflatesOnlyTheChunkThatIsAskedFor) {
  put(line_text(20'000));
  ASSERT_TRUE(GzipLines::open(path(), {}));
  const auto file = GzipLines::open(path(), {}).value();
  const int64_t before = inflate_counts().bytes_out;
  ASSERT_TRUE(file->at(19'000, true));
  ASSERT_TRUE(file->at(19'001, true));
  const int64_t inflated = inflate_counts().bytes_out - before;
  EXPECT_LT(inflated, 200'000) << "of 1.5 MB";
  EXPECT_GT(inflated, 0) << "control";
}

TEST_F(GzipChunksTest, KeepsChunksInMemoryAsLongAsItMay) {
  put(line_text(5000));
  const auto file = GzipLines::open(path(), {}).value();
  const auto inflated = [&](bool may_keep) {
    const int64_t before = inflate_counts().streams;
    for (int time = 0; time < 2; ++time) {
      for (int64_t i = 0; i < file->size(); ++i) EXPECT_TRUE(file->at(i, may_keep));
    }
    return inflate_counts().streams - before;
  };
  const int64_t once = inflated(true);
  EXPECT_GT(once, 5);
  EXPECT_EQ(inflated(true), 0);
  ChunkCache::shared().clear();
  EXPECT_GE(inflated(false), 2 * once - 2) << "each chunk anew";
}

TEST_F(GzipChunksTest, LivesWithACachedIndexThatIsDamagedOrGone) {
  put(line_text(4000));
  const Records expected = chunked_lines().value();
  const auto good = test::get_file(index_file());
  for (size_t at = 0; at < good.size(); at += 1 + good.size() / test::quick_or(100, 300)) {
    auto bad = good;
    bad[at] ^= std::byte{8};
    put_file(index_file(), bad);
    const auto found = chunked_lines().value();
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      if (!found[i].starts_with('!')) {
        ASSERT_EQ(found[i], expected[i]) << at;
      }
    }
  }
  put_file(index_file(), good);
  const auto file = GzipLines::open(path(), {}).value();
  std::filesystem::remove_all(folder_.file("cache"));
  EXPECT_EQ(file->at(3999, true)->text, expected[3999]) << "from the start of the file";
  EXPECT_EQ(chunked_lines().value(), expected);
}

// With a right checksum.
TEST_F(GzipChunksTest, ACachedIndexThatIsWrongNeverGivesAWrongRecord) {
  put(line_text(4000));
  const Records expected = chunked_lines().value();
  const auto good = test::get_file(index_file());
  uint64_t rows = 0;
  std::memcpy(&rows, &good[72], 8);
  uint32_t reader = 0, name = 0;
  std::memcpy(&reader, &good[12], 4);
  std::memcpy(&name, &good[16], 4);
  const size_t table = 96 + reader + name, end = table + rows * sizeof(GzipChunks::Row);
  ASSERT_GT(rows, 5U);
  for (size_t at = 72; at < table + 4 * sizeof(GzipChunks::Row); at += at < 96 ? 1 : 3) {
    if (at >= 96 && at < table) continue;
    for (const int value : {0, 1, 0x7f, 0xff}) {
      auto bad = good;
      bad[at] = static_cast<std::byte>(value);
      const uint32_t crc = crc32c(std::span(bad).first(end));
      std::memcpy(&bad[end], &crc, 4);
      put_file(index_file(), bad);
      const auto file = GzipLines::open(path(), {}).value();
      if (file == nullptr) continue;  // More records or bytes than the limit: then the file is read whole.
      for (const int64_t i : {0, 100, 300, 500, 3999}) {
        if (i >= file->size()) continue;
        const auto line = file->at(i, true);
        if (line) {
          EXPECT_EQ(line->text, expected[static_cast<size_t>(i)]) << at << " " << value;
        }
      }
    }
  }
}

TEST_F(GzipChunksTest, OfAFileThatChangedAreMadeAnewOrRefused) {
  put(line_text(3000));
  const auto file = GzipLines::open(path(), {}).value();
  put(line_text(3000, 9));
  EXPECT_EQ(file->at(2000, true).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(chunked_lines().value(), whole_lines());
}

TEST_F(GzipChunksTest, ManyThreadsReadTheSameFile) {
  put(line_text(3000));
  const Records expected = whole_lines();
  const auto file = GzipLines::open(path(), {}).value();
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int64_t i = 0; i < file->size(); ++i) {
        const int64_t k = (i * 7 + t * 100) % file->size();
        EXPECT_EQ(file->at(k, i % 3 != 0)->text, expected[static_cast<size_t>(k)]);
      }
    });
  }
}

}  // namespace
}  // namespace headpond::internal
