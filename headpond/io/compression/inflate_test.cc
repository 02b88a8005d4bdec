// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/compression/inflate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "headpond/base/random.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::Bytes;
using test::gzip;
using test::joined;
using test::to_bytes;
using test::zlib;
using testing::AllOf;
using testing::HasSubstr;

Bytes noise(size_t size, uint32_t values) {
  Random random(size);
  Bytes bytes(size);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random.below(values));
  return bytes;
}

// Gives at most `step` bytes at a time.
class Trickle final : public ByteReader {
 public:
  Trickle(const Bytes& bytes, size_t step) : memory_(make_memory_reader("/data/x.gz", bytes)), step_(step) {}
  Result<size_t> read(std::span<std::byte> to) override { return memory_->read(to.first(std::min(step_, to.size()))); }
  uint64_t left_at_most() const override { return memory_->left_at_most(); }
  const std::string& name() const override { return memory_->name(); }

 private:
  std::unique_ptr<ByteReader> memory_;
  size_t step_;
};

Result<Bytes> read_all(ByteReader& reader, size_t step = 4096) {
  Bytes all, part(step);
  while (true) {
    const auto got = reader.read(part);
    if (!got) return fail(got.error());
    if (*got == 0) return all;
    all.insert(all.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(*got));
  }
}

Result<Bytes> inflate(const Bytes& compressed, size_t step_in = SIZE_MAX, size_t step_out = 4096) {
  const auto reader = make_gzip_reader(std::make_unique<Trickle>(compressed, step_in));
  return read_all(*reader, step_out);
}

Result<Bytes> inflate_zlib(const Bytes& compressed, size_t step_in = SIZE_MAX, size_t step_out = 4096) {
  const auto reader = make_zlib_reader(std::make_unique<Trickle>(compressed, step_in));
  return read_all(*reader, step_out);
}

TEST(Gzip, GivesTheBytesThatWereCompressed) {
  for (const size_t size : {0, 1, 2, 100, 70'000, 1'000'000}) {
    for (const int level : {0, 1, 9}) {
      const Bytes plain = noise(size, 7);
      EXPECT_EQ(inflate(gzip(plain, level)).value(), plain) << size << " bytes at level " << level;
    }
  }
}

// Also where a member ends at, before and after the edge of a piece.
TEST(Gzip, ReadsAllMembersWhateverThePiecesAre) {
  const Bytes a = noise(300, 3), b = noise(41, 200), c;
  const Bytes compressed = joined({gzip(a), gzip(c), gzip(b, 0), gzip(a, 1)});
  const Bytes plain = joined({a, b, a});
  for (size_t step_in = 1; step_in <= compressed.size(); step_in += step_in < 40 ? 1 : 17) {
    for (const size_t step_out : {1, 2, 3, 8, 299, 300, 301, 4096}) {
      ASSERT_EQ(inflate(compressed, step_in, step_out).value(), plain) << step_in << " in, " << step_out << " out";
    }
  }
}

// The stream of `plain` with extra field, name, comment and check value in its header.
Bytes gzip_with_parts(const Bytes& plain) {
  Bytes compressed = gzip(plain);
  compressed[3] = std::byte{0x1e};
  Bytes header(compressed.begin(), compressed.begin() + 10);
  header = joined({header, to_bytes(std::string("\x03\0xyzname\0comment\0", 18))});
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(header.data()), static_cast<uInt>(header.size()));
  header.insert(header.end(), {static_cast<std::byte>(crc & 0xff), static_cast<std::byte>(crc >> 8 & 0xff)});
  return joined({header, Bytes(compressed.begin() + 10, compressed.end())});
}

TEST(Gzip, ReadsTheOptionalPartsOfTheHeader) {
  const Bytes compressed =
      joined({gzip_with_parts(to_bytes("abc")), gzip(to_bytes("d")), gzip_with_parts(to_bytes("e"))});
  for (size_t step = 1; step < compressed.size(); ++step) {
    EXPECT_EQ(inflate(compressed, step).value(), to_bytes("abcde")) << step;
  }
  Bytes damaged = gzip_with_parts(to_bytes("abc"));
  damaged[16] ^= std::byte{1};  // In the name: only the header's own check value covers it.
  EXPECT_EQ(inflate(damaged).error().kind(), ErrorKind::DataLoss);
}

TEST(Gzip, ReportsEveryCutWithFileAndOffset) {
  const Bytes compressed = joined({gzip(to_bytes("first member")), gzip(to_bytes("second"))});
  const size_t first = gzip(to_bytes("first member")).size();
  for (size_t cut = 0; cut < compressed.size(); ++cut) {
    const Bytes part(compressed.begin(), compressed.begin() + static_cast<ptrdiff_t>(cut));
    for (const size_t step : {1, 1000}) {
      const auto result = inflate(part, step);
      if (cut == first) {
        EXPECT_EQ(result.value(), to_bytes("first member"));
        continue;
      }
      ASSERT_FALSE(result) << cut;
      EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss) << cut;
      EXPECT_THAT(result.error().message(),
                  AllOf(HasSubstr("/data/x.gz"), HasSubstr("truncated"), HasSubstr(fmt::format("offset {},", cut))));
    }
  }
}

TEST(Gzip, BytesAfterItsEndThatAreNoStreamAreNotCalledACutAlone) {
  for (size_t count = 1; count < 40; ++count) {
    const auto result = inflate(joined({gzip(to_bytes("first")), Bytes(count, std::byte{'x'})}));
    ASSERT_FALSE(result) << count;
    EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss) << count;
    const auto& message = result.error().message();
    EXPECT_TRUE(message.find("truncated") == std::string::npos ||
                message.find("something else follows it") != std::string::npos)
        << count << ": " << message;
  }
}

// Text flag, time and system in the header and the padding before the trailer say nothing about the content; every
// other bit is checked.
TEST(Gzip, NeverGivesOtherBytesWhenABitIsFlipped) {
  const Bytes plain = noise(64, 5);
  const Bytes compressed = gzip(plain);
  int accepted = 0;
  for (size_t bit = 0; bit < 8 * compressed.size(); ++bit) {
    Bytes damaged = compressed;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto result = inflate(damaged);
    if (!result) {
      EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss) << bit;
      continue;
    }
    ++accepted;
    EXPECT_EQ(*result, plain) << "bit " << bit;
    const size_t byte = bit / 8;
    EXPECT_TRUE((byte >= 3 && byte < 10) || byte == compressed.size() - 9) << bit;
  }
  EXPECT_LE(accepted, 8 * 8);
}

TEST(Gzip, RefusesWhatFollowsTheLastMember) {
  Bytes compressed = gzip(to_bytes("abc"));
  const size_t size = compressed.size();
  for (const auto& tail : {"x", "tail of something"}) {
    const auto result = inflate(joined({compressed, to_bytes(tail)}));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(result.error().message(), HasSubstr("compressed offset"));
  }
  EXPECT_GT(size, 18U);
}

TEST(Gzip, KeepsItsError) {
  Bytes compressed = gzip(noise(5000, 5));
  compressed.resize(compressed.size() - 1);
  const auto reader = make_gzip_reader(std::make_unique<Trickle>(compressed, 1000));
  const auto first = read_all(*reader);
  ASSERT_FALSE(first);
  EXPECT_EQ(reader->read(compressed).error().message(), first.error().message());
}

TEST(Gzip, GivesWhatCameBeforeTheDamageFirst) {
  const Bytes plain = noise(500, 5);
  for (const bool is_zlib : {false, true}) {
    Bytes compressed = is_zlib ? zlib(plain) : gzip(plain);
    compressed[compressed.size() - 1] ^= std::byte{1};  // In the length; in the check value.
    auto source = make_memory_reader("x", compressed);
    const auto reader = is_zlib ? make_zlib_reader(std::move(source)) : make_gzip_reader(std::move(source));
    Bytes got(1000);
    ASSERT_EQ(reader->read(got).value(), plain.size());
    got.resize(plain.size());
    EXPECT_EQ(got, plain);
    EXPECT_THAT(reader->read(got).error().message(), HasSubstr("wrong checksum or length"));
  }
}

TEST(Gzip, StopsABombAtTheLimit) {
  const Bytes bomb = gzip(Bytes(10'000'000), 9);
  ASSERT_LT(bomb.size(), 20'000U);
  const auto reader = make_gzip_reader(std::make_unique<Trickle>(bomb, 1000), 1'000'000);
  const auto result = read_all(*reader);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(result.error().message(), AllOf(HasSubstr("/data/x.gz"), HasSubstr("1000000")));
  const auto enough = make_gzip_reader(std::make_unique<Trickle>(bomb, 1000), 10'000'000);
  EXPECT_EQ(read_all(*enough).value().size(), 10'000'000U);
}

TEST(Gzip, KnowsABoundOfWhatIsToCome) {
  const Bytes compressed = gzip(Bytes(1'000'000), 9);
  const auto reader = make_gzip_reader(make_memory_reader("x", compressed));
  EXPECT_GE(reader->left_at_most(), 1'000'000U);
  EXPECT_LE(reader->left_at_most(), 1'100'000U);
}

TEST(Gzip, PassesOnTheErrorOfItsSource) {
  class Failing final : public ByteReader {
   public:
    Result<size_t> read(std::span<std::byte>) override { return fail(ErrorKind::FailedPrecondition, "no cable"); }
    uint64_t left_at_most() const override { return 100; }
    const std::string& name() const override { return name_; }

   private:
    std::string name_ = "x";
  };
  const auto reader = make_gzip_reader(std::make_unique<Failing>());
  EXPECT_EQ(read_all(*reader).error().message(), "no cable");
  EXPECT_EQ(inflate_if_gzip(std::make_unique<Failing>()).error().message(), "no cable");
}

TEST(Gzip, CountsEachReader) {
  const Bytes compressed = gzip(Bytes(5000));
  const InflateCounts before = inflate_counts();
  EXPECT_TRUE(inflate(compressed));
  const InflateCounts after = inflate_counts();
  EXPECT_EQ(after.streams - before.streams, 1);
  EXPECT_EQ(after.bytes_in - before.bytes_in, static_cast<int64_t>(compressed.size()));
  EXPECT_EQ(after.bytes_out - before.bytes_out, 5000);
}

TEST(Zlib, GivesTheBytesThatWereCompressed) {
  for (const size_t size : {0, 1, 2, 100, 70'000, 1'000'000}) {
    for (const int level : {0, 1, 6, 9}) {
      for (const int window : {9, 15}) {
        const Bytes plain = noise(size, 7), compressed = zlib(plain, level, window);
        EXPECT_TRUE(is_zlib(compressed) && !is_gzip(compressed));
        EXPECT_EQ(inflate_zlib(compressed).value(), plain) << size << " bytes at level " << level;
      }
    }
  }
}

TEST(Zlib, ReadsOneStreamWhateverThePiecesAreAndRefusesWhatFollows) {
  const Bytes plain = noise(300, 3), compressed = zlib(plain);
  for (size_t step_in = 1; step_in <= compressed.size() + 10; ++step_in) {
    for (const size_t step_out : {1, 3, 299, 300, 301, 4096}) {
      const auto got = inflate_zlib(compressed, step_in, step_out);
      ASSERT_TRUE(got) << got.error() << " " << step_in << " " << step_out;
      ASSERT_EQ(*got, plain);
      for (const size_t more : {1, 2, 3, 4, 5, 9}) {
        const auto refused = inflate_zlib(joined({compressed, Bytes(more, std::byte{0x78})}), step_in, step_out);
        ASSERT_FALSE(refused) << more << " bytes more, " << step_in << " " << step_out;
        ASSERT_EQ(refused.error().kind(), ErrorKind::DataLoss);
      }
    }
  }
}

TEST(Zlib, ReportsEveryCutWithFileAndOffset) {
  const Bytes compressed = zlib(to_bytes("a stream that is cut"));
  for (size_t cut = 0; cut < compressed.size(); ++cut) {
    for (const size_t step : {1, 1000}) {
      const auto result =
          inflate_zlib(Bytes(compressed.begin(), compressed.begin() + static_cast<ptrdiff_t>(cut)), step);
      ASSERT_FALSE(result) << cut;
      EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss) << cut;
      EXPECT_THAT(result.error().message(), AllOf(HasSubstr("/data/x.gz: zlib: "), HasSubstr("truncated"),
                                                  HasSubstr(fmt::format("offset {},", cut))));
    }
  }
}

// Window size and level in the header say nothing about the content, nor does the padding before the trailer.
TEST(Zlib, NeverGivesOtherBytesWhenABitIsFlipped) {
  const Bytes plain = noise(64, 5), compressed = zlib(plain);
  for (size_t bit = 0; bit < 8 * compressed.size(); ++bit) {
    Bytes damaged = compressed;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto result = inflate_zlib(damaged);
    if (result) {
      EXPECT_EQ(*result, plain) << "bit " << bit;
      EXPECT_EQ(bit / 8, compressed.size() - 5) << bit;
    } else {
      EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss) << bit;
    }
  }
}

TEST(Zlib, RefusesADictionary) {
  z_stream stream = {};
  ASSERT_EQ(deflateInit(&stream, 6), Z_OK);
  ASSERT_EQ(deflateSetDictionary(&stream, reinterpret_cast<const Bytef*>("word"), 4), Z_OK);
  Bytes compressed(100);
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = 100;
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  deflateEnd(&stream);
  EXPECT_FALSE(is_zlib(compressed));
  EXPECT_THAT(inflate_zlib(compressed).error().message(), HasSubstr("a dictionary is needed"));
}

TEST(Zlib, StopsABombAtTheLimit) {
  const Bytes bomb = zlib(Bytes(10'000'000), 9);
  const auto reader = make_zlib_reader(std::make_unique<Trickle>(bomb, 1000), 1'000'000);
  EXPECT_EQ(read_all(*reader).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(UnsupportedCompression, IsNamedByItsWholeMark) {
  const std::string xz("\xfd\x37zXZ\0", 6), zstd = "\x28\xb5\x2f\xfd", bzip2 = "BZh91AY&SY",
                                            none = "BZh1\x17\x72\x45\x38\x50\x90";
  for (const auto& [mark, name] : {std::pair(xz, "xz"), {zstd, "zstd"}, {bzip2, "bzip2"}, {none, "bzip2"}}) {
    EXPECT_EQ(unsupported_compression(to_bytes(mark)), name);
    EXPECT_EQ(unsupported_compression(to_bytes(mark + "more")), name);
    EXPECT_EQ(unsupported_compression(to_bytes(mark.substr(0, mark.size() - 1))), "");
    const Error error = inflate_if_gzip(make_memory_reader("x", to_bytes(mark))).error();
    EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
    EXPECT_EQ(error.message(), std::string("x: compressed by ") + name + ", which is not supported; decompress it");
  }
  for (const Bytes& other :
       {Bytes(), to_bytes("BZh01AY&SY"), to_bytes("BZh is a text"), gzip(Bytes(9)), zlib(Bytes(9))})
    EXPECT_EQ(unsupported_compression(other), "");
}

TEST(InflateIfGzip, DecidesByTheFirstBytes) {
  for (const Bytes& plain : {to_bytes("plain text"), to_bytes("p"), Bytes(), to_bytes("\x1f")}) {
    for (const Bytes& bytes : {plain, gzip(plain)}) {
      const auto reader = inflate_if_gzip(std::make_unique<Trickle>(bytes, 1)).value();
      EXPECT_GE(reader->left_at_most(), plain.size());
      EXPECT_EQ(read_all(*reader).value(), plain);
    }
  }
}

TEST(InflateIfGzip, HoldsPlainBytesToTheLimitToo) {
  EXPECT_TRUE(inflate_if_gzip(make_memory_reader("x", to_bytes("abc")), 3));
  EXPECT_EQ(inflate_if_gzip(make_memory_reader("x", to_bytes("abc")), 2).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(Gzip, GivesExactlyTheLimitAndThenTheError) {
  const Bytes content(100'000, std::byte{7});
  const auto packed = test::gzip(content);
  const auto reader = make_gzip_reader(make_memory_reader("x", packed), 70'001);
  Bytes to(80'000);
  EXPECT_EQ(reader->read(to).value(), 70'001U);
  EXPECT_EQ(reader->left_at_most(), 0U);
  EXPECT_EQ(reader->read(to).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(reader->left_at_most(), 0U);
}

}  // namespace
}  // namespace headpond
