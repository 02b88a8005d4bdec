// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/base/crc32c.h"
#include "headpond/io/archive/tar_test_internal.h"

namespace headpond {
namespace {

using test::content_of;
using test::index_of;
using test::names_of;

TEST(TarWriter, IsReadBackWithNamesOfEveryLength) {
  std::string archive;
  std::vector<std::string> names;
  for (const size_t length : {1U, 99U, 100U, 101U, 155U, 156U, 255U, 256U, 257U, 1000U, 4000U}) {
    names.emplace_back(length, 'n');
    std::string deep(length, 'd');
    for (size_t at = 9; at + 1 < length; at += 10) deep[at] = '/';
    if (length > 1) names.push_back(deep);
  }
  names.insert(names.end(), {"caf\xc3\xa9", "/abs", "../x", "/" + std::string(100, 'a'),
                             std::string(155, 'p') + "/" + std::string(100, 'n')});
  for (const std::string& name : names) ASSERT_TRUE(append_tar_member(archive, name, name));
  archive += tar_end();
  const TarIndex index = index_of(archive).value();
  ASSERT_EQ(index.members.size(), names.size());
  for (size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(index.members[i].name, names[i]);
    EXPECT_EQ(content_of(archive, index.members[i]), names[i]);
  }
}

TEST(TarWriter, UsesPaxOnlyWhereItMust) {
  EXPECT_EQ(tar_header(std::string(100, 'n'), 1)->size(), 512U);
  EXPECT_EQ(tar_header(std::string(155, 'p') + "/" + std::string(100, 'n'), 1)->size(), 512U);
  EXPECT_EQ(tar_header(std::string(101, 'n'), 1)->size(), 1536U);
  EXPECT_EQ(tar_header("caf\xc3\xa9", 1)->size(), 1536U);
  EXPECT_EQ(tar_header("a", (uint64_t{1} << 33) - 1)->size(), 512U);
  const std::string large = tar_header("a", uint64_t{1} << 33).value();
  EXPECT_EQ(large.substr(512, 19), "19 size=8589934592\n");
}

TEST(TarWriter, GivesTheSameBytesOnEveryMachine) {
  std::string archive;
  ASSERT_TRUE(append_tar_member(archive, "a.txt", "hello"));
  ASSERT_TRUE(append_tar_member(archive, std::string(120, 'n') + ".txt", ""));
  archive += tar_end();
  EXPECT_EQ(archive.size(), 4096U - 512U);
  EXPECT_EQ(crc32c(archive), 4089734782U);
}

TEST(TarWriter, PadsToWholeBlocks) {
  for (const uint64_t size : {0U, 1U, 511U, 512U, 513U}) EXPECT_EQ((size + tar_padding(size).size()) % 512, 0U);
  EXPECT_EQ(tar_padding(0).size(), 0U);
  EXPECT_EQ(tar_padding(UINT64_MAX).size(), 1U);
  EXPECT_EQ(tar_end().size(), 1024U);
}

TEST(TarWriter, RefusesNamesThatWouldNotComeBack) {
  for (const std::string& name : {std::string(), std::string("folder/"), std::string("a\0b", 3)}) {
    std::string archive = "before";
    EXPECT_EQ(append_tar_member(archive, name, "").error().kind(), ErrorKind::InvalidArgument);
    EXPECT_EQ(archive, "before");
  }
}

TEST(TarWriter, RefusesWhatItsReaderWouldRefuse) {
  EXPECT_TRUE(tar_header(std::string(4096, 'n'), 0));
  EXPECT_EQ(tar_header(std::string(4097, 'n'), 0).error().kind(), ErrorKind::InvalidArgument);
  EXPECT_TRUE(tar_header("a", INT64_MAX));
  EXPECT_EQ(tar_header("a", uint64_t{INT64_MAX} + 1).error().kind(), ErrorKind::InvalidArgument);
}

TEST(TarWriter, SaysOfANameThatIsNoUtf8ThatItIsBinary) {
  EXPECT_EQ(tar_header("\xff", 0)->substr(512, 30), "21 hdrcharset=BINARY\n9 path=\xff\n");
  EXPECT_EQ(tar_header("\xc3\xa9", 0)->substr(512, 11), "11 path=\xc3\xa9\n");
  EXPECT_EQ(names_of(tar_header("caf\xe9", 0).value()), std::vector<std::string>{"caf\xe9"});
}

}  // namespace
}  // namespace headpond
