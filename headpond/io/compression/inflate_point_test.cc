// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/io/compression/inflate_point_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using test::Bytes;

// Text that repeats itself, and bytes that do not shrink: blocks of codes and stored blocks.
Bytes mixed(size_t size, uint64_t seed) {
  Random random(seed);
  Bytes bytes;
  while (bytes.size() < size) {
    if (random.below(4) == 0) {
      for (int i = 0; i < 40'000; ++i) bytes.push_back(static_cast<std::byte>(random.below(256)));
    } else if (bytes.size() > 30'000 && random.below(2) == 0) {
      const size_t from = bytes.size() - 1 - random.below(30'000);
      for (int i = 0; i < 20'000; ++i) bytes.push_back(bytes[from + static_cast<size_t>(i)]);
    } else {
      for (int i = 0; i < 30'000; ++i) bytes.push_back(static_cast<std::byte>('a' + random.below(9)));
    }
  }
  bytes.resize(size);
  return bytes;
}

struct Scan {
  Bytes bytes;
  std::vector<InflatePoint> points;
};

Result<Scan> scan(const Bytes& packed, size_t piece = 10'000) {
  PointReader reader(make_memory_reader("t", packed));
  Scan all;
  Bytes room(piece);
  while (!reader.is_end()) {
    const auto got = reader.read(room);
    if (!got) return fail(got.error());
    all.bytes.insert(all.bytes.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*got));
    if (reader.is_at_point()) all.points.push_back(reader.point());
  }
  return all;
}

Result<Bytes> rest(const Bytes& packed, const InflatePoint& point) {
  const auto from = std::span(packed).subspan(point.start());
  auto reader = make_gzip_reader_at(point, make_memory_reader("t", from));
  if (!reader) return fail(reader.error());
  Bytes all, room(70'000);
  while (true) {
    const auto got = (*reader)->read(room);
    if (!got) return fail(got.error());
    if (*got == 0) return all;
    all.insert(all.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(*got));
  }
}

TEST(InflatePoint, EachGivesTheRestOfTheFile) {
  for (const int level : {0, 1, 6, 9}) {
    const Bytes plain = mixed(700'000, 3), packed = test::gzip(plain, level);
    const Scan all = scan(packed).value();
    ASSERT_EQ(all.bytes, plain);
    ASSERT_GE(all.points.size(), 5U) << level;
    for (const InflatePoint& point : all.points) {
      const auto expected = std::span(plain).subspan(point.out);
      const auto found = rest(packed, point);
      ASSERT_TRUE(found) << found.error() << " from " << point.out;
      ASSERT_TRUE(std::ranges::equal(*found, expected)) << point.out;
    }
  }
}

TEST(InflatePoint, OfManyMembersEachGivesTheRestOfTheFile) {
  std::vector<Bytes> members;
  Bytes plain;
  for (const size_t size : {0U, 100'000U, 1U, 0U, 250'000U}) {
    const Bytes part = mixed(size, size);
    members.push_back(test::gzip(part));
    plain.insert(plain.end(), part.begin(), part.end());
  }
  const Bytes packed = test::joined(members);
  const Scan all = scan(packed, 333).value();
  ASSERT_EQ(all.bytes, plain);
  for (const InflatePoint& point : all.points) {
    ASSERT_TRUE(std::ranges::equal(rest(packed, point).value(), std::span(plain).subspan(point.out))) << point.out;
  }
}

TEST(InflatePoint, VerifiesTheMemberThatItBeginsIn) {
  const Bytes plain = mixed(400'000, 5);
  Bytes packed = test::gzip(plain);
  const InflatePoint point = scan(packed).value().points.back();
  packed[packed.size() - 8] ^= std::byte{1};  // Of the checksum.
  EXPECT_EQ(rest(packed, point).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(scan(packed).error().kind(), ErrorKind::DataLoss);
  packed.resize(packed.size() - 20);
  EXPECT_EQ(rest(packed, point).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(scan(packed).error().kind(), ErrorKind::DataLoss);
}

TEST(InflatePoint, OfAnotherFileOrWithAWrongWindowEndsInAnErrorOrWrongBytesOnly) {
  const Bytes plain = mixed(400'000, 7), packed = test::gzip(plain);
  const std::vector<InflatePoint> points = scan(packed).value().points;
  const Bytes other = test::gzip(mixed(300'000, 8));
  for (InflatePoint point : points) {
    if (point.start() < other.size()) (void)rest(other, point);
    point.window.resize(point.window.size() / 2);
    const auto found = rest(packed, point);
    EXPECT_TRUE(!found || std::ranges::equal(*found, std::span(plain).subspan(point.out))) << "no byte was needed";
    point.bits = 7 - point.bits;
    (void)rest(packed, point);
  }
}

TEST(InflatePoint, SomethingAfterTheMembersIsDamage) {
  Bytes packed = test::gzip(mixed(1000, 1));
  packed.push_back(std::byte{'x'});
  EXPECT_EQ(scan(packed).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(scan({}).error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::internal
