// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/archive/tar_test_internal.h"
#include "headpond/io/archive/tar_walker_internal.h"

namespace headpond {
namespace {

using test::end;
using test::file;
using test::header;
using test::member;
using test::names_of;
using test::octal;
using test::pax;
using test::tar_error;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string base256(uint64_t value, char first = '\x80') {
  std::string field(12, '\0');
  for (size_t i = 0; i < 8; ++i) field[11 - i] = static_cast<char>(value >> 8 * i);
  field[0] = first;
  return field;
}

TEST(TarNames, ComeFromPrefixPaxAndGnuHeaders) {
  std::string prefixed = file("name", "");
  prefixed.replace(345, 6, "folder");
  EXPECT_THAT(names_of(test::with_checksum(prefixed) + end()), ElementsAre("folder/name"));
  for (const std::string_view version : {std::string_view("  "), std::string_view(" \0", 2), std::string_view("xy")}) {
    std::string other = prefixed;
    other.replace(263, 2, version);
    EXPECT_THAT(names_of(test::with_checksum(other) + end()), ElementsAre("folder/name")) << "any version";
  }
  std::string gnu = prefixed;
  gnu.replace(257, 8, std::string_view("ustar  \0", 8));
  EXPECT_THAT(names_of(test::with_checksum(gnu) + end()), ElementsAre("name"));
  const std::string longer(200, 'n');
  EXPECT_THAT(names_of(member('L', "././@LongLink", longer + '\0') + file("short", "") + file("next", "") + end()),
              ElementsAre(longer, "next"));
  EXPECT_THAT(names_of(member('K', "././@LongLink", longer) + file("a", "") + end()), ElementsAre("a"));
  EXPECT_THAT(names_of(pax("12 path=a/b\n15 comment=x=y\n") + file("short", "") + file("next", "") + end()),
              ElementsAre("a/b", "next"));
  EXPECT_THAT(names_of(pax("12 path=all\n", 'g') + pax("12 path=own\n") + file("x", "") + file("y", "") + end()),
              ElementsAre("own", "all"));
  EXPECT_THAT(names_of(file(std::string(100, 'n'), "") + end()), ElementsAre(std::string(100, 'n')));
}

TEST(TarSizes, ComeFromOctalBase256AndPax) {
  const auto size = [](const std::string& archive) { return test::index_of(archive).value().members.at(0).size; };
  EXPECT_EQ(size(header('0', "a", "     3 ") + std::string(512, 'x')), 3U);
  EXPECT_EQ(size(header('0', "a", "000000000003") + std::string(512, 'x')), 3U);
  EXPECT_EQ(size(header('0', "a", "") + end()), 0U);
  EXPECT_EQ(size(header('0', "a", base256(300)) + std::string(512, 'x')), 300U);
  EXPECT_EQ(size(pax("10 size=7\n") + header('0', "a", octal(0)) + std::string(512, 'x')), 7U);
}

// Fault row 66.
TEST(TarSizes, NegativeOrTooLargeIsDataLoss) {
  for (const std::string& field :
       {base256(1, '\xff'), base256(1, '\xc0'), base256(uint64_t{1} << 63), base256(1, '\x81'), base256(UINT64_MAX),
        octal(513), base256(uint64_t{1} << 62), std::string("-1"), std::string("12a"), std::string("9")}) {
    const Error error = tar_error(header('0', "a", field) + std::string(512, 'x'));
    EXPECT_EQ(error.kind(), ErrorKind::DataLoss) << field;
    EXPECT_THAT(error.message(), AllOf(HasSubstr("/data/x.tar: "), HasSubstr("in the tar header at offset 0")));
  }
  for (const char* records :
       {"11 size=-1\n", "11 size=1x\n", "28 size=9223372036854775808\n", "29 size=99999999999999999999\n"}) {
    EXPECT_EQ(tar_error(pax(records) + file("a", "")).kind(), ErrorKind::DataLoss) << records;
  }
  EXPECT_THAT(tar_error(header('0', "a", octal(513)) + std::string(512, 'x')).message(),
              HasSubstr("a member of 513 bytes, where at most 512 follow"));
}

// Fault row 68.
TEST(PaxHeaders, MalformedIsDataLossAndTooLongOrTooManyIsRefused) {
  for (const char* records : {"x", "0 path=a\n", "7 path=a\n", "99 path=a\n", "11 path=a\n", "9 path=ab", "10 patha\n1",
                              "6 =ab\n", "-9 path=a\n", "99999999999999999999 a=b\n", "4 a\n"}) {
    EXPECT_EQ(tar_error(pax(records) + file("a", "")).kind(), ErrorKind::DataLoss) << records;
  }
  const std::string large = "10485760 comment=" + std::string(10485760 - 18, 'x') + "\n";
  EXPECT_EQ(tar_error(pax(large) + file("a", "")).kind(), ErrorKind::ResourceExhausted);
  EXPECT_FALSE(tar_error(pax(large) + file("a", ""), {.max_header_bytes = 10485760}));
  std::string many;
  for (int i = 0; i < 17; ++i) many += pax("12 path=a/b\n");
  EXPECT_THAT(tar_error(many + file("a", "")).message(), HasSubstr("more than 16 headers"));
  EXPECT_THAT(names_of(many.substr(1024) + file("a", "")), ElementsAre("a/b"));
  EXPECT_THAT(tar_error(header('x', "a", octal(1 << 20))).message(), HasSubstr("where at most 0 follow"));
}

TEST(PaxHeaders, AreCountedAnewAfterASkippedMember) {
  const std::string skipped = header('5', "folder", octal(0)), one = pax("12 path=a/b\n");
  std::string many;
  for (int i = 0; i < 16; ++i) many += one;
  EXPECT_THAT(names_of(skipped + many + file("x", "")), ElementsAre("a/b"));
  EXPECT_THAT(tar_error(skipped + many + one + file("x", "")).message(), HasSubstr("more than 16 headers"));
  EXPECT_FALSE(tar_error(skipped + one + file("x", ""), {.max_headers = 1}));
  EXPECT_FALSE(tar_error(skipped + file("x", ""), {.max_headers = 0}));
  for (const std::string& before : {std::string(), skipped}) {
    EXPECT_EQ(tar_error(before + one + one + file("x", ""), {.max_headers = 1}).kind(), ErrorKind::ResourceExhausted);
    EXPECT_EQ(tar_error(before + one + file("x", ""), {.max_headers = 0}).kind(), ErrorKind::ResourceExhausted);
  }
}

TEST(PaxHeaders, NamesBeyondTheLimitAreRefused) {
  const std::string name(5000, 'n');
  EXPECT_EQ(tar_error(member('L', "l", name) + file("a", "")).kind(), ErrorKind::ResourceExhausted);
  EXPECT_FALSE(tar_error(member('L', "l", name) + file("a", ""), {.max_name_bytes = 5000}));
}

TEST(PaxHeaders, NamesOfAllMembersTogetherHaveALimit) {
  std::string archive = pax("30 path=" + std::string(21, 'g') + "\n", 'g');
  for (int i = 0; i < 10; ++i) archive += file("x", "");
  EXPECT_FALSE(tar_error(archive, {.max_all_name_bytes = 210}));
  const Error error = tar_error(archive, {.max_all_name_bytes = 209});
  EXPECT_EQ(error.kind(), ErrorKind::ResourceExhausted);
  EXPECT_THAT(error.message(), HasSubstr("/data/x.tar: names of more than 209 bytes in all"));
}

// Fault row 67.
TEST(SparseMembers, AreUnimplemented) {
  EXPECT_EQ(tar_error(member('S', "a", "x")).kind(), ErrorKind::Unimplemented);
  EXPECT_EQ(tar_error(pax("22 GNU.sparse.major=1\n") + file("a", "")).kind(), ErrorKind::Unimplemented);
}

// Fault row 65.
TEST(TarMembers, ThatAreNoRegularFilesAreSkippedAndCounted) {
  std::string archive;
  for (const char type : {'1', '2', '3', '4', '5', '6'}) archive += header(type, "x", octal(1 << 30));
  archive += member('V', "label", "content") + member('\0', "folder/", "") + file("a", "1") + member('\0', "b", "") +
             member('7', "c", "");
  const auto index = test::index_of(archive + end()).value();
  EXPECT_EQ(index.skipped, 8U);
  EXPECT_THAT(names_of(archive + end()), ElementsAre("a", "b", "c"));
}

// Fault row 69.
TEST(TarEnds, MayBeMissingAndHideWhatFollows) {
  const std::string archive = file("a", "content");
  EXPECT_THAT(names_of(archive + end() + file("b", "")), ElementsAre("a"));
  EXPECT_THAT(names_of(archive + std::string(512, '\0')), ElementsAre("a"));
  EXPECT_THAT(names_of(archive), ElementsAre("a"));
  EXPECT_THAT(names_of(archive.substr(0, 512 + 7)), ElementsAre("a"));
  EXPECT_THAT(names_of(""), IsEmpty());
  EXPECT_THAT(names_of(end()), IsEmpty());
}

TEST(TarEnds, AfterAHeaderThatAnnouncesAMemberAreDataLoss) {
  const std::string before = file("a", "content"), records = "12 path=a/b\n";
  for (const char type : {'x', 'X', 'L', 'K'}) {
    const std::string announced = before + member(type, "b", records);
    for (const std::string& archive : {announced, announced + end(), announced.substr(0, announced.size() - 500)}) {
      EXPECT_EQ(tar_error(archive).kind(), ErrorKind::DataLoss) << type;
    }
    EXPECT_THAT(tar_error(announced + end()).message(),
                HasSubstr("/data/x.tar: the archive ends at offset 2048, where"));
  }
  EXPECT_THAT(names_of(before + pax(records, 'g')), ElementsAre("a"));
  EXPECT_THAT(names_of(before + pax(records) + header('5', "folder", octal(0))), ElementsAre("a"));
}

// Fault row 69.
TEST(TarChecksums, WrongIsDataLossWithAHint) {
  std::string archive = file("a", "content");
  archive[3] = 'x';
  EXPECT_THAT(tar_error(archive).message(), AllOf(HasSubstr("checksum"), HasSubstr("may not be a tar archive")));
  EXPECT_EQ(tar_error(file("b", "") + archive).kind(), ErrorKind::DataLoss);
  EXPECT_THAT(tar_error(file("b", "") + archive).message(), HasSubstr("at offset 512"));
  // Some old programs summed signed bytes.
  std::string old = file("\xe9", "");
  const size_t unsigned_sum = std::stoul(old.substr(148, 6), nullptr, 8);
  old.replace(148, 6, fmt::format("{:06o}", unsigned_sum - 256));
  EXPECT_THAT(names_of(old), ElementsAre("\xe9"));
}

TEST(TarMagic, OfCompressedBytesIsUnimplemented) {
  const auto text = [](std::string_view magic, size_t size) { return std::string(magic).append(size, 'x'); };
  for (const size_t size : {10U, 5000U}) {
    const Error error = tar_error(text("\x1f\x8b", size));
    EXPECT_EQ(error.kind(), ErrorKind::Unimplemented);
    EXPECT_EQ(error.message(),
              "/data/x.tar: compressed by gzip: random access requires an uncompressed archive; decompress it, or read "
              "it in order, inflated");
    EXPECT_THAT(tar_error(text("\x78\x9c", size)).message(), HasSubstr("compressed by zlib: "));
    EXPECT_EQ(tar_error(text("\x28\xb5\x2f\xfd", size)).message(),
              "/data/x.tar: compressed by zstd: random access requires an uncompressed archive; decompress it");
    EXPECT_THAT(tar_error(text({"\xfd\x37zXZ\0", 6}, size)).message(), HasSubstr("compressed by xz: "));
    EXPECT_EQ(tar_error(text("\xfd\x37zXZ", size)).kind(), ErrorKind::DataLoss);
    for (const char* const mark : {"BZh91AY&SY", "BZh1\x17\x72\x45\x38\x50\x90"}) {
      EXPECT_THAT(tar_error(text(mark, size)).message(), HasSubstr("compressed by bzip2: "));
    }
    EXPECT_EQ(tar_error(text("BZh01AY&SY", size)).kind(), ErrorKind::DataLoss);
  }
  // Letters that begin a name may begin a zlib stream as well.
  EXPECT_THAT(names_of(file("8O", "")), ElementsAre("8O"));
  EXPECT_EQ(tar_error(file("8O", "").replace(3, 1, "x")).kind(), ErrorKind::DataLoss);
  EXPECT_EQ(tar_error(file("a", "") + text("\x1f\x8b", 510)).kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond
