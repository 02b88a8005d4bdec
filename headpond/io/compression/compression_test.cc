// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/compression/compression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/io/file/file.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::HasSubstr;

constexpr auto kNone = static_cast<Compression>(4), kFarOff = static_cast<Compression>(255);

TEST(Compression, HasANameWhateverItsNumber) {
  EXPECT_EQ(to_string(Compression::snappy), "snappy");
  EXPECT_TRUE(is_known(Compression::snappy));
  for (const Compression wrong : {kNone, kFarOff}) {
    EXPECT_EQ(to_string(wrong), "unknown");
    EXPECT_FALSE(is_known(wrong));
  }
}

TEST(Compression, ThatDoesNotExistIsAnInvalidArgumentOfReadersAndWriters) {
  const test::TempFolder folder;
  const std::string path = folder.file("a");
  test::put_file(path, {});
  for (const Compression wrong : {kNone, kFarOff}) {
    for (const auto mode : {WriteMode::replace, WriteMode::in_place, WriteMode::append}) {
      const Error error = RecordWriter::open(path, {.mode = mode, .compression = wrong}).error();
      EXPECT_EQ(error.kind(), ErrorKind::InvalidArgument);
      EXPECT_THAT(error.message(), HasSubstr("unknown"));
    }
    for (const auto& reader :
         {RecordReader::open(path, {.compression = wrong}).error(),
          RecordReader::over("a", test::to_bytes(""), {.compression = wrong}).error(),
          RecordReader::over(make_memory_reader("a", test::to_bytes("some bytes")), {.compression = wrong}).error()}) {
      EXPECT_EQ(reader.kind(), ErrorKind::InvalidArgument);
      EXPECT_THAT(reader.message(), HasSubstr("is unknown"));
    }
  }
}

}  // namespace
}  // namespace headpond
