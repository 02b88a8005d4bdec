// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/fixed_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "headpond/io/file/system_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::HasSubstr;

struct Records {
  std::string texts;  // Joined by '|'.
  std::string error;
  bool operator==(const Records&) const = default;
};
void PrintTo(const Records& records, std::ostream* out) { *out << records.texts << " then " << records.error; }

void add(Records& records, std::span<const std::byte> record) {
  records.texts += records.texts.empty() ? "" : "|";
  records.texts.append(reinterpret_cast<const char*>(record.data()), record.size());
}

Records in_order(FixedLengthReader reader) {
  Records all;
  while (true) {
    const auto record = reader.next();
    if (!record) all.error = record.error().message();
    if (!record || !*record) return all;
    add(all, **record);
  }
}

// The same by random access.
Records each(const std::string& path, const FixedLengthOptions& options) {
  Records all;
  const auto file = FixedLengthFile::open(path, options);
  if (!file) return {"", file.error().message()};
  std::vector<std::byte> record(options.record_bytes <= 100 ? options.record_bytes : 0);
  for (int64_t i = 0; i < file->size(); ++i) {
    EXPECT_TRUE(file->read(i, record));
    add(all, record);
  }
  if (const auto whole = file->whole(); !whole) all.error = whole.error().message();
  return all;
}

struct Case {
  std::string file;
  FixedLengthOptions options;
  std::string texts;
  std::string error = "";
};

const std::vector<Case> kCases = {
    {"", {.record_bytes = 3}, ""},
    {"abcdef", {.record_bytes = 3}, "abc|def"},
    {"abcdef", {.record_bytes = 6}, "abcdef"},
    {"abcdefg", {.record_bytes = 3}, "abc|def", "f, record 2 at offset 6: 1 bytes are left of 3 (and a footer of 0)"},
    {"ab", {.record_bytes = 3}, "", "f, record 0 at offset 0: 2 bytes are left of 3 (and a footer of 0)"},
    {"HHabcdF", {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1}, "ab|cd"},
    {"HHF", {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1}, ""},
    {"HHabcF",
     {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1},
     "ab",
     "f, record 1 at offset 4: 1 bytes are left of 2 (and a footer of 1)"},
    {"HH",
     {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1},
     "",
     "f has 2 bytes, fewer than its header of 2 and its footer of 1"},
    {"H",
     {.record_bytes = 2, .header_bytes = 2, .footer_bytes = 1},
     "",
     "f has 1 bytes, fewer than its header of 2 and its footer of 1"},
    {"abcde", {.record_bytes = 3, .hop_bytes = 1}, "abc|bcd|cde"},
    {"HabcdeFF", {.record_bytes = 3, .header_bytes = 1, .footer_bytes = 2, .hop_bytes = 2}, "abc|cde"},
    {"abcdef",
     {.record_bytes = 3, .hop_bytes = 2},
     "abc|cde",
     "f, record 2 at offset 4: 2 bytes are left of 3 (and a footer of 0)"},
    {"ab..cd..", {.record_bytes = 2, .hop_bytes = 4}, "ab|cd"},
    {"ab..cd.", {.record_bytes = 2, .hop_bytes = 4}, "ab|cd"},
    {"Hab..cdFFF", {.record_bytes = 2, .header_bytes = 1, .footer_bytes = 3, .hop_bytes = 4}, "ab|cd"},
    {"ab..cd..e",
     {.record_bytes = 2, .hop_bytes = 4},
     "ab|cd",
     "f, record 2 at offset 8: 1 bytes are left of 2 (and a footer of 0)"},
    {"abc",
     {.record_bytes = uint64_t{1} << 62},
     "",
     "f, record 0 at offset 0: 3 bytes are left of 4611686018427387904 (and a footer of 0)"},
    {"abc", {.record_bytes = 1, .hop_bytes = INT64_MAX}, "a"},
};

TEST(FixedLength, HeadersFootersAndHopsInOrderAndByNumber) {
  const TempFolder folder;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.file);
    const auto bytes = to_bytes(c.file);
    const Records expected = {c.texts, c.error};
    EXPECT_EQ(in_order(FixedLengthReader(make_memory_reader("f", bytes), c.options)), expected);
    const std::string path = folder.file("f");
    put_file(path, bytes);
    const auto strip = [&](Records records) {
      if (records.error.starts_with(path)) records.error.replace(0, path.size(), "f");
      return records;
    };
    EXPECT_EQ(strip(in_order(FixedLengthReader::open(path, c.options).value())), expected);
    EXPECT_EQ(strip(each(path, c.options)), expected);
  }
}

TEST(FixedLength, GoesOnFromAnyRecord) {
  const TempFolder folder;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.file);
    put_file(folder.file("f"), to_bytes(c.file));
    auto reader = FixedLengthReader::open(folder.file("f"), c.options).value();
    for (int64_t given = 0;; ++given) {
      EXPECT_EQ(reader.position(), given);
      auto expected = FixedLengthReader::open(folder.file("f"), c.options).value();
      for (int64_t i = 0; i < given; ++i) (void)expected.next();
      EXPECT_EQ(in_order(FixedLengthReader::open(folder.file("f"), c.options, given).value()),
                in_order(std::move(expected)));
      const auto record = reader.next();
      if (!record || !*record) break;
    }
  }
}

TEST(FixedLength, NoFileHasARecordBelowZeroOrBehindAllNumbers) {
  const TempFolder folder;
  put_file(folder.file("f"), to_bytes("abc"));
  for (const int64_t first : {int64_t{-1}, INT64_MAX}) {
    const auto reader = FixedLengthReader::open(folder.file("f"), {.record_bytes = 3}, first);
    EXPECT_EQ(reader.error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_EQ(FixedLengthReader::open(folder.file("f"), {.record_bytes = 3}, 2).error().kind(), ErrorKind::DataLoss);
}

TEST(FixedLength, AFileThatHasLostRecordsBeforeTheFirstIsNoCleanEnd) {
  const TempFolder folder;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.file);
    put_file(folder.file("f"), to_bytes(c.file));
    const auto whole = FixedLengthFile::open(folder.file("f"), c.options);
    const int64_t records = whole ? whole->size() : 0;
    for (int64_t first = records + 1; first < records + 9; ++first) {
      const auto reader = FixedLengthReader::open(folder.file("f"), c.options, first);
      ASSERT_FALSE(reader) << first;
      EXPECT_NE(reader.error().kind(),
                c.options.hop_bytes + c.options.record_bytes < 1000 ? ErrorKind::InvalidArgument : ErrorKind::Unknown);
    }
    EXPECT_EQ(FixedLengthReader::open(folder.file("f"), c.options, records).has_value(), whole || records == 0);
  }
  put_file(folder.file("f"), to_bytes("aabbFFFF"));
  const auto lost = FixedLengthReader::open(folder.file("f"), {.record_bytes = 2, .footer_bytes = 4}, 3);
  EXPECT_EQ(lost.error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(lost.error().message(), folder.file("f") + " has 8 bytes and 2 records: nothing is before record 3");
}

TEST(FixedLength, AfterAnErrorOfTheDiskTheNextCallTriesAgain) {
  const TempFolder folder;
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.file);
    put_file(folder.file("f"), to_bytes(c.file));
    auto reader = FixedLengthReader::open(folder.file("f"), c.options).value();
    const Records expected = in_order(FixedLengthReader::open(folder.file("f"), c.options).value());
    int reads = 0;
    const FaultInjection odd_reads_fail([&](std::string_view call) {
      return call == "read" ? Fault{reads++ % 2 == 0 ? EIO : 0, 1} : Fault{};
    });
    Records got;
    for (int calls = 0; calls < 100; ++calls) {
      const auto record = reader.next();
      if (record && !*record) break;
      if (record) {
        add(got, **record);
      } else if (record.error().message().find("EIO") == std::string::npos) {
        got.error = record.error().message();
        break;
      }
    }
    EXPECT_EQ(got, expected);
  }
}

TEST(FixedLength, RefusesSizesThatMakeNoSense) {
  const auto bytes = to_bytes("abc");
  for (const FixedLengthOptions& options : std::vector<FixedLengthOptions>{
           {.record_bytes = 0},
           {.record_bytes = UINT64_MAX},
           {.record_bytes = 1, .header_bytes = UINT64_MAX},
           {.record_bytes = uint64_t{1} << 62, .footer_bytes = uint64_t{1} << 62},
           {.record_bytes = 1, .hop_bytes = UINT64_MAX},
       }) {
    EXPECT_THROW(FixedLengthReader(make_memory_reader("f", bytes), options), Exception);
    EXPECT_THROW((void)FixedLengthFile::open("f", options), Exception);
  }
}

TEST(FixedLengthFile, SaysWhichRecordIsNotThereAndWhatRoomItNeeds) {
  const TempFolder folder;
  put_file(folder.file("f"), to_bytes("abcdef"));
  const auto file = FixedLengthFile::open(folder.file("f"), {.record_bytes = 3}).value();
  std::vector<std::byte> record(3);
  for (const int64_t i : {int64_t{-1}, int64_t{2}, INT64_MAX}) {
    EXPECT_EQ(file.read(i, record).error().kind(), ErrorKind::OutOfRange);
  }
  EXPECT_EQ(file.read(0, std::span(record).first(2)).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(file.name(), folder.file("f"));
  EXPECT_EQ(FixedLengthFile::open(folder.file("no"), {.record_bytes = 3}).error().kind(), ErrorKind::NotFound);
}

TEST(FixedLengthFile, ReportsARecordThatWasCutOff) {
  const TempFolder folder;
  put_file(folder.file("f"), to_bytes("abcdef"));
  const auto file = FixedLengthFile::open(folder.file("f"), {.record_bytes = 3}).value();
  ASSERT_EQ(truncate(folder.file("f").c_str(), 4), 0);
  std::vector<std::byte> record(3);
  EXPECT_TRUE(file.read(0, record));
  EXPECT_EQ(record, to_bytes("abc"));
  const Error cut = file.read(1, record).error();
  EXPECT_EQ(cut.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(cut.to_string(), "DataLoss: cannot read record 1 at offset 3: " + folder.file("f") +
                                 " shrank while it was read: 6 bytes when opened, 4 now");
}

TEST(FixedLengthFile, OpensMoreFilesThanAProcessMayHaveDescriptors) {
  const TempFolder folder;
  put_file(folder.file("f"), to_bytes("abcdef"));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few = {std::min<rlim_t>(before.rlim_cur, 256), before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<FixedLengthFile> files;
  for (rlim_t i = 0; i < few.rlim_cur + 1; ++i) {
    auto file = FixedLengthFile::open(folder.file("f"), {.record_bytes = 3});
    ASSERT_TRUE(file) << i << ": " << file.error().to_string();
    files.push_back(std::move(*file));
  }
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

struct Packing {
  Compression compression;
  test::Bytes (*pack)(const test::Bytes& bytes);
};
const Packing kGzip = {Compression::gzip, [](const test::Bytes& bytes) { return test::gzip(bytes); }};
const Packing kZlib = {Compression::zlib, [](const test::Bytes& bytes) { return test::zlib(bytes); }};

class CompressedFixedLength : public testing::TestWithParam<Packing> {
 protected:
  static FixedLengthOptions with(FixedLengthOptions options) {
    options.compression = GetParam().compression;
    return options;
  }
  std::string packed(const std::string& text) const {
    put_file(folder_.file("a"), GetParam().pack(to_bytes(text)));
    return folder_.file("a");
  }
  Records read(const FixedLengthOptions& options, int64_t first = 0) const {
    auto reader = FixedLengthReader::open(folder_.file("a"), with(options), first);
    return reader ? in_order(std::move(*reader)) : Records{"", reader.error().message()};
  }
  const TempFolder folder_;
};

INSTANTIATE_TEST_SUITE_P(Each, CompressedFixedLength, testing::Values(kGzip, kZlib));

TEST_P(CompressedFixedLength, GivesTheSameRecordsFromEveryPositionAsAPlainFile) {
  for (const FixedLengthOptions& options : {FixedLengthOptions{2}, FixedLengthOptions{3, 1, 2},
                                            FixedLengthOptions{3, 1, 2, 1}, FixedLengthOptions{2, 0, 1, 5}}) {
    for (size_t size = 0; size < 12; ++size) {
      const std::string text = std::string("Habcdefghijk").substr(0, size), path = packed(text);
      put_file(folder_.file("plain"), to_bytes(text));
      for (int64_t first = 0; first < 8; ++first) {
        SCOPED_TRACE(text + " from " + std::to_string(first));
        auto plain = FixedLengthReader::open(folder_.file("plain"), options, first);
        const Records got = read(options, first);
        EXPECT_EQ(got.texts, plain ? in_order(std::move(*plain)).texts : "");
        auto again = FixedLengthReader::open(folder_.file("plain"), options, first);
        EXPECT_EQ(got.error.empty(), again && in_order(std::move(*again)).error.empty()) << got.error;
      }
    }
  }
}

TEST_P(CompressedFixedLength, ADamagedStreamOrAnotherOneIsDataLoss) {
  const std::string path = packed("abcdef");
  auto bytes = test::get_file(path);
  bytes.back() ^= std::byte{1};
  put_file(path, bytes);
  EXPECT_THAT(read({2}).error, AllOf(HasSubstr(path), HasSubstr("wrong checksum")));
  put_file(path, to_bytes("abcdef"));
  EXPECT_THAT(read({2}).error, HasSubstr(path));
  put_file(path, {});
  EXPECT_THAT(read({2}).error, HasSubstr("truncated"));
}

TEST_P(CompressedFixedLength, HasRecordsByNumber) {
  const auto file = FixedLengthFile::open(packed("HabcdeF"), with({2, 1, 1}));
  ASSERT_TRUE(file) << file.error();
  ASSERT_EQ(file->size(), 2);
  std::array<std::byte, 2> record;
  ASSERT_TRUE(file->read(1, record));
  EXPECT_EQ(record, (std::array{std::byte{'c'}, std::byte{'d'}}));
  EXPECT_THAT(file->whole().error().message(), HasSubstr("record 2 at offset 5: 1 bytes are left of 2"));
  EXPECT_EQ(FixedLengthFile::open(packed("H"), with({2, 1, 1})).error().kind(), ErrorKind::DataLoss);
  auto bytes = test::get_file(packed("ab"));
  bytes.back() ^= std::byte{1};
  put_file(folder_.file("damaged"), bytes);
  EXPECT_EQ(FixedLengthFile::open(folder_.file("damaged"), with({2})).error().kind(), ErrorKind::DataLoss);
}

TEST(FixedLengthReader, RefusesACompressionThatItDoesNotRead) {
  for (const auto wrong : {Compression::snappy, static_cast<Compression>(200)}) {
    EXPECT_THROW(FixedLengthReader(make_memory_reader("a", {}), {.record_bytes = 2, .compression = wrong}), Exception);
  }
}

}  // namespace
}  // namespace headpond
