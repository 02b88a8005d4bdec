// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <zlib.h>

#include <optional>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/codec/image/png/png_inflate_internal.h"
#include "headpond/codec/image/png_test_internal.h"
#include "tests/test_files.h"

namespace headpond::png_internal {
namespace {

std::string compressed(const std::string& raw, int level, int strategy, int memory = 8, int window = 15) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, level, Z_DEFLATED, window, memory, strategy), Z_OK);
  std::string out(deflateBound(&stream, raw.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(raw.data()));
  stream.avail_in = static_cast<uInt>(raw.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::optional<std::string> taken(Inflater& inflater, size_t total, size_t piece) {
  std::string out;
  while (out.size() < total) {
    const size_t size = std::min(piece, total - out.size());
    const uint8_t* const got = inflater.take(size);
    if (got == nullptr) return std::nullopt;
    out.append(reinterpret_cast<const char*>(got), size);
  }
  if (!inflater.is_whole()) return std::nullopt;
  return out;
}

// The stream comes in parts of `part` bytes.
std::optional<std::string> inflated_in_parts(const std::vector<std::byte>& stream, size_t part, size_t total,
                                             size_t piece) {
  std::span<const std::byte> left = stream;
  const auto next = [&left, part] {
    const auto given = left.first(std::min(part, left.size()));
    left = left.subspan(given.size());
    return given;
  };
  Inflater inflater(next(), total, piece, next);
  return taken(inflater, total, piece);
}

// In memory of just this size, for the sanitizers.
std::optional<std::string> inflated_whole(const std::string& stream, size_t total, size_t piece) {
  const std::vector<std::byte> exact = test::to_bytes(stream);
  Inflater inflater(exact, total, piece);
  return taken(inflater, total, piece);
}

// In parts too.
std::optional<std::string> inflated(const std::string& stream, size_t total, size_t piece) {
  const std::vector<std::byte> exact = test::to_bytes(stream);
  auto whole = inflated_whole(stream, total, piece);
  for (const size_t part : {1, 1000, 8192}) {
    EXPECT_TRUE(inflated_in_parts(exact, part, total, piece) == whole) << "parts of " << part << " bytes";
  }
  return whole;
}

// The same by zlib: all of the stream, and exactly `total` bytes.
std::optional<std::string> by_zlib(const std::string& stream, size_t total) {
  std::string out(total + 1, '\0');
  auto size = static_cast<uLongf>(out.size());
  auto used = static_cast<uLong>(stream.size());
  if (uncompress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(stream.data()), &used) !=
      Z_OK) {
    return std::nullopt;
  }
  if (size != total || used != stream.size()) return std::nullopt;
  out.resize(total);
  return out;
}

std::vector<std::string> contents(size_t size) {
  Random random(size);
  std::vector<std::string> all(6);
  for (size_t i = 0; i < size; ++i) {
    all[0] += 'a';                                                                     // Distance 1.
    all[1] += static_cast<char>(random.below(256));                                    // Nothing repeats.
    all[2] += static_cast<char>(i % 3 == 0 ? random.below(2) : 7);                     // Short distances.
    all[3] += static_cast<char>(i / 300 % 250 + random.below(3));                      // Literals of few values.
    all[4] += static_cast<char>(__builtin_ctzll(random.u64() | 1ULL << 40) * 5);       // Codes of all lengths.
    all[5] += i < 24'000 ? static_cast<char>(random.below(256)) : all[5][i - 24'000];  // Far matches.
  }
  return all;
}

TEST(PngInflate, GivesWhatWasCompressedInPiecesOfAnySize) {
  for (const size_t size : {1, 2, 300, 33'000, 200'000}) {
    for (const std::string& raw : contents(size)) {
      for (const int level : {0, 1, 6, 9}) {
        for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
          if (level == 0 && strategy != Z_DEFAULT_STRATEGY) continue;  // Nothing is compressed.
          const std::string stream = compressed(raw, level, strategy, 1 + static_cast<int>(size % 9));
          const auto said = testing::Message() << size << " " << level << " " << strategy;
          ASSERT_EQ(inflated(stream, size, 1'000), raw) << said;
          ASSERT_EQ(inflated_whole(stream, size, 40'001), raw) << said;
          ASSERT_EQ(inflated_whole(stream, size, size), raw) << said;
        }
      }
    }
  }
}

TEST(PngInflate, RefusesMoreOrFewerBytesThanExpected) {
  for (const std::string& raw : contents(5'000)) {
    const std::string stream = compressed(raw, 6, Z_DEFAULT_STRATEGY);
    EXPECT_TRUE(inflated(stream, raw.size(), 100));
    EXPECT_FALSE(inflated(stream, raw.size() + 1, 100));
    EXPECT_FALSE(inflated(stream, raw.size() - 1, 100));
    EXPECT_FALSE(inflated(stream + '\0', raw.size(), 100));
  }
}

// Each verdict is zlib's, so nothing that is right is refused, and the other way round.
void expect_verdict_of_zlib(const std::string& stream, const std::string& raw) {
  ASSERT_EQ(inflated(stream, raw.size(), 77), by_zlib(stream, raw.size()));
}

TEST(PngInflate, EveryCutAndFlippedBitHasTheVerdictOfZlib) {
  for (const std::string& raw : contents(400)) {
    for (const int strategy : {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY}) {
      const std::string stream = compressed(raw, strategy == Z_FIXED ? 1 : 9, strategy);
      for (size_t size = 0; size < stream.size(); ++size) expect_verdict_of_zlib(stream.substr(0, size), raw);
      for (size_t bit = 0; bit < 8 * stream.size(); ++bit) {
        std::string flipped = stream;
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
        expect_verdict_of_zlib(flipped, raw);
      }
    }
  }
}

TEST(PngInflate, DamageOfLargeStreamsHasTheVerdictOfZlib) {
  Random random(3);
  for (const std::string& raw : contents(150'000)) {
    const std::string stream = compressed(raw, 6, Z_DEFAULT_STRATEGY);
    for (size_t i = 0; i < test::quick_or(60, 3'000); ++i) {
      std::string damaged = stream;
      for (uint64_t k = random.below(3); k < 3; ++k) {
        damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
      }
      expect_verdict_of_zlib(damaged, raw);
    }
  }
}

// Writes a stream bit by bit.
struct Writer {
  void put(uint32_t value, int bits) {
    for (int i = 0; i < bits; ++i) add(value >> i & 1);
  }
  void code(const char* bits) {
    for (; *bits != '\0'; ++bits) add(*bits == '1' ? 1U : 0U);
  }
  void add(uint32_t bit) {
    if (used % 8 == 0) out += '\0';
    out.back() = static_cast<char>(static_cast<uint8_t>(out.back()) | bit << used++ % 8);
  }
  std::string out = "\x78\x01";
  int used = 0;
};

// Four times `a`, by codes of these lengths: of the lengths 18, 1, 2 and 0; of the end; of the only distance.
std::string by_own_codes(const std::array<uint32_t, 4>& code_lengths, uint32_t end_length, uint32_t far_length) {
  Writer writer;
  writer.put(1, 1);
  writer.put(2, 2);
  writer.put(0, 5);
  writer.put(0, 5);
  writer.put(14, 4);
  for (const int length : {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1}) {
    writer.put(length == 18  ? code_lengths[0]
               : length == 1 ? code_lengths[1]
               : length == 2 ? code_lengths[2]
               : length == 0 ? code_lengths[3]
                             : 0,
               3);
  }
  const auto length = [&writer](uint32_t value) { writer.code(value == 1 ? "10" : value == 2 ? "111" : "110"); };
  const auto zeros = [&writer](uint32_t count) {
    writer.code("0");
    writer.put(count - 11, 7);
  };
  zeros(97);
  length(1);
  zeros(138);
  zeros(20);
  length(end_length);
  length(far_length);
  writer.code("0000");
  writer.code(end_length == 1 ? "1" : "10");
  return writer.out + test::big_endian(static_cast<uint32_t>(adler32(1, reinterpret_cast<const Bytef*>("aaaa"), 4)));
}

TEST(PngInflate, IncompleteCodesAreRefusedThoughNothingUsesWhatIsMissing) {
  const auto expect = [](bool passes, const std::string& stream) {
    EXPECT_EQ(inflated(stream, 4, 4).has_value(), passes);
    expect_verdict_of_zlib(stream, "aaaa");
  };
  expect(true, by_own_codes({1, 2, 3, 3}, 1, 0));   // No distance
  expect(true, by_own_codes({1, 2, 3, 3}, 1, 1));   // One, of a bit.
  expect(false, by_own_codes({1, 2, 3, 3}, 1, 2));  // One of two bits.
  expect(false, by_own_codes({1, 2, 3, 3}, 2, 1));  // A literal of one bit, and an end of two.
  expect(false, by_own_codes({1, 2, 0, 3}, 1, 0));  // Code lengths.
  expect(false, by_own_codes({1, 1, 3, 3}, 1, 0));  // Too many.
}

TEST(PngInflate, AHeadThatAnnouncesTooSmallAWindowIsRefused) {
  const std::string raw = contents(3'000)[1];
  const auto announced = [&raw](int bits) {
    std::string stream = compressed(raw, 6, Z_DEFAULT_STRATEGY);
    const int method = (bits - 8) << 4 | 8;
    stream[0] = static_cast<char>(method);
    stream[1] = static_cast<char>(31 - (method << 8) % 31);
    return stream;
  };
  EXPECT_TRUE(inflated(announced(15), raw.size(), 100));
  EXPECT_TRUE(inflated(announced(12), raw.size(), 100));
  EXPECT_FALSE(inflated(announced(11), raw.size(), 100));
  EXPECT_FALSE(inflated(announced(16), raw.size(), 100));
}

TEST(PngInflate, ManyEmptyBlocksOfEachKindPass) {
  Writer writer;
  for (int i = 0; i < 2'000; ++i) {
    writer.put(0, 1);
    writer.put(1, 2);
    writer.put(0, 7);
  }
  writer.put(1, 1);
  writer.put(0, 2);
  const std::string stream = writer.out + std::string("\1\0\xfe\xff", 4) + "x" + test::big_endian(0x00790079);
  EXPECT_EQ(inflated(stream, 1, 1), "x");
  expect_verdict_of_zlib(stream, "x");
}

}  // namespace
}  // namespace headpond::png_internal
