// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headpond/base/crc32c.h"
#include "headpond/tf1/reader_snapshot_internal.h"

namespace headpond::tf1::internal {
namespace {

const ReaderSnapshot kSnapshot = {
    "TextLineReader(skip_header_lines=1)", 17, 2, {{"a.txt", {123, 4}}, {"", {UINT64_MAX, INT64_MAX}}}};

TEST(ReaderSnapshot, ComesBackAsItWas) {
  for (const ReaderSnapshot& snapshot : {kSnapshot, ReaderSnapshot{}}) {
    EXPECT_EQ(to_snapshot(to_bytes(snapshot)).value(), snapshot);
  }
}

TEST(ReaderSnapshot, HasTheSizeThatReadersTell) {
  EXPECT_EQ(to_bytes({}).size(), 41U);
  EXPECT_EQ(to_bytes(kSnapshot).size(), 41 + kSnapshot.description.size() + 24 + 5 + 24);
}

TEST(ReaderSnapshot, EachFlippedBitIsFound) {
  std::string saved = to_bytes(kSnapshot);
  for (size_t bit = 0; bit < 8 * saved.size(); ++bit) {
    saved[bit / 8] = static_cast<char>(saved[bit / 8] ^ (1 << bit % 8));
    EXPECT_EQ(to_snapshot(saved).error().kind(), ErrorKind::DataLoss) << bit;
    saved[bit / 8] = static_cast<char>(saved[bit / 8] ^ (1 << bit % 8));
  }
}

TEST(ReaderSnapshot, EachCutAndWhatFollowsIsFound) {
  const std::string saved = to_bytes(kSnapshot);
  for (size_t size = 0; size < saved.size(); ++size) EXPECT_FALSE(to_snapshot(saved.substr(0, size))) << size;
  EXPECT_FALSE(to_snapshot(saved + '\0'));
}

// A count of units without the units, with a valid checksum.
TEST(ReaderSnapshot, RoomFollowsTheBytesThatAreThere) {
  std::string saved = to_bytes({});
  saved.resize(saved.size() - 4);
  for (const char digit : {'\x7f', '\xff'}) {
    saved.back() = digit;
    std::string crafted = saved;
    const uint32_t crc = masked_crc32c(saved);
    for (int i = 0; i < 4; ++i) crafted.push_back(static_cast<char>(crc >> 8 * i & 0xff));
    EXPECT_FALSE(to_snapshot(crafted));
  }
}

}  // namespace
}  // namespace headpond::tf1::internal
