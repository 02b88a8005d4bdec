// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_reader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::frame_of;
using test::frames_of;
using test::gzip;
using test::header_of;
using test::joined;
using test::prefix;
using test::put_file;
using test::Scan;
using test::scan;
using test::TempFolder;
using test::to_bytes;
using test::with_flipped_bit;
using test::zlib;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr RecordReaderOptions kSkip = {.on_damage = OnDamage::skip};

// Gives at most `step` bytes at a time, and does not know how many are to come.
class Trickle final : public ByteReader {
 public:
  Trickle(Bytes bytes, size_t step)
      : bytes_(std::move(bytes)), memory_(make_memory_reader("/data/pipe", bytes_)), step_(step) {}
  Result<size_t> read(std::span<std::byte> to) override {
    largest_ = std::max(largest_, to.size());
    return memory_->read(to.first(std::min(step_, to.size())));
  }
  uint64_t left_at_most() const override { return UINT64_MAX; }
  const std::string& name() const override { return memory_->name(); }
  size_t largest() const { return largest_; }

 private:
  const Bytes bytes_;
  std::unique_ptr<ByteReader> memory_;
  size_t step_, largest_ = 0;
};

Result<std::unique_ptr<RecordReader>> over_pipe(const Bytes& bytes, size_t step = 7,
                                                const RecordReaderOptions& options = {}) {
  return RecordReader::over(std::make_unique<Trickle>(bytes, step), options);
}

// Every way to read the same bytes must say the same.
Scan scan_every_way(const Bytes& bytes, const RecordReaderOptions& options = {}) {
  const TempFolder folder;
  put_file(folder.file("a"), bytes);
  const Scan memory = scan(bytes, options), mapped = scan(RecordReader::open(folder.file("a"), options));
  EXPECT_EQ(memory.records, mapped.records);
  EXPECT_EQ(static_cast<bool>(memory.end), static_cast<bool>(mapped.end));
  for (const size_t step : {1, 13, 1000}) {
    const Scan piped = scan(over_pipe(bytes, step, options));
    EXPECT_EQ(memory.records, piped.records) << step;
    EXPECT_EQ(static_cast<bool>(memory.end), static_cast<bool>(piped.end)) << step;
    if (memory.end && piped.end) {
      EXPECT_EQ(memory.end.kind(), piped.end.kind()) << piped.end;
    }
  }
  return memory;
}

TEST(RecordReader, OfAnEmptyFileHasNoRecordsWhateverWasAskedFor) {
  EXPECT_FALSE(scan_every_way({}).end);
  EXPECT_THAT(scan_every_way({}).records, IsEmpty());
  EXPECT_FALSE(scan(Bytes(), {.compression = Compression::gzip}).end);
  EXPECT_THAT(scan_every_way(gzip({})).records, IsEmpty());
  EXPECT_FALSE(scan_every_way(zlib({})).end);
}

TEST(RecordReader, SaysWhatAFileShorterThanAHeaderMayBe) {
  for (size_t size = 1; size < 12; ++size) {
    const Scan plain = scan_every_way(prefix(frame_of("abc"), size));
    EXPECT_EQ(plain.end.kind(), ErrorKind::DataLoss) << size;
    EXPECT_THAT(plain.end.message(), AllOf(HasSubstr("/data/x: truncated"), HasSubstr("at offset 0, record 0"),
                                           HasSubstr("may not be a record file")));
    if (size < 2) continue;
    EXPECT_THAT(scan(prefix(gzip(frame_of("abc")), size)).end.to_string(), HasSubstr("gzip"));
    EXPECT_THAT(scan(prefix(zlib(frame_of("abc")), size)).end.to_string(), HasSubstr("zlib"));
  }
}

TEST(RecordReader, OfAnEmptyCompressedFileIsNotCalledTorn) {
  const Bytes nothing = zlib({});
  EXPECT_EQ(RecordReader::over("x", nothing).value()->compression(), Compression::zlib);
  const Bytes start = prefix(gzip(frame_of("abc")), 4);
  EXPECT_TRUE(RecordReader::over("x", start, {.compression = Compression::gzip}));
}

TEST(RecordReader, DeliversAllBeforeACutWhereverItIs) {
  const Bytes whole = frames_of({"abc", "", "de"});
  const std::vector<size_t> begins = {0, 19, 35, 53};
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    const Scan read = scan_every_way(prefix(whole, cut));
    const auto complete = static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), cut) - begins.begin()) - 1;
    ASSERT_EQ(read.records.size(), complete) << cut;
    ASSERT_EQ(static_cast<bool>(read.end), cut != begins[complete]) << cut;
    if (!read.end) continue;
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss);
    EXPECT_THAT(
        read.end.message(),
        AllOf(HasSubstr("truncated"), HasSubstr(fmt::format("at offset {}, record {}", begins[complete], complete))));
  }
}

TEST(RecordReader, NoticesACutBetweenRecordsIffTheirNumberIsKnown) {
  const Bytes cut = frames_of({"abc", "de"});
  EXPECT_FALSE(scan_every_way(cut).end);
  EXPECT_FALSE(scan_every_way(cut, {.expected_records = 2}).end);
  const Scan read = scan_every_way(cut, {.expected_records = 3});
  EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss);
  EXPECT_EQ(read.end.message(), "/data/x: 3 records expected, 2 found: the end is at offset 37");
  EXPECT_EQ(read.records.size(), 2U);
}

TEST(RecordReader, NoticesEveryFlippedBit) {
  const Bytes whole = frames_of({"abc", "", "de"});
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const Scan read = scan(with_flipped_bit(whole, bit));
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss) << bit;
    EXPECT_THAT(read.end.message(), AllOf(HasSubstr("expected"), HasSubstr("found"), HasSubstr(", record ")));
  }
}

// In the length, its checksum, the payload, the payload's checksum.
TEST(RecordReader, NamesEachOfTheFourPlacesThatCanBeDamaged) {
  const Bytes whole = frames_of({"first", "second"});
  for (const size_t byte : {21U, 30U, 35U, 40U}) {
    const Scan read = scan_every_way(with_flipped_bit(whole, 8 * byte));
    EXPECT_THAT(read.records, ElementsAre("first")) << byte;
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss);
    EXPECT_THAT(read.end.message(), HasSubstr(byte < 33 ? "corrupted record length: " : "corrupted record: "));
    EXPECT_THAT(read.end.message(), HasSubstr("at offset 21, record 1"));
  }
}

TEST(RecordReader, RefusesAHugeLengthWithAValidChecksumAndAsksForNoMemory) {
  for (const uint64_t length : {uint64_t{1} << 40, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 15, uint64_t{1} << 30}) {
    const Bytes bytes = joined({frame_of("abc"), header_of(length), Bytes(28)});
    for (const OnDamage on_damage : {OnDamage::fail, OnDamage::skip}) {
      const Scan read = scan_every_way(bytes, {.on_damage = on_damage});
      EXPECT_THAT(read.records, ElementsAre("abc"));
      EXPECT_EQ(static_cast<bool>(read.end), on_damage == OnDamage::fail) << length;
      if (read.end) {
        EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss);
      }
    }
    auto pipe = std::make_unique<Trickle>(bytes, 5);
    const Trickle& seen = *pipe;
    const auto reader = RecordReader::over(std::move(pipe)).value();
    EXPECT_EQ(scan(*reader).end.kind(), ErrorKind::DataLoss);
    EXPECT_LE(seen.largest(), size_t{256} << 10) << "the buffer for what a length only claims";
  }
}

TEST(RecordReader, DeliversEmptyAndLargeRecords) {
  const std::vector<std::string> records = {"", "a", std::string(3'000'000, 'x'), "", std::string(262'144 - 16, 'y'),
                                            ""};
  for (const Bytes& bytes : {frames_of(records), gzip(frames_of(records)), zlib(frames_of(records))}) {
    EXPECT_EQ(scan(bytes).records, records);
    EXPECT_EQ(scan(over_pipe(bytes, 100'000)).records, records);
  }
}

TEST(RecordReader, ReportsGarbageAfterTheLastRecord) {
  const Bytes bytes = joined({frames_of({"abc", "de"}), to_bytes("some garbage beyond it")});
  const Scan read = scan_every_way(bytes);
  EXPECT_THAT(read.records, ElementsAre("abc", "de"));
  EXPECT_THAT(read.end.message(), HasSubstr("corrupted record length"));
  const auto reader = RecordReader::over("x", bytes, kSkip).value();
  EXPECT_FALSE(scan(*reader).end) << "the rest is left out";
  EXPECT_EQ(reader->counts().lost_bytes, 22U);
  EXPECT_THAT(reader->counts().last.message(), HasSubstr("at offset 37, record 2"));
  EXPECT_EQ(reader->counts().records, 2U);
}

TEST(RecordReader, ReadsGzipAndZlibByTheirFirstBytesAndSaysWhichWasAskedForWrongly) {
  const Bytes plain = frames_of({"abc", "", "de"});
  const std::pair<Compression, Bytes> table[] = {
      {Compression::none, plain}, {Compression::gzip, gzip(plain)}, {Compression::zlib, zlib(plain)}};
  for (const auto& [compression, bytes] : table) {
    EXPECT_THAT(scan_every_way(bytes).records, ElementsAre("abc", "", "de"));
    EXPECT_EQ(RecordReader::over("x", bytes).value()->compression(), compression);
    for (const auto& [asked, ignored] : table) {
      const auto reader = RecordReader::over("/data/x", bytes, {.compression = asked});
      ASSERT_EQ(reader.has_value(), asked == compression);
      if (reader) continue;
      EXPECT_EQ(reader.error().kind(), ErrorKind::DataLoss);
      EXPECT_THAT(reader.error().message(), AllOf(HasSubstr("/data/x"), HasSubstr("was requested")));
      if (compression != Compression::none) {
        EXPECT_THAT(reader.error().message(), HasSubstr(to_string(compression)));
      }
    }
  }
}

TEST(RecordReader, NamesSnappy) {
  const Error error = scan(to_bytes(std::string("\xff\x06\0\0sNaPpY and more", 19))).end;
  EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("/data/x"), HasSubstr("Snappy")));
}

TEST(RecordReader, DeliversWhatCameBeforeADamageOfTheCompressedBytes) {
  const std::vector<std::string> records(3, "a record that is checked before the stream's end");
  for (const Bytes& whole : {gzip(frames_of(records)), zlib(frames_of(records))}) {
    for (const size_t last : {1, 2, 3, 4}) {
      const Scan cut = scan_every_way(prefix(whole, whole.size() - last));
      EXPECT_EQ(cut.records, records);
      EXPECT_EQ(cut.end.kind(), ErrorKind::DataLoss);
      EXPECT_THAT(cut.end.to_string(),
                  AllOf(HasSubstr("/data/x"), HasSubstr("truncated"), HasSubstr("compressed offset")));
      const Scan bad = scan_every_way(with_flipped_bit(whole, 8 * (whole.size() - last)));
      EXPECT_EQ(bad.records, records);
      EXPECT_THAT(bad.end.to_string(), HasSubstr("wrong checksum"));
    }
    const Bytes half = prefix(whole, whole.size() / 2);
    const auto skipping = RecordReader::over("x", half, kSkip).value();
    EXPECT_FALSE(scan(*skipping).end);
    EXPECT_EQ(skipping->counts().last.kind(), ErrorKind::DataLoss);
  }
}

TEST(RecordReader, ReadsAllMembersOfAGzipFile) {
  const Bytes bytes = joined({gzip(frames_of({"abc", "d"})), gzip({}), gzip(frame_of("e"))});
  EXPECT_THAT(scan_every_way(bytes).records, ElementsAre("abc", "d", "e"));
  const Bytes plain = frames_of({"a record in two members"});
  EXPECT_THAT(scan_every_way(joined({gzip(prefix(plain, 20)), gzip({plain.begin() + 20, plain.end()})})).records,
              ElementsAre("a record in two members"));
}

TEST(RecordReader, StopsABombAtTheLimitAndKeepsItsBufferSmall) {
  const Bytes bomb = gzip(joined({frame_of("abc"), Bytes(20'000'000)}), 9);
  ASSERT_LT(bomb.size(), 30'000U);
  const Scan limited = scan(gzip(frames_of(std::vector<std::string>(2'000, std::string(1'000, 'x')))),
                            {.max_inflated_bytes = 1'000'000});
  EXPECT_EQ(limited.end.kind(), ErrorKind::ResourceExhausted);
  EXPECT_GE(limited.records.size(), 500U);
  const Scan zeros = scan(bomb);
  EXPECT_THAT(zeros.records, ElementsAre("abc"));
  EXPECT_EQ(zeros.end.kind(), ErrorKind::DataLoss) << "a header of zeros, before the bomb is inflated";
  const Bytes record = gzip(joined({frame_of("abc"), header_of(20'000'000), Bytes(20'000'000)}), 9);
  EXPECT_EQ(scan(record, {.max_inflated_bytes = 10'000}).end.kind(), ErrorKind::ResourceExhausted);
}

TEST(RecordReader, GivesEveryRecordBelowTheLimitOfInflatedBytes) {
  const Bytes plain = frames_of(std::vector<std::string>(2'000, std::string(984, 'x')));
  for (const Bytes& bytes : {gzip(plain), zlib(plain)}) {
    for (const uint64_t limit : {uint64_t{1'000}, uint64_t{123'456}, uint64_t{1'000'000}, uint64_t{1'999'999}}) {
      const Scan read = scan(bytes, {.max_inflated_bytes = limit});
      EXPECT_EQ(read.records.size(), limit / 1'000);
      EXPECT_EQ(read.end.kind(), ErrorKind::ResourceExhausted);
    }
    EXPECT_FALSE(scan(bytes, {.max_inflated_bytes = plain.size()}).end);
  }
}

TEST(RecordReader, LeavesOutARecordWhenOnlyItsPayloadIsDamaged) {
  const Bytes whole = frames_of({"first", "second", "", "third"});
  for (const size_t byte : {35U, 40U}) {
    const Bytes damaged = with_flipped_bit(whole, 8 * byte);
    EXPECT_THAT(scan_every_way(damaged, kSkip).records, ElementsAre("first", "", "third"));
    const auto reader = RecordReader::over("/data/x", damaged, kSkip).value();
    EXPECT_FALSE(scan(*reader).end);
    EXPECT_EQ(reader->counts().damaged, 1U);
    EXPECT_EQ(reader->counts().lost_bytes, 0U);
    EXPECT_EQ(reader->position().record, 4U) << "the damaged one counts";
    EXPECT_THAT(reader->counts().last.message(), HasSubstr("record 1"));
  }
}

TEST(RecordReader, GoesOnBehindADamagedPayloadAndStaysBeforeADamagedLength) {
  const Bytes bad_payload = with_flipped_bit(frames_of({"abc", "de"}), 8 * 13);
  const Bytes bad_length = with_flipped_bit(frames_of({"abc", "de"}), 8 * 21);
  const auto payload = RecordReader::over("x", bad_payload).value();
  EXPECT_THAT(scan(*payload).records, IsEmpty());
  EXPECT_THAT(scan(*payload).records, ElementsAre("de"));
  const auto length = RecordReader::over("x", bad_length).value();
  EXPECT_THAT(scan(*length).records, ElementsAre("abc"));
  EXPECT_EQ(scan(*length).end.message(), scan(*length).end.message());
  EXPECT_TRUE(scan(*length).end);
  EXPECT_EQ(length->position(), (RecordPosition{19, 1}));
}

TEST(RecordReader, CountsARecordAboveTheLimitAsDamaged) {
  const Bytes bytes = frames_of({"abc", "longer than that", "de"});
  const Scan failing = scan_every_way(bytes, {.max_record_bytes = 10});
  EXPECT_EQ(failing.end.kind(), ErrorKind::DataLoss);
  EXPECT_THAT(failing.end.message(), HasSubstr("a record of 16 bytes: the limit is 10"));
  EXPECT_THAT(scan_every_way(bytes, {.on_damage = OnDamage::skip, .max_record_bytes = 10}).records,
              ElementsAre("abc", "de"));
  EXPECT_THAT(scan_every_way(bytes, {.max_record_bytes = 16}).records.size(), 3U);
}

TEST(RecordReader, ARecordAboveTheLimitThatIsCutIsLostAndNotDamaged) {
  const Bytes bytes = joined({frame_of("abc"), header_of(100), Bytes(30)});
  const RecordReaderOptions options = {.on_damage = OnDamage::skip, .max_record_bytes = 10, .expected_records = 2};
  std::vector<std::unique_ptr<RecordReader>> readers;
  for (const Bytes& way : {bytes, gzip(bytes), zlib(bytes)}) {
    readers.push_back(RecordReader::over("x", way, options).value());
    EXPECT_THAT(scan(*readers.back()).records, ElementsAre("abc"));
    EXPECT_THAT(scan(*readers.back()).records, IsEmpty());
  }
  for (const auto& reader : readers) {
    EXPECT_EQ(reader->counts().damaged, 0U);
    EXPECT_EQ(reader->counts().lost_bytes, 42U);
    EXPECT_TRUE(reader->counts().last);
  }
}

// Whether `some` are of `all`, in their order and each once.
bool is_part(const std::vector<std::string>& some, const std::vector<std::string>& all) {
  auto at = all.begin();
  for (const std::string& record : some) {
    at = std::find(at, all.end(), record);
    if (at == all.end()) return false;
    ++at;
  }
  return true;
}

TEST(RecordReader, NeverGivesAWrongRecordWhenACompressedBitIsFlipped) {
  const std::vector<std::string> records = {"abc", "some more bytes", ""};
  for (const Bytes& whole : {gzip(frames_of(records)), zlib(frames_of(records))}) {
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      for (const OnDamage on_damage : {OnDamage::fail, OnDamage::skip}) {
        const Scan read = scan(with_flipped_bit(whole, bit), {.on_damage = on_damage});
        EXPECT_TRUE(is_part(read.records, records)) << bit;
        if (on_damage == OnDamage::fail && !read.end) {
          EXPECT_EQ(read.records, records) << bit;
        }
      }
    }
  }
}

TEST(RecordReader, OfAPipeGoesForwardOnly) {
  const auto reader = over_pipe(joined({frames_of({std::string(300'000, 'x'), "abc", "de"})})).value();
  ASSERT_TRUE(reader->seek({300'016, 1}));
  EXPECT_EQ(test::text_of(*reader->next().value()), "abc");
  const Error error = reader->seek({0, 0}).error();
  EXPECT_EQ(error.kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(error.message(), HasSubstr("/data/pipe"));
  EXPECT_EQ(test::text_of(*reader->next().value()), "de");
}

}  // namespace
}  // namespace headpond
