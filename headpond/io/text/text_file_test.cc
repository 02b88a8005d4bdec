// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <string>

#include "headpond/io/memory_test_internal.h"
#include "headpond/io/text/text_file_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::HasSubstr;

constexpr uint64_t kNoLimit = UINT64_MAX;

Result<std::string> text_of(const test::Bytes& bytes, uint64_t limit = kNoLimit) {
  const auto whole = TextFile::over("t", bytes, limit);
  if (!whole) return fail(whole.error());
  return std::string(whole->text());
}

TEST(TextFile, GivesPlainGzipAndZlibBytesOfAFileAndOfMemory) {
  const TempFolder folder;
  for (const size_t size : {0U, 1U, 1000U, 3'000'000U}) {
    std::string text(size, 'a');
    for (size_t i = 0; i < size; i += 7) text[i] = static_cast<char>('a' + i * i % 23);
    for (const auto& bytes : {to_bytes(text), test::gzip(to_bytes(text)), test::zlib(to_bytes(text))}) {
      EXPECT_EQ(text_of(bytes).value(), text);
      put_file(folder.file("t"), bytes);
      const TextFile whole = TextFile::open(folder.file("t"), kNoLimit).value();
      EXPECT_EQ(whole.text(), text);
      EXPECT_EQ(whole.name(), folder.file("t"));
      EXPECT_TRUE(whole.check());
      EXPECT_TRUE(whole.check_now());
    }
  }
}

TEST(TextFile, LettersThatBeginAsZlibDoesAreText) {
  for (const std::string text : {"x^2,y\n1,2\n", "HK,a\n", "8O", "x^"})
    EXPECT_EQ(text_of(to_bytes(text)).value(), text);
}

TEST(TextFile, ADamagedOrCutStreamIsDataLoss) {
  for (auto bytes : {test::gzip(to_bytes("some text")), test::zlib(to_bytes(std::string(5000, 'x') + "\x01"))}) {
    bytes.back() ^= std::byte{1};
    EXPECT_EQ(text_of(bytes).error().kind(), ErrorKind::DataLoss);
    bytes.resize(bytes.size() - 3);
    EXPECT_EQ(text_of(bytes).error().kind(), ErrorKind::DataLoss);
    EXPECT_THAT(text_of(bytes).error().message(), HasSubstr("t: "));
  }
}

TEST(TextFile, NamesACompressionThatIsNotRead) {
  for (const auto& [start, name] :
       {std::pair(std::string("\xfd\x37zXZ\0 more", 11), "xz"), std::pair(std::string("BZh91AY&SY more"), "bzip2")}) {
    const Error error = text_of(to_bytes(start)).error();
    EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
    EXPECT_EQ(error.message(), std::string("t: compressed by ") + name + ", which is not supported; decompress it");
  }
  EXPECT_EQ(text_of(to_bytes("BZh9 is a text")).value(), "BZh9 is a text");
}

TEST(TextFile, StopsABombAtTheLimit) {
  const auto bomb = test::gzip(test::Bytes(10'000'000));
  EXPECT_EQ(text_of(bomb, 9'999'999).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(text_of(bomb, 10'000'000).value().size(), 10'000'000U);
}

TEST(TextFile, WithoutMemoryIsAnError) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  const auto bomb = test::gzip(test::Bytes(300'000'000), 1);
  EXPECT_OUT_OF_MEMORY(test::naming("t", [&] { return TextFile::over("t", bomb, kNoLimit); }));
}

TEST(TextFile, ABombTakesNoMoreMemoryThanTheLimit) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  constexpr uint64_t kLimit = 50'000'000;  // The child may have 256 MB in all.
  const auto bomb = test::gzip(test::Bytes(kLimit + 1), 1);
  EXPECT_REFUSED_BY_LIMIT([&]() -> Result<bool> {
    mallopt(M_MMAP_THRESHOLD, 1 << 17);  // Its first value; else what malloc keeps for later counts too.
    test::limit_memory_to_present_and(kLimit + kLimit / 10);
    const auto text = TextFile::over("t", bomb, kLimit);
    if (text || text.error().message().find("limit of 50000000 bytes") == std::string::npos) return true;
    return fail(text.error());
  });
}

TEST(TextFile, TakesWhatAReaderReadsUpToTheLimit) {
  const auto content = to_bytes("some text");
  for (const uint64_t limit : {0, 8}) {
    const auto refused = TextFile::over(*make_memory_reader("t", content), limit);
    EXPECT_EQ(refused.error().kind(), ErrorKind::ResourceExhausted);
    EXPECT_THAT(refused.error().message(), HasSubstr("t: more than the limit"));
  }
  const TextFile whole = TextFile::over(*make_memory_reader("t", content), 9).value();
  EXPECT_EQ(whole.text(), "some text");
  EXPECT_EQ(whole.max_offsets(), 0U);
  EXPECT_EQ(TextFile::over(*make_memory_reader("t", {}), 0)->text(), "");
}

TEST(TextFile, AnIndexOfWhatWasInflatedKeepsToTheLimit) {
  const auto plain = to_bytes("text"), packed = test::gzip(plain);
  EXPECT_TRUE(TextFile::over("t", plain, 8)->check_index(INT64_MAX));
  const TextFile whole = TextFile::over("t", packed, 84).value();
  EXPECT_TRUE(whole.check_index(10));
  EXPECT_EQ(whole.check_index(11).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(whole.check_index(11).error().message(),
            "t: more than 10 lines in 4 inflated bytes: with 8 bytes for each line's offset they exceed the limit "
            "(max_inflated_bytes)");
  EXPECT_FALSE(whole.check_index(UINT64_MAX));
}

TEST(TextFile, NoticesAFileThatShrinks) {
  const TempFolder folder;
  put_file(folder.file("t"), test::Bytes(100'000, std::byte{'a'}));
  const TextFile whole = TextFile::open(folder.file("t"), kNoLimit).value();
  ASSERT_EQ(truncate(folder.file("t").c_str(), 10), 0);
  EXPECT_EQ(whole.check_now().error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(whole.text()[90'000], '\0');
  EXPECT_EQ(whole.check().error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::internal
