// SPDX-License-Identifier: Apache-2.0
// Places in record files: gone to, come back to, wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::frames_of;
using test::gzip;
using test::put_file;
using test::scan;
using test::TempFolder;
using test::zlib;
using testing::ElementsAre;

constexpr RecordReaderOptions kSkipDamage = {.on_damage = OnDamage::skip};

// A compressed file is inflated up to the place: none of these bytes is taken for a record.
TEST(RecordReader, ParsesNothingOnTheWayToAPlace) {
  const Bytes plain = test::with_flipped_bit(frames_of({"a", "b", "c", "d"}), 8 * (17 + 12));
  for (const Bytes& bytes : {plain, gzip(plain), zlib(plain)}) {
    for (uint64_t place = 0; place <= 4; ++place) {
      const auto reader = RecordReader::over("/data/x", bytes, kSkipDamage).value();
      ASSERT_TRUE(reader->seek({place * 17, place}));
      EXPECT_EQ(reader->counts().records, 0U);
      EXPECT_EQ(reader->counts().damaged, 0U);
      EXPECT_EQ(scan(*reader).records.size(), place < 2 ? 3 - place : 4 - place);
      EXPECT_EQ(reader->counts().records + reader->counts().damaged, 4 - place);
    }
  }
}

TEST(RecordReader, ResumesAtEveryPosition) {
  const std::vector<std::string> records = {"abc", "", std::string(5'000, 'x'), "de"};
  const Bytes plain = frames_of(records);
  for (const Bytes& bytes : {plain, gzip(plain), zlib(plain)}) {
    const auto reader = RecordReader::over("/data/x", bytes).value();
    std::vector<RecordPosition> positions;
    do positions.push_back(reader->position());
    while (reader->next().value().has_value());
    ASSERT_EQ(positions.size(), records.size() + 1);
    for (size_t i = positions.size(); i-- > 0;) {
      ASSERT_TRUE(reader->seek(positions[i]));
      EXPECT_EQ(reader->position(), positions[i]);
      EXPECT_EQ(scan(*reader).records,
                std::vector<std::string>(records.begin() + static_cast<ptrdiff_t>(i), records.end()));
    }
    EXPECT_EQ(reader->seek({plain.size() + 1, 9}).error().kind(), ErrorKind::OutOfRange);
  }
}

TEST(RecordReader, StaysWhereItWasWhenItCannotGoBehindTheEnd) {
  const Bytes plain = frames_of({"abc", "de", "f"});
  const TempFolder folder;
  put_file(folder.file("a"), plain);
  const auto memory = RecordReader::over("x", plain).value(), mapped = RecordReader::open(folder.file("a")).value();
  for (RecordReader* const reader : {memory.get(), mapped.get()}) {
    ASSERT_TRUE(reader->next().value());
    EXPECT_EQ(reader->seek({plain.size() + 1, 9}).error().kind(), ErrorKind::OutOfRange);
    EXPECT_EQ(reader->position(), (RecordPosition{19, 1}));
    EXPECT_THAT(scan(*reader).records, ElementsAre("de", "f"));
  }
}

TEST(RecordReader, OfAStreamSaysThatItsPlaceIsLostUntilItIsFoundAgain) {
  const Bytes plain = frames_of({"abc", "de", "f"}), packed = gzip(plain);
  const auto reader = RecordReader::over("/data/x", packed, kSkipDamage).value();
  ASSERT_TRUE(reader->next().value());
  EXPECT_EQ(reader->seek({plain.size() + 1, 9}).error().kind(), ErrorKind::OutOfRange);
  EXPECT_EQ(reader->position(), (RecordPosition{19, 1}));
  for (int round = 0; round < 2; ++round) EXPECT_EQ(scan(*reader).end.kind(), ErrorKind::OutOfRange);
  ASSERT_TRUE(reader->seek(reader->position()));
  EXPECT_THAT(scan(*reader).records, ElementsAre("de", "f"));
}

TEST(RecordReader, AWrongPositionIsNeverAWrongRecord) {
  const Bytes bytes = frames_of({"abc", "", "de"});
  for (uint64_t offset = 0; offset <= bytes.size(); ++offset) {
    const auto reader = RecordReader::over("/data/x", bytes).value();
    ASSERT_TRUE(reader->seek({offset, 0}));
    const auto payload = reader->next();
    const bool is_begin = offset == 0 || offset == 19 || offset == 35 || offset == bytes.size();
    EXPECT_EQ(payload.has_value(), is_begin) << offset;
    if (!payload) {
      EXPECT_EQ(payload.error().kind(), ErrorKind::DataLoss);
    }
  }
}

}  // namespace
}  // namespace headpond
