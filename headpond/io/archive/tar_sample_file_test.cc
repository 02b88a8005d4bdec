// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar_sample_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "headpond/io/archive/tar_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

class TarSampleFileTest : public testing::Test {
 protected:
  std::unique_ptr<TarSampleFile> open(const std::string& archive) const {
    test::put_file(path(), test::to_bytes(archive));
    return TarSampleFile::open(path()).value();
  }
  std::string path() const { return folder_.file("a.tar"); }
  static std::string text(const TarSampleFile& file, int64_t i) {
    const auto sample = file.at(i);
    if (!sample) return sample.error().message();
    std::string all = sample->key + ":";
    for (const auto& part : sample->parts) {
      const auto bytes = file.file().bytes().subspan(part.offset, part.size);
      all += " " + part.extension + "=" + std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    return all;
  }

  const test::TempFolder folder_;
};

TEST_F(TarSampleFileTest, ReadsTheHeadersOfASampleWhenItIsAskedFor) {
  const std::string archive = test::file("README", "r") + test::file("a/1.JPG", "one") + test::file("LICENSE", "l") +
                              test::pax("17 path=a/1.long\n") + test::file("short", "two") +
                              test::member('5', "a/", "") + test::file("a/2.jpg", "") + test::end();
  const auto file = open(archive);
  ASSERT_EQ(file->size(), 2);
  EXPECT_EQ(text(*file, 1), "a/2: jpg=");
  EXPECT_EQ(text(*file, 0), "a/1: jpg=one long=two");
  EXPECT_EQ(file->index()->size(), 2U);
  EXPECT_EQ(open(test::end())->size(), 0);
}

TEST_F(TarSampleFileTest, AKeyLastsWhetherOrNotItIsInOnePieceInTheFile) {
  std::string block = test::header('0', "name.x", test::octal(0));
  block.replace(345, 6, "prefix");
  const auto file = open(test::file("whole.x", "") + test::with_checksum(block) + test::end());
  ASSERT_EQ(file->size(), 2);
  const auto inside = file->lasting_key(0, file->at(0).value()), made = file->lasting_key(1, file->at(1).value());
  EXPECT_EQ(inside, "whole");
  EXPECT_EQ(made, "prefix/name");
  EXPECT_EQ(file->lasting_key(1, file->at(1).value()).data(), made.data());
  const auto bytes = file->file().bytes();
  EXPECT_GE(static_cast<const void*>(inside.data()), static_cast<const void*>(bytes.data()));
  EXPECT_LT(static_cast<const void*>(inside.data()), static_cast<const void*>(bytes.data() + bytes.size()));
}

TEST_F(TarSampleFileTest, TellsWhatIndexAndGroupsTell) {
  test::put_file(path(), test::to_bytes(test::file("a.x", "1") + test::file("b.x", "") + test::file("a.y", "")));
  EXPECT_THAT(TarSampleFile::open(path()).error().message(), HasSubstr("appears again after another one"));
  test::put_file(path(), test::to_bytes("nothing"));
  EXPECT_EQ(TarSampleFile::open(path()).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(TarSampleFile::open(folder_.file("none")).error().kind(), ErrorKind::NotFound);
}

TEST_F(TarSampleFileTest, AFileThatShrinksIsDataLoss) {
  std::string archive;
  for (int i = 0; i < 50; ++i) archive += test::file(std::to_string(i) + ".x", std::string(600, 'x'));
  const auto file = open(archive + test::end());
  const auto part = file->at(40).value().parts[0];
  const auto* const bytes = reinterpret_cast<const char*>(file->file().bytes().data());
  EXPECT_TRUE(file->can_be_read({bytes + part.offset, part.size}));
  ASSERT_EQ(truncate(path().c_str(), 2000), 0);
  EXPECT_FALSE(file->can_be_read({bytes + part.offset, part.size}));
  EXPECT_EQ(file->at(40).error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond::internal
