// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/line_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "headpond/io/memory_test_internal.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> all(const LineFile& file) {
  std::vector<std::string> lines;
  for (int64_t i = 0; i < file.size(); ++i) {
    const auto line = file.at(i);
    lines.emplace_back(line ? std::string(*line) : line.error().message());
  }
  return lines;
}

std::vector<std::string> lines_of(const std::string& text, const LineFileOptions& options = {}) {
  const auto bytes = to_bytes(text);
  return all(*LineFile::over("t.txt", bytes, options).value());
}

TEST(LineFile, GivesAnyLineByItsNumber) {
  EXPECT_THAT(lines_of("ab\n\nc\r\nd\n"), ElementsAre("ab", "", "c", "d"));
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("first\nsecond\nthird"));
  const auto file = LineFile::open(folder.file("t")).value();
  EXPECT_EQ(file->size(), 3);
  EXPECT_EQ(file->at(2).value(), "third");
  EXPECT_EQ(file->at(0).value(), "first");
  EXPECT_EQ(file->path(), folder.file("t"));
  EXPECT_TRUE(file->check());
}

TEST(LineFile, AnEmptyFileHasNoLinesAndALastLineNeedsNoNewline) {
  EXPECT_THAT(lines_of(""), ElementsAre());
  EXPECT_THAT(lines_of("\n"), ElementsAre(""));
  EXPECT_THAT(lines_of("a\nb"), ElementsAre("a", "b"));
}

TEST(LineFile, HasTheLinesThatTextLinesGives) {
  const std::string odd("\0\xff\r\r\n\xef\xbb\xbf\r\n\n\n\r", 13);
  for (const std::string& text : {odd, odd + "\n", "\xef\xbb\xbf" + odd, "\xef\xbb\xbf" + odd + odd + "x"}) {
    for (int64_t skipped = 0; skipped < 8; ++skipped) {
      for (const bool skip_bom : {false, true}) {
        const auto bytes = to_bytes(text);
        const auto file = LineFile::over("t", bytes, {.skip_header_lines = skipped, .skip_bom = skip_bom}).value();
        TextLines lines(make_memory_reader("t", bytes), {.skip_header_lines = skipped, .skip_bom = skip_bom});
        for (int64_t i = 0; i < file->size(); ++i) {
          const auto line = lines.next().value();
          ASSERT_TRUE(line);
          EXPECT_EQ(file->at(i).value(), line->text);
          EXPECT_EQ(file->position(i), (TextPosition{line->offset, line->number - 1}));
        }
        EXPECT_FALSE(lines.next().value());
      }
    }
  }
}

TEST(LineFile, ReadsGzipAndZlibByTheirContent) {
  const TempFolder folder;
  for (const auto& bytes : {test::gzip(to_bytes("a\nb\r\n")), test::zlib(to_bytes("a\nb\r\n"))}) {
    put_file(folder.file("t"), bytes);
    const auto file = LineFile::open(folder.file("t")).value();
    EXPECT_THAT(all(*file), ElementsAre("a", "b"));
    EXPECT_TRUE(file->check());
  }
  const auto bomb = test::gzip(test::Bytes(1000));
  EXPECT_EQ(LineFile::over("t", bomb, {.max_inflated_bytes = 999}).error().kind(), ErrorKind::ResourceExhausted);
  const auto lines = test::gzip(test::Bytes(1000, std::byte{'\n'}));
  EXPECT_EQ(LineFile::over("t", lines, {.max_inflated_bytes = 8999}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(LineFile::over("t", lines, {.max_inflated_bytes = 9000}).value()->size(), 1000);
}

TEST(LineFile, OfALineThatIsTooLongOnlyItsOwnReadFails) {
  EXPECT_THAT(lines_of("h\nab\n" + std::string(6, 'x') + "\nabcde\r\n", {.skip_header_lines = 1, .max_line_bytes = 5}),
              ElementsAre("ab", "t.txt, line 3 at offset 5: 6 bytes in a line, at most 5 (max_line_bytes)", "abcde"));
  const auto bytes = to_bytes("123456");
  const auto file = LineFile::over("t", bytes, {.max_line_bytes = 5}).value();
  EXPECT_EQ(file->at(0).error().kind(), ErrorKind::ResourceExhausted);
}

TEST(LineFile, SaysWhichLineIsNotThere) {
  const auto bytes = to_bytes("a\nb");
  const auto file = LineFile::over("t", bytes).value();
  for (const int64_t i : {int64_t{-1}, int64_t{2}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ(file->at(i).error().kind(), ErrorKind::OutOfRange);
  }
  EXPECT_THAT(file->at(2).error().message(), HasSubstr("t: no line 2: there are 2"));
}

TEST(LineFile, RefusesNegativeHeadersAndFilesThatAreNotThere) {
  EXPECT_THROW((void)LineFile::open("t", {.skip_header_lines = -1}), Exception);
  EXPECT_THROW((void)LineFile::over("t", {}, {.skip_header_lines = -1}), Exception);
  const TempFolder folder;
  EXPECT_EQ(LineFile::open(folder.file("none")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(LineFile::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
}

TEST(LineFile, AFileThatShrinksIsToldByCheckAndEndsNoProgram) {
  const TempFolder folder;
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += std::to_string(i) + '\n';
  put_file(folder.file("t"), to_bytes(text));
  const auto file = LineFile::open(folder.file("t")).value();
  const std::string_view first = file->at(0).value(), last = file->at(19'999).value();
  EXPECT_TRUE(file->check_read(last));
  ASSERT_EQ(truncate(folder.file("t").c_str(), 10), 0);
  EXPECT_TRUE(file->check_read(first)) << "on a page that is still there";
  EXPECT_EQ(file->check_read(last).error().kind(), ErrorKind::DataLoss);
  for (const std::string& line : all(*file)) (void)line;
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
}

TEST(LineFile, ACutWithinAPageIsToldByCheck) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("one\ntwo\nthree\n"));
  const auto file = LineFile::open(folder.file("t")).value();
  EXPECT_TRUE(file->check());
  ASSERT_EQ(truncate(folder.file("t").c_str(), 9), 0);
  EXPECT_EQ(file->at(2).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
}

TEST(LineFile, OtherLinesThatAreWrittenInTheirPlaceAreNotGivenInPieces) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("one\ntwo\nthree\nfour"));
  const auto file = LineFile::open(folder.file("t")).value();
  ASSERT_THAT(all(*file), ElementsAre("one", "two", "three", "four"));
  const auto write = [&](const std::string& text) {  // Into the same file, as `>` does.
    std::ofstream(folder.file("t"), std::ios::in | std::ios::binary) << text;
  };
  const auto changed = HasSubstr("was rewritten while it was read");
  write("ten\neleven\nsix\nseven\n");
  EXPECT_THAT(all(*file), ElementsAre("ten", changed, changed, changed));
  write("1\n2\ntwo\nthree\nfour\n");
  EXPECT_THAT(all(*file), ElementsAre(changed, "two", "three", "four")) << "a line of several is none";
}

TEST(LineFile, WithoutMemoryIsAnErrorWithTheName) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  const test::Bytes lines(80'000'000, std::byte{'\n'});
  EXPECT_OUT_OF_MEMORY(test::naming("t", [&] { return LineFile::over("t", lines); }));
}

TEST(LineFile, ManyThreadsReadTheSameLines) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += std::to_string(i) + '\n';
  const auto bytes = to_bytes(text);
  const auto file = LineFile::over("t", bytes).value();
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&file] {
      for (int64_t i = 0; i < file->size(); ++i) EXPECT_EQ(file->at(i).value(), std::to_string(i));
    });
  }
}

}  // namespace
}  // namespace headpond
