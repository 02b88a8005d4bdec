// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "headpond/io/compression/deflate_internal.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/record/record_test_internal.h"

namespace headpond::internal {
namespace {

using Octets = test::Bytes;

Octets inflated(const Octets& packed, Compression compression, size_t size) {
  auto memory = make_memory_reader("x", packed);
  const auto reader =
      compression == Compression::gzip ? make_gzip_reader(std::move(memory)) : make_zlib_reader(std::move(memory));
  Octets plain(size + 1);
  size_t got = 0;
  while (got < plain.size()) {
    const auto more = reader->read(std::span(plain).subspan(got));
    if (!more || *more == 0) break;
    got += *more;
  }
  plain.resize(got);
  return plain;
}

TEST(Deflater, MakesWhatZlibMakesWhateverThePiecesAre) {
  const Octets plain = test::frames_of(std::vector<std::string>(300, std::string(1'000, 'x')));
  for (const auto compression : {Compression::gzip, Compression::zlib}) {
    for (const int level : {0, 1, 6, 9}) {
      Octets packed;
      const auto deflater = Deflater::make(compression, level).value();
      for (size_t at = 0; at < plain.size(); at += 70'000) {
        const size_t size = std::min<size_t>(70'000, plain.size() - at);
        deflater->add(std::span(plain).subspan(at, size), DeflateStep::gather, packed);
      }
      deflater->add({}, DeflateStep::finish, packed);
      EXPECT_EQ(inflated(packed, compression, plain.size()), plain);
      if (level == 0) continue;  // Stored blocks are as long as the pieces.
      EXPECT_EQ(packed, compression == Compression::gzip ? test::gzip(plain, level) : test::zlib(plain, level));
    }
  }
}

TEST(Deflater, ShowsAllSoFarAfterAFlush) {
  const Octets plain = test::frames_of({"abc", "de"});
  const auto deflater = Deflater::make(Compression::gzip, 6).value();
  Octets packed;
  deflater->add(plain, DeflateStep::flush, packed);
  EXPECT_EQ(inflated(packed, Compression::gzip, plain.size()), plain);
}

TEST(Deflater, RefusesOtherLevelsAndCompressions) {
  EXPECT_EQ(Deflater::make(Compression::gzip, -1).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(Deflater::make(Compression::zlib, 10).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_EQ(Deflater::make(Compression::snappy, 6).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
