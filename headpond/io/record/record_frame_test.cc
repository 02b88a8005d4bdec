// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_frame.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headpond/io/record/record_frame_internal.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::guess_compression;
using test::Bytes;
using test::frame_of;
using test::frames_of;
using test::header_of;
using test::joined;
using test::prefix;
using test::Scan;
using test::to_bytes;
using test::with_flipped_bit;
using testing::AllOf;
using testing::HasSubstr;

Scan scan(const Bytes& bytes) {
  Scan scan;
  for (uint64_t offset = 0;;) {
    const auto frame = read_frame(bytes, offset, "/data/x");
    if (!frame) {
      scan.end = frame.error();
      return scan;
    }
    scan.records.push_back(test::text_of(frame->payload));
    offset = frame->next_offset;
  }
}

TEST(ReadFrame, DeliversAllBeforeACutAndNamesItsOffset) {
  const Bytes whole = frames_of({"abc", "", "de"});
  const std::vector<size_t> begins = {0, 19, 35, 53};
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    const Scan read = scan(prefix(whole, cut));
    const size_t complete =
        static_cast<size_t>(std::upper_bound(begins.begin(), begins.end(), cut) - begins.begin()) - 1;
    ASSERT_EQ(read.records.size(), complete) << cut;
    if (cut == begins[complete]) {
      EXPECT_EQ(read.end.kind(), ErrorKind::OutOfRange) << cut;
      continue;
    }
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss) << cut;
    EXPECT_THAT(read.end.message(),
                AllOf(HasSubstr("/data/x: truncated"), HasSubstr(fmt::format("at offset {}", begins[complete]))));
  }
}

TEST(ReadFrame, NoticesEveryFlippedBit) {
  const Bytes whole = frames_of({"abc", "", "de"});
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    const Scan read = scan(with_flipped_bit(whole, bit));
    EXPECT_EQ(read.end.kind(), ErrorKind::DataLoss) << bit;
    EXPECT_THAT(read.end.message(), AllOf(HasSubstr("expected"), HasSubstr("found"))) << bit;
  }
}

TEST(ReadFrame, RefusesAHugeLengthWithAValidChecksum) {
  for (const uint64_t length : {uint64_t{1} << 40, uint64_t{1} << 63, UINT64_MAX, UINT64_MAX - 3, UINT64_MAX - 15}) {
    const Error error = scan(joined({header_of(length), Bytes(28)})).end;
    EXPECT_EQ(error.kind(), ErrorKind::DataLoss) << length;
    EXPECT_THAT(error.message(), HasSubstr("truncated"));
  }
}

TEST(ReadFrame, HintsAtOtherFormatsAtTheStart) {
  EXPECT_THAT(scan(to_bytes("just some text that is long enough")).end.message(),
              HasSubstr("may not be a record file"));
  EXPECT_THAT(scan(to_bytes("\x1f\x8b...............")).end.message(), HasSubstr("gzip"));
  EXPECT_THAT(scan(to_bytes("\x78\x9c...............")).end.message(), HasSubstr("zlib"));
  EXPECT_THAT(scan(to_bytes("BZh91AY&SY.........")).end.message(), HasSubstr("by bzip2, which is not supported"));
  EXPECT_THAT(scan(to_bytes(std::string("\xfd\x37zXZ\0...........", 17))).end.message(), HasSubstr("compressed by xz"));
}

TEST(ReadFrame, RefusesAnOffsetBeyondTheEnd) {
  EXPECT_EQ(read_frame({}, 1, "x").error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(read_frame({}, UINT64_MAX, "x").error().kind(), ErrorKind::DataLoss);
}

TEST(GuessCompression, BelievesAHeaderWithAFittingChecksumBeforeAnyMark) {
  EXPECT_EQ(guess_compression({}), Compression::none);
  EXPECT_EQ(guess_compression(frame_of("abc")), Compression::none);
  EXPECT_EQ(guess_compression(to_bytes("\x1f")), Compression::none);
  for (const uint64_t length : {0x8b1fU, 0x9c78U, 0x0178U}) {
    Bytes start = header_of(length);
    EXPECT_EQ(guess_compression(start), Compression::none);
    start[9] ^= std::byte{1};
    EXPECT_NE(guess_compression(start), Compression::none) << "the control";
  }
}

TEST(GuessCompression, KnowsGzipAndZlibOfEveryLevel) {
  for (int level = 0; level <= 9; ++level) {
    EXPECT_EQ(guess_compression(test::gzip(frame_of("abc"), level)), Compression::gzip);
    EXPECT_EQ(guess_compression(test::zlib(frame_of("abc"), level)), Compression::zlib);
  }
}

// Snappy's format description: a literal of n <= 60 bytes is the byte 4 (n - 1) and the bytes.
TEST(GuessCompression, KnowsSnappysFramesAndTensorFlowsBlocks) {
  EXPECT_EQ(guess_compression(to_bytes(std::string("\xff\x06\0\0sNaPpY\x01", 11))), Compression::snappy);
  const Bytes plain = frames_of({"abc", "defgh"});
  const Bytes raw =
      joined({{static_cast<std::byte>(plain.size()), static_cast<std::byte>(4 * (plain.size() - 1))}, plain});
  const Bytes block = joined({to_bytes(std::string("\0\0\0", 3)), {static_cast<std::byte>(raw.size())}, raw});
  EXPECT_EQ(guess_compression(block), Compression::snappy);
}

}  // namespace
}  // namespace headpond
