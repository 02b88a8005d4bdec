// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/idx.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::put_file;
using test::TempFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

// "00 00 08 01" as bytes.
Bytes hex(std::string_view text) {
  Bytes bytes;
  for (size_t at = 0; at < text.size(); at += 3) {
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(text.substr(at, 2)), nullptr, 16)));
  }
  return bytes;
}

Result<Tensor> read(const Bytes& bytes, uint64_t limit = UINT64_MAX) {
  return read_idx(make_memory_reader("/data/x-idx", bytes), limit);
}
Result<Tensor> read(std::string_view text) { return read(hex(text)); }

Error error_of(std::string_view text) {
  const auto result = read(text);
  EXPECT_FALSE(result) << text;
  return result ? Error() : result.error();
}

void put_gzip(const std::string& path, const Bytes& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  EXPECT_EQ(gzclose(file), Z_OK);
}

const Bytes kSix = hex("00 00 08 02 00 00 00 02 00 00 00 03 01 02 03 04 05 06");

TEST(ReadIdx, GivesShapeAndValues) {
  const Tensor tensor = read(kSix).value();
  EXPECT_EQ(tensor.dtype(), u8);
  EXPECT_EQ(tensor.shape(), (Shape{2, 3}));
  EXPECT_THAT(tensor.as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ReadIdx, ConvertsEveryTypeFromBigEndian) {
  EXPECT_THAT(read("00 00 09 01 00 00 00 02 ff 7f")->as<int8_t>(), ElementsAre(-1, 127));
  EXPECT_THAT(read("00 00 0b 01 00 00 00 02 ff fe 01 02")->as<int16_t>(), ElementsAre(-2, 0x0102));
  EXPECT_THAT(read("00 00 0c 01 00 00 00 01 01 02 03 04")->as<int32_t>(), ElementsAre(0x01020304));
  EXPECT_THAT(read("00 00 0d 01 00 00 00 01 3f c0 00 00")->as<float>(), ElementsAre(1.5F));
  EXPECT_THAT(read("00 00 0e 01 00 00 00 01 c0 04 00 00 00 00 00 00")->as<double>(), ElementsAre(-2.5));
}

TEST(ReadIdx, AcceptsASizeOfZero) {
  const Tensor tensor = read("00 00 08 02 00 00 00 00 ff ff ff ff").value();
  EXPECT_EQ(tensor.shape(), (Shape{0, 0xffffffff}));
  EXPECT_EQ(tensor.size(), 0);
}

TEST(ReadIdx, AcceptsUpTo32Dimensions) {
  Bytes bytes = hex("00 00 08 20");
  for (int i = 0; i < 32; ++i) bytes.insert(bytes.end(), {std::byte{0}, std::byte{0}, std::byte{0}, std::byte{1}});
  bytes.push_back(std::byte{9});
  const Tensor tensor = read(bytes).value();
  EXPECT_EQ(tensor.rank(), 32);
  EXPECT_THAT(tensor.as<uint8_t>(), ElementsAre(9));
}

TEST(ReadIdx, RefusesAWrongMagicTypeAndRank) {
  struct Case {
    std::string_view bytes, found, expected;
  };
  for (const auto& [bytes, found, expected] : std::vector<Case>{
           {"01 00 08 01 00 00 00 00", "found 01 00 08 01", "expected 00 00"},
           {"00 02 08 01 00 00 00 00", "found 00 02 08 01", "expected 00 00"},
           {"00 00 00 01 00 00 00 00", "found 00 00 00 01", "expected 08, 09, 0b, 0c, 0d or 0e"},
           {"00 00 0a 01 00 00 00 00", "found 00 00 0a 01", "offset 2"},
           {"00 00 0f 01 00 00 00 00", "found 00 00 0f 01", "type code"},
           {"00 00 08 00", "found 00 00 08 00", "rank 0 at offset 3: expected 1 to 32"},
           {"00 00 08 21", "found 00 00 08 21", "rank 33 at offset 3"},
       }) {
    const Error error = error_of(bytes);
    EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument) << bytes;
    EXPECT_THAT(error.message(), AllOf(HasSubstr("/data/x-idx"), HasSubstr(found), HasSubstr(expected)));
  }
}

TEST(ReadIdx, RefusesSizesBeyondTheFileBeforeItAllocates) {
  Error error = error_of("00 00 08 03 00 00 ff ff 00 00 00 1c 00 00 00 1c 01 02");
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("65535 x 28 x 28"), HasSubstr("51379440 bytes"), HasSubstr("most 2 ")));
  error = error_of("00 00 0e 02 7f ff ff ff 7f ff ff ff");
  EXPECT_THAT(error.message(), HasSubstr("overflow"));
  error = error_of("00 00 08 03 ff ff ff ff ff ff ff ff ff ff ff ff");
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("sizes overflow: uint8 of 4294967295 x 4294967295 x 4294967295"));
  EXPECT_THAT(error_of("00 00 08 02 7f ff ff ff ff ff ff ff").message(), HasSubstr("beyond"));
}

TEST(ReadIdx, RefusesBytesAfterTheLastValue) {
  const Error error = error_of("00 00 08 01 00 00 00 02 01 02 ab");
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("ends at offset 10"), HasSubstr("found ab")));
}

TEST(ReadIdx, RefusesEveryCut) {
  for (size_t cut = 0; cut < kSix.size(); ++cut) {
    const auto result = read(Bytes(kSix.begin(), kSix.begin() + static_cast<ptrdiff_t>(cut)));
    ASSERT_FALSE(result) << cut;
    EXPECT_EQ(result.error().kind(), cut < 12 ? ErrorKind::DataLoss : ErrorKind::InvalidArgument) << cut;
    EXPECT_THAT(result.error().message(), HasSubstr("/data/x-idx")) << cut;
  }
  EXPECT_EQ(read(Bytes()).error().message(),
            "/data/x-idx: an IDX header of at least 4 bytes was expected, 0 bytes were found");
}

// No size, rank or type fits the same payload, except that u8 and i8 have one size.
TEST(ReadIdx, NoticesEachFlippedBitOfTheHeader) {
  for (size_t bit = 0; bit < 8 * 12; ++bit) {
    Bytes damaged = kSix;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto result = read(damaged);
    if (bit == 8 * 2) {
      EXPECT_EQ(result->dtype(), i8);
      continue;
    }
    EXPECT_FALSE(result) << "bit " << bit;
  }
}

TEST(ReadIdx, RefusesMoreThanTheLimit) {
  EXPECT_TRUE(read(kSix, kSix.size()));
  EXPECT_EQ(read(kSix, kSix.size() - 1).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(ReadIdx, SurvivesShortReads) {
  const TempFolder folder;
  put_file(folder.file("a"), kSix);
  for (const size_t bytes : {1, 2, 5}) {
    const internal::FaultInjection fault([&](std::string_view) { return internal::Fault{.bytes = bytes}; });
    EXPECT_THAT(read_idx(folder.file("a"))->as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  }
}

TEST(ReadIdx, PassesOnWhatTheSystemSays) {
  const TempFolder folder;
  EXPECT_EQ(read_idx(folder.file("none")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read_idx(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
  put_file(folder.file("a"), kSix);
  for (const std::string_view failing : {"open", "fstat", "read"}) {
    const internal::FaultInjection fault(
        [&](std::string_view call) { return internal::Fault{.error = call == failing ? EIO : 0}; });
    EXPECT_EQ(read_idx(folder.file("a")).error().kind(), ErrorKind::DataLoss) << failing;
  }
}

TEST(ReadIdx, InflatesAGzipFileOnceWhateverItsName) {
  const TempFolder folder;
  put_gzip(folder.file("plain-name"), kSix);
  const InflateCounts before = inflate_counts();
  EXPECT_THAT(read_idx(folder.file("plain-name"))->as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(inflate_counts().streams - before.streams, 1);
  EXPECT_EQ(inflate_counts().bytes_out - before.bytes_out, static_cast<int64_t>(kSix.size()));
  put_file(folder.file("plain.gz"), kSix);
  EXPECT_TRUE(read_idx(folder.file("plain.gz")));
  EXPECT_EQ(inflate_counts().streams - before.streams, 1);
}

TEST(ReadIdx, RefusesEveryCutAndFlipOfAGzipFile) {
  const TempFolder folder;
  put_gzip(folder.file("a"), kSix);
  const Bytes whole = test::get_file(folder.file("a"));
  for (size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_FALSE(read(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(cut)))) << cut;
  }
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    const auto result = read(damaged);
    if (result) {
      EXPECT_THAT(result->as<uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6)) << bit;
    }
  }
}

TEST(ReadIdx, RefusesAGzipFileThatHoldsTooLittleOrTooMuch) {
  const TempFolder folder;
  Bytes bytes = kSix;
  bytes.pop_back();
  put_gzip(folder.file("a"), bytes);
  EXPECT_THAT(read_idx(folder.file("a")).error().message(), AllOf(HasSubstr("needs 18 bytes"), HasSubstr("has 17")));
  bytes.resize(kSix.size() + 1);
  put_gzip(folder.file("a"), bytes);
  EXPECT_EQ(read_idx(folder.file("a")).error().kind(), ErrorKind::InvalidArgument);
}

TEST(ReadIdxPair, RefusesImagesAndLabelsOfDifferentLength) {
  const TempFolder folder;
  const std::vector<uint8_t> values = {5, 0, 4};
  ASSERT_TRUE(write_idx(folder.file("two"), Tensor::from(std::span(values).first(2), {2, 1})));
  ASSERT_TRUE(write_idx(folder.file("three"), Tensor::from<uint8_t>(values, {3})));
  const Error error = read_idx_pair(folder.file("two"), folder.file("three")).error();
  EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(error.message(),
            fmt::format("{} has 2 images, but {} has 3 labels", folder.file("two"), folder.file("three")));
  const IdxPair pair = read_idx_pair(folder.file("three"), folder.file("three")).value();
  EXPECT_THAT(pair.labels.as<uint8_t>(), ElementsAre(5, 0, 4));
  EXPECT_EQ(read_idx_pair(folder.file("two"), folder.file("none")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(read_idx_pair(folder.file("none"), folder.file("two")).error().kind(), ErrorKind::NotFound);
}

TEST(WriteIdx, IsReadBackForEveryType) {
  const TempFolder folder;
  const auto round_trip = [&]<class T>(std::vector<T> values, const Shape& shape) {
    const Tensor tensor = Tensor::from(std::span<const T>(values), shape);
    ASSERT_TRUE(write_idx(folder.file("a"), tensor));
    const Tensor back = read_idx(folder.file("a")).value();
    EXPECT_EQ(back.shape(), shape);
    const auto read_back = back.as<T>();
    EXPECT_EQ(std::vector<T>(read_back.begin(), read_back.end()), values);
  };
  round_trip(std::vector<uint8_t>{1, 2, 3, 255}, {4});
  round_trip(std::vector<int8_t>{-1, 2}, {2, 1});
  round_trip(std::vector<int16_t>{-300, 2}, {1, 2});
  round_trip(std::vector<int32_t>{1 << 30, -5}, {2});
  round_trip(std::vector<float>{1.25F, -0.0F, 1e30F}, {3, 1, 1});
  round_trip(std::vector<double>{1e300}, {1});
  round_trip(std::vector<double>{}, {0, 5});
  ASSERT_TRUE(write_idx(folder.file("b"), read(kSix).value()));
  EXPECT_EQ(test::get_file(folder.file("b")), kSix);
}

TEST(WriteIdx, RefusesWhatTheFormatLacks) {
  const TempFolder folder;
  for (const Tensor& tensor : {Tensor::scalar(uint8_t{1}), Tensor::from(std::span<const int64_t>(), Shape{0}),
                               Tensor::from(std::span<const uint8_t>(), Shape{0, int64_t{1} << 32})}) {
    const auto written = write_idx(folder.file("a"), tensor);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_EQ(folder.count(), 0U);
  }
}

TEST(Mnist, IsReadAsPublished) {
  const std::string folder = test::test_data("mnist-idx");
  if (folder.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
  const IdxPair train =
      read_idx_pair(folder + "/train-images-idx3-ubyte.gz", folder + "/train-labels-idx1-ubyte.gz").value();
  EXPECT_EQ(train.images.shape(), (Shape{60000, 28, 28}));
  const auto labels = train.labels.as<uint8_t>();
  EXPECT_EQ(std::vector<uint8_t>(labels.begin(), labels.begin() + 5), (std::vector<uint8_t>{5, 0, 4, 1, 9}));
  std::array<int, 10> counts = {};
  for (const uint8_t label : labels) ++counts.at(label);
  EXPECT_THAT(counts, ElementsAre(5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949));
  const auto pixels = train.images.as<uint8_t>();
  EXPECT_EQ(std::accumulate(pixels.begin(), pixels.end(), int64_t{0}), 1'567'298'545);
  const Tensor test_labels = read_idx(folder + "/t10k-labels-idx1-ubyte.gz").value();
  EXPECT_EQ(test_labels.shape(), (Shape{10000}));
  EXPECT_EQ(test_labels.as<uint8_t>()[0], 7);
}

}  // namespace
}  // namespace headpond
