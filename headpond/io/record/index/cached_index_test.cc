// SPDX-License-Identifier: Apache-2.0
// Lines, rows and samples by a cached index: the same records, whatever becomes of file and index.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/archive/tar_sample_file.h"
#include "headpond/io/archive/tar_test_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"
#include "headpond/io/text/csv.h"
#include "headpond/io/text/line_file.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::put_file;
using test::to_bytes;
using testing::HasSubstr;

std::string types_of(const Spec& fields) {
  std::string types;
  for (const FieldSpec& field : fields) types += field.name + " " + std::string(name(field.dtype)) + ", ";
  return types;
}

struct Read {
  std::vector<std::string> records = {};
  bool was_cached = false;
};

// A kind of file: its content with so many records, each with a number, and what a reader finds.
struct Format {
  const char* name;
  std::string (*content)(int records, char letter);
  Result<Read> (*read)(const std::string& path, std::shared_ptr<const RecordIndex> known);
  std::shared_ptr<const RecordIndex> (*index)(const std::string& path);
};

std::string lines(int records, char letter) {
  std::string text = "header\n";
  for (int i = 0; i < records; ++i) {
    text += std::to_string(i) + std::string(static_cast<size_t>(i % 50), letter) + (i % 3 == 0 ? "\r\n" : "\n");
  }
  return text + "last";
}

Result<Read> read_lines(const std::string& path, std::shared_ptr<const RecordIndex> known) {
  const auto file = LineFile::open(path, {.skip_header_lines = 1}, std::move(known));
  if (!file) return fail(file.error());
  Read read{.was_cached = (*file)->index_was_kept()};
  for (int64_t i = 0; i < (*file)->size(); ++i) {
    const auto line = (*file)->at(i);
    read.records.emplace_back(line ? std::string(*line) : "!" + line.error().message());
  }
  return read;
}

std::string rows(int records, char letter) {
  std::string text =
      "\xef\xbb\xbf"
      "a,b,c\n";
  for (int i = 0; i < records; ++i) {
    if (i % 100 == 0) text += "\n\r\n";
    text += std::to_string(i) + ",\"" + std::string(static_cast<size_t>(i % 30), letter) + "\n,\"," +
            (i == 700 ? "" : std::to_string(i) + ".5") + "\r\n";
  }
  return text;
}

Result<Read> read_rows(const std::string& path, std::shared_ptr<const RecordIndex> known) {
  const auto file = CsvFile::open(path, {}, std::move(known));
  if (!file) return fail(file.error());
  Read read{.was_cached = (*file)->index_was_kept()};
  std::string types;
  for (const FieldSpec& field : (*file)->fields()) types += name(field.dtype);
  read.records.push_back(types);
  for (int64_t i = 0; i < (*file)->size(); ++i) {
    std::vector<Tensor> row(3);
    const auto done = (*file)->read(i, {}, row);
    std::string text;
    for (const Tensor& cell : row) text += done ? to_string(cell) + "|" : "";
    read.records.push_back(done ? text : "!" + done.error().message());
  }
  return read;
}

std::string samples(int records, char letter) {
  std::string archive;
  const std::string folder(150, 'd');
  for (int i = 0; i < records; ++i) {
    const std::string key = (i % 7 == 0 ? folder + "/" : "") + std::to_string(i);
    EXPECT_TRUE(append_tar_member(archive, key + ".TXT", std::string(static_cast<size_t>(i % 70), letter)));
    if (i % 5 == 0) {
      EXPECT_TRUE(append_tar_member(archive, "README", "x"));
    }
    EXPECT_TRUE(append_tar_member(archive, key + ".cls", std::to_string(i)));
  }
  return archive + test::end();
}

Result<Read> read_samples(const std::string& path, std::shared_ptr<const RecordIndex> known) {
  const auto file = internal::TarSampleFile::open(path, std::move(known));
  if (!file) return fail(file.error());
  Read read{.was_cached = (*file)->index_was_kept()};
  for (int64_t i = 0; i < (*file)->size(); ++i) {
    const auto sample = (*file)->at(i);
    std::string text = sample ? sample->key : "!" + sample.error().message();
    if (sample) {
      EXPECT_EQ((*file)->lasting_key(i, *sample), sample->key);
    }
    for (size_t p = 0; sample && p < sample->parts.size(); ++p) {
      const auto& part = sample->parts[p];
      const auto bytes = (*file)->file().bytes().subspan(part.offset, part.size);
      text += "|" + part.extension + "=" + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    read.records.push_back(text);
  }
  return read;
}

const Format kFormats[] = {
    {"lines", lines, read_lines,
     [](const std::string& path) { return LineFile::open(path, {.skip_header_lines = 1}).value()->index(); }},
    {"csv", rows, read_rows, [](const std::string& path) { return CsvFile::open(path).value()->index(); }},
    {"tar", samples, read_samples,
     [](const std::string& path) { return internal::TarSampleFile::open(path).value()->index(); }},
};

class CachedFile : public testing::Test {
 protected:
  static constexpr int kRecords = 10'000;
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.file("cache").c_str(), 1);
    internal::youngest_indexed_ns = -1'000'000'000;
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    internal::youngest_indexed_ns = 2'000'000'000;
  }
  std::string path() const { return folder_.file("data"); }
  void put(const std::string& content) const { put_file(path(), to_bytes(content)); }
  std::string index_file() const {
    std::string found;
    const std::string folder = folder_.file("cache/headpond/records");
    if (!std::filesystem::exists(folder)) return "";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) found = entry.path();
    return found;
  }

  const test::TempFolder folder_;
};

class CachedIndexTest : public CachedFile, public testing::WithParamInterface<Format> {
 protected:
  std::string content(int records = kRecords, char letter = 'x') const {
    const int share = GetParam().read == read_samples ? 10 : GetParam().read == read_rows ? 3 : 1;  // The slower ones.
    return GetParam().content(records / share, letter);
  }
  Read read(std::shared_ptr<const RecordIndex> known = nullptr) const {
    auto found = GetParam().read(path(), std::move(known));
    EXPECT_TRUE(found) << found.error();
    return found ? *found : Read();
  }
};

TEST_P(CachedIndexTest, GivesTheRecordsThatTheFirstPassFound) {
  put(content());
  const Read first = read(), second = read();
  EXPECT_FALSE(first.was_cached);
  EXPECT_TRUE(second.was_cached);
  EXPECT_GT(first.records.size(), 900U);
  EXPECT_EQ(second.records, first.records);
  for (const std::string& record : first.records) EXPECT_FALSE(record.starts_with('!')) << record;
}

TEST_P(CachedIndexTest, TakesAtMostEightBytesARecord) {
  put(content());
  const auto index = GetParam().index(path());
  ASSERT_NE(index, nullptr);
  EXPECT_LE(std::filesystem::file_size(index_file()), 8 * index->size() + 500);
  EXPECT_LE(index->extra().size(), 100U);
}

TEST_P(CachedIndexTest, OfAFileThatChangedIsMadeAnew) {
  put(content());
  (void)read();
  put(content(kRecords, 'y'));  // The same size and offsets.
  const Read changed = read();
  EXPECT_FALSE(changed.was_cached);
  EXPECT_NE(changed.records.at(12).find('y'), std::string::npos);
  EXPECT_TRUE(read().was_cached);
  put(content(kRecords + 100));
  EXPECT_FALSE(read().was_cached);
}

TEST_P(CachedIndexTest, OfAFileWithItsOldTimeIsMadeAnew) {
  put(content());
  const auto time = std::filesystem::last_write_time(path());
  (void)read();
  put(content(kRecords, 'y'));
  std::filesystem::last_write_time(path(), time);
  EXPECT_FALSE(read().was_cached);
}

TEST_P(CachedIndexTest, OfAFileThatChangedJustNowIsNotKept) {
  internal::youngest_indexed_ns = 3'600'000'000'000;
  put(content());
  (void)read();
  EXPECT_FALSE(read().was_cached);
  EXPECT_EQ(index_file(), "");
}

TEST_P(CachedIndexTest, KnownToTheCallerIsUsedUnlessTheFileChanged) {
  put(content());
  const auto known = GetParam().index(path());
  std::filesystem::remove_all(folder_.file("cache"));
  const Read again = read(known);
  EXPECT_TRUE(again.was_cached);
  std::filesystem::remove_all(folder_.file("cache"));
  EXPECT_EQ(read().records, again.records);
  put(content(kRecords, 'y'));
  EXPECT_FALSE(read(known).was_cached);
}

TEST_P(CachedIndexTest, ThatIsDamagedIsMadeAnew) {
  put(content());
  const Read expected = read();
  const auto good = test::get_file(index_file());
  for (const size_t at : {size_t{0}, size_t{20}, size_t{60}, good.size() / 2, good.size() - 1}) {
    auto bad = good;
    bad[at] ^= std::byte{4};
    put_file(index_file(), bad);
    const Read found = read();
    EXPECT_FALSE(found.was_cached) << at;
    EXPECT_EQ(found.records, expected.records) << at;
    EXPECT_EQ(test::get_file(index_file()), good) << "and kept anew";
  }
  put_file(index_file(), std::span(good).first(30));
  EXPECT_EQ(read().records, expected.records);
}

TEST_P(CachedIndexTest, ThatIsTornIsMadeAnew) {
  put(content());
  const Read expected = read();
  const auto good = test::get_file(index_file());
  ASSERT_GT(good.size(), 4096U);
  for (const size_t whole : {size_t{0}, size_t{4096}, (good.size() - 1) / 4096 * 4096, good.size() - 1}) {
    for (const auto& torn : test::torn_after(whole, good)) {
      put_file(index_file(), torn);
      const Read found = read();
      EXPECT_FALSE(found.was_cached) << whole;
      EXPECT_EQ(found.records, expected.records) << whole;
      EXPECT_EQ(test::get_file(index_file()), good) << whole;
    }
  }
  EXPECT_TRUE(read().was_cached) << "control";
}

// An index with a right checksum and wrong offsets, as only somebody who wants to do harm would write it.
TEST_P(CachedIndexTest, ThatIsWrongNeverGivesAWrongRecord) {
  put(content());
  const Read expected = read();
  const auto good = test::get_file(index_file());
  const size_t table =
      good.size() - 4 - GetParam().index(path())->extra().size() - 4 * (GetParam().index(path())->size() + 1);
  for (const int shift : {-3, -1, 1, 2, 7, 512}) {
    auto bad = good;
    for (const size_t record : {50U, 400U, 701U}) {
      uint32_t offset = 0;
      std::memcpy(&offset, &bad[table + 4 * record], 4);
      offset += static_cast<uint32_t>(shift);
      std::memcpy(&bad[table + 4 * record], &offset, 4);
    }
    const uint32_t crc = masked_crc32c(std::span(bad).first(bad.size() - 4));
    std::memcpy(&bad[bad.size() - 4], &crc, 4);
    put_file(index_file(), bad);
    const Read found = read();
    if (!found.was_cached) {
      EXPECT_EQ(found.records, expected.records) << shift;
      put_file(index_file(), good);
      continue;
    }
    int refused = 0;
    ASSERT_EQ(found.records.size(), expected.records.size());
    for (size_t i = 0; i < found.records.size(); ++i) {
      refused += found.records[i].starts_with('!') ? 1 : 0;
      if (!found.records[i].starts_with('!')) {
        EXPECT_EQ(found.records[i], expected.records[i]) << shift << " " << i;
      }
    }
    EXPECT_GE(refused, 3) << shift;
  }
}

TEST_P(CachedIndexTest, GoesOnWithoutACacheFolderThatCanBeWritten) {
  put_file(folder_.file("cache"), {});
  put(content());
  const Read first = read();
  EXPECT_EQ(read().records, first.records);
  EXPECT_FALSE(read().was_cached);
}

INSTANTIATE_TEST_SUITE_P(Formats, CachedIndexTest, testing::ValuesIn(kFormats),
                         [](const testing::TestParamInfo<Format>& info) { return std::string(info.param.name); });

TEST_F(CachedFile, OfLinesBelongsToItsOptions) {
  put(lines(kRecords, 'x'));
  const auto first = [&](const LineFileOptions& options) {
    const auto file = LineFile::open(path(), options).value();
    return std::pair(std::string(file->at(0).value()), file->index_was_kept());
  };
  EXPECT_EQ(first({}), std::pair(std::string("header"), false));
  EXPECT_EQ(first({}), std::pair(std::string("header"), true));
  EXPECT_EQ(first({.skip_header_lines = 2}), std::pair(std::string("1x"), false));
  EXPECT_EQ(first({.skip_header_lines = 2}), std::pair(std::string("1x"), true));
  EXPECT_FALSE(first({.keep_index = false}).second);
  EXPECT_EQ(LineFile::open(path(), {.max_line_bytes = 7}).value()->at(1).value(), "0");
}

TEST_F(CachedFile, OfRowsBelongsToItsOptions) {
  put(rows(kRecords, 'x'));
  const auto type = [&](const CsvOptions& options) {
    const auto file = CsvFile::open(path(), options).value();
    return std::pair(types_of(file->fields()), file->index_was_kept());
  };
  EXPECT_EQ(type({}), std::pair(std::string("a int64, b bytes, c float32, "), false));
  EXPECT_EQ(type({}), std::pair(std::string("a int64, b bytes, c float32, "), true));
  const CsvOptions chosen{.columns = {{"c"}, {"a", f32}}};
  EXPECT_EQ(type(chosen), std::pair(std::string("c float32, a float32, "), false));
  EXPECT_EQ(type(chosen), std::pair(std::string("c float32, a float32, "), true));
  EXPECT_FALSE(type({.max_row_bytes = 1000}).second);
  EXPECT_FALSE(type({.keep_index = false}).second);
}

TEST_F(CachedFile, OfRowsKnowsTheLinesForErrors) {
  std::string text = "a,b\n";
  for (int i = 0; i < 20'000; ++i) text += i == 15'000 ? "\n\nx,1\n" : "1,2\n";
  put(text);
  const CsvOptions options{.columns = {{"a", i64}}};
  std::string first;
  for (const bool was_cached : {false, true}) {
    const auto file = CsvFile::open(path(), options).value();
    EXPECT_EQ(file->index_was_kept(), was_cached);
    std::vector<Tensor> out(1);
    const std::string message = file->read(15'000, {}, out).error().message();
    EXPECT_THAT(message, HasSubstr("row 15000 (line 15004, offset 60006)"));
    if (was_cached) {
      EXPECT_EQ(message, first);
    }
    first = message;
  }
}

TEST_F(CachedFile, HasNoOffsetsOfAnArchiveWithAHeaderForAllMembers) {
  std::string archive;
  for (int i = 0; i < 100; ++i) archive += test::file(std::to_string(i) + ".txt", std::string(900, 'x'));
  put(test::pax("15 foo=comment\n", 'g') + archive + test::end());
  EXPECT_NE(internal::TarSampleFile::open(path()).value()->index(), nullptr) << "it says nothing of names and sizes";
  put(test::pax("12 size=900\n", 'g') + archive + test::end());
  for (int time = 0; time < 2; ++time) {
    const auto file = internal::TarSampleFile::open(path()).value();
    EXPECT_EQ(file->index(), nullptr);
    ASSERT_EQ(file->size(), 100);
    EXPECT_EQ(file->at(7).value().key, "7");
    EXPECT_EQ(file->lasting_key(7, file->at(7).value()), "7");
  }
}

}  // namespace
}  // namespace headpond
