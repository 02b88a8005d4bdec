// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/index/record_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::frames_of;
using test::prefix;
using test::put_file;
using test::TempFolder;
using testing::HasSubstr;

std::vector<uint64_t> offsets_of(const RecordIndex& index) {
  std::vector<uint64_t> offsets;
  for (uint64_t i = 0; i <= index.size(); ++i) offsets.push_back(index.offset(i));
  return offsets;
}

RecordIndex index_of(const Bytes& content) {
  const TempFolder folder;
  put_file(folder.file("a"), content);
  return RecordIndex::make(*MappedFile::open(folder.file("a")).value()).value();
}

Bytes with_crc(Bytes bytes) {
  const uint32_t crc = masked_crc32c(std::span<const std::byte>(bytes).first(bytes.size() - 4));
  std::memcpy(&bytes[bytes.size() - 4], &crc, 4);
  return bytes;
}

TEST(RecordIndex, HasTheOffsetsOfAllRecordsBeforeTheFirstThatIsCutOrHasADamagedLength) {
  const Bytes whole = frames_of({"abc", "", "de"});
  EXPECT_EQ(offsets_of(index_of({})), (std::vector<uint64_t>{0}));
  EXPECT_EQ(offsets_of(index_of(whole)), (std::vector<uint64_t>{0, 19, 35, 53}));
  EXPECT_EQ(offsets_of(index_of(prefix(whole, 52))), (std::vector<uint64_t>{0, 19, 35}));
  EXPECT_EQ(offsets_of(index_of(test::with_flipped_bit(whole, 8 * 20))), (std::vector<uint64_t>{0, 19}));
}

TEST(RecordIndex, ComesBackFromItsBytes) {
  for (const Bytes& content : {Bytes(), frames_of({"abc", "", "de"})}) {
    const RecordIndex index = index_of(content);
    const RecordIndex back = RecordIndex::parse(index.to_bytes("/a"), "x", "/a").value();
    EXPECT_EQ(offsets_of(back), offsets_of(index));
    EXPECT_EQ(back.mark(), index.mark());
    EXPECT_EQ(back.mark().size, content.size());
  }
}

TEST(RecordIndex, IsRefusedWhereverItIsCutAndWhateverBitIsFlipped) {
  const Bytes whole = index_of(frames_of({"abc", "de"})).to_bytes("/a");
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_EQ(RecordIndex::parse(prefix(whole, size), "x", "/a").error().kind(), ErrorKind::DataLoss) << size;
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    EXPECT_EQ(RecordIndex::parse(test::with_flipped_bit(whole, bit), "x", "/a").error().kind(), ErrorKind::DataLoss);
  }
}

TEST(RecordIndex, IsRefusedWithAFittingChecksumIfItContradictsItself) {
  const Bytes whole = index_of(frames_of({"abc", "de"})).to_bytes("/a");
  for (size_t byte = 0; byte < whole.size() - 4; ++byte) {
    for (const int value : {0, 1, 127, 255}) {
      Bytes changed = whole;
      changed[byte] = static_cast<std::byte>(value);
      const auto index = RecordIndex::parse(with_crc(changed), "x", "/a");
      if (!index) continue;
      EXPECT_EQ(index->offset(0), 0U);
      for (uint64_t i = 0; i < index->size(); ++i) EXPECT_GE(index->offset(i + 1), index->offset(i) + 16);
      EXPECT_LE(index->offset(index->size()), index->mark().size);
    }
  }
  Bytes version = whole;
  version[8] = std::byte{1};
  EXPECT_EQ(RecordIndex::parse(with_crc(version), "x", "/a").error().kind(), ErrorKind::Unimplemented);
  EXPECT_EQ(RecordIndex::parse(whole, "x", "/b").error().message(), "x: record index: of another file");
}

TEST(RecordIndex, OfAnotherReaderIsOfAnotherFileAndHasWhatThatReaderKeeps) {
  RecordIndex index({.size = 20, .modified_ns = 4, .head_hash = 5, .tail_hash = 6}, 7);
  for (const uint64_t offset : {3, 4, 9, 20}) index.add(offset);
  index.set_extra(test::to_bytes("types"));
  const Bytes bytes = index.to_bytes("/a", "lines");
  const RecordIndex back = RecordIndex::parse(bytes, "x", "/a", "lines").value();
  EXPECT_EQ(offsets_of(back), (std::vector<uint64_t>{3, 4, 9, 20}));
  EXPECT_EQ(back.mark(), index.mark());
  EXPECT_EQ(back.changed_ns(), 7);
  EXPECT_EQ(test::text_of(back.extra()), "types");
  EXPECT_EQ(back.to_bytes("/a", "lines"), bytes);
  for (const char* reader : {"tfrecord", "line", "lines "}) {
    EXPECT_EQ(RecordIndex::parse(bytes, "x", "/a", reader).error().message(), "x: record index: of another file");
  }
  EXPECT_EQ(RecordIndex::parse(index.to_bytes("/a"), "x", "/a").error().message(),
            "x: record index: its offsets do not ascend")
      << "as frames must";
}

TEST(RecordIndex, OfAFileOf4GiBOrMoreHasEightBytesARecord) {
  RecordIndex index({.size = uint64_t{5} << 32});
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1} << 32, uint64_t{5} << 32}) index.add(offset);
  const Bytes bytes = index.to_bytes("/a", "lines");
  EXPECT_EQ(bytes.size(), 72U + 5 + 2 + 3 * 8 + 4);
  EXPECT_EQ(offsets_of(RecordIndex::parse(bytes, "x", "/a", "lines").value()), offsets_of(index));
}

TEST(RecordIndex, ALargeOneIsMappedAndTheSame) {
  const TempFolder folder;
  RecordIndex index({.size = 1'000'000});
  for (uint64_t offset = 0; offset <= 1'000'000; offset += 10) index.add(offset);
  put_file(folder.file("i"), index.to_bytes("/a", "lines"));
  const RecordIndex back = RecordIndex::read(folder.file("i"), "/a", "lines").value();
  EXPECT_EQ(offsets_of(back), offsets_of(index));
  EXPECT_EQ(RecordIndex::read(folder.file("none"), "/a").error().kind(), ErrorKind::NotFound);
}

TEST(RecordIndex, LiesInTheCacheFolderUnderANameOfThePath) {
  setenv("XDG_CACHE_HOME", "/c", 1);
  const std::string where = record_index_path("/data/a").value();
  EXPECT_THAT(where, testing::MatchesRegex("/c/headpond/records/[0-9a-f]+[.]index"));
  EXPECT_EQ(record_index_path("/data/./b/../a").value(), where);
  EXPECT_NE(record_index_path("/data/b").value(), where);
  EXPECT_NE(record_index_path("/data/a", "lines").value(), where);
}

}  // namespace
}  // namespace headpond
