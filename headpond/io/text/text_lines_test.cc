// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/text_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using internal::Fault;
using internal::FaultInjection;
using test::put_file;
using test::TempFolder;
using test::to_bytes;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Lines {
  std::vector<std::string> texts;
  std::vector<int64_t> numbers;
  std::vector<uint64_t> offsets;
  std::vector<std::string> errors;
};

Lines all(TextLines& lines) {
  Lines all;
  while (all.errors.size() < 10) {
    const auto line = lines.next();
    if (!line) {
      all.errors.push_back(line.error().message());
    } else if (!*line) {
      break;
    } else {
      all.texts.emplace_back((*line)->text);
      all.numbers.push_back((*line)->number);
      all.offsets.push_back((*line)->offset);
    }
  }
  return all;
}

Lines lines_of(const std::string& text, const TextLinesOptions& options = {}) {
  const auto bytes = to_bytes(text);
  TextLines lines(make_memory_reader("t.txt", bytes), options);
  return all(lines);
}
std::vector<std::string> texts(const std::string& text, const TextLinesOptions& options = {}) {
  return lines_of(text, options).texts;
}

TEST(TextLines, GivesEachLineWithItsNumberAndOffset) {
  const Lines lines = lines_of("ab\n\nc\r\nd\n");
  EXPECT_THAT(lines.texts, ElementsAre("ab", "", "c", "d"));
  EXPECT_THAT(lines.numbers, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(lines.offsets, ElementsAre(0, 3, 4, 7));
}

TEST(TextLines, ALastLineWithoutANewlineIsDelivered) {
  EXPECT_THAT(texts("a\nb"), ElementsAre("a", "b"));
  EXPECT_THAT(texts("b"), ElementsAre("b"));
}

TEST(TextLines, AnEmptyTextHasNoLines) { EXPECT_THAT(texts(""), IsEmpty()); }

TEST(TextLines, OneNewlineIsOneEmptyLine) {
  EXPECT_THAT(texts("\n"), ElementsAre(""));
  EXPECT_THAT(texts("\r\n"), ElementsAre(""));
}

TEST(TextLines, OnlyOneCarriageReturnAndOnlyBeforeANewlineIsPartOfTheEnd) {
  EXPECT_THAT(texts("a\rb\r\r\nc\r"), ElementsAre("a\rb\r", "c\r"));
}

TEST(TextLines, KeepsNulAndBytesThatAreNoText) {
  const std::string odd("\0\xff\xc3(\0", 5);
  EXPECT_THAT(texts(odd + "\n" + odd), ElementsAre(odd, odd));
}

TEST(TextLines, TheEndIsSticky) {
  const auto bytes = to_bytes("a");
  TextLines lines(make_memory_reader("t", bytes));
  EXPECT_TRUE(*lines.next());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(*lines.next());
}

TEST(TextLines, SkipsAByteOrderMarkOnlyIfAskedToAndOnlyAtTheBegin) {
  const std::string mark = "\xef\xbb\xbf";
  EXPECT_THAT(texts(mark + "a\n" + mark + "b"), ElementsAre(mark + "a", mark + "b"));
  const Lines lines = lines_of(mark + "a\n" + mark + "b", {.skip_bom = true});
  EXPECT_THAT(lines.texts, ElementsAre("a", mark + "b"));
  EXPECT_THAT(lines.offsets, ElementsAre(3, 5));
  EXPECT_THAT(texts(mark, {.skip_bom = true}), IsEmpty());
  EXPECT_THAT(texts(mark.substr(0, 2), {.skip_bom = true}), ElementsAre(mark.substr(0, 2)));
  EXPECT_THAT(texts(mark, {.skip_bom = true, .start = {.offset = 8, .lines = 1}}), ElementsAre(mark));
}

TEST(TextLines, HeaderLinesCountButAreNotGiven) {
  const Lines lines = lines_of("h\nh2\na\n", {.skip_header_lines = 2});
  EXPECT_THAT(lines.texts, ElementsAre("a"));
  EXPECT_THAT(lines.numbers, ElementsAre(3));
  EXPECT_THAT(texts("h\nh2", {.skip_header_lines = 2}), IsEmpty());
  EXPECT_THAT(texts("h\n", {.skip_header_lines = 5}), IsEmpty());
  EXPECT_THAT(texts("", {.skip_header_lines = 1}), IsEmpty());
  EXPECT_THROW(texts("", {.skip_header_lines = -1}), Exception);
}

TEST(TextLines, AHeaderLineMayBeLongerThanTheLimit) {
  EXPECT_THAT(texts(std::string(200'000, 'h') + "\na\n", {.skip_header_lines = 1, .max_line_bytes = 3}),
              ElementsAre("a"));
}

TEST(TextLines, ALineThatIsTooLongIsAnErrorWithItsPlaceAndTheNextOneFollows) {
  for (const size_t length : {6U, 200'000U}) {
    const Lines lines = lines_of("ab\n" + std::string(length, 'x') + "\nabcde\ny", {.max_line_bytes = 5});
    EXPECT_THAT(lines.texts, ElementsAre("ab", "abcde", "y"));
    EXPECT_THAT(lines.numbers, ElementsAre(1, 3, 4));
    EXPECT_THAT(lines.errors, ElementsAre("t.txt, line 2 at offset 3: more than 5 bytes in a line (max_line_bytes)"));
  }
  EXPECT_THAT(lines_of("a\n123456", {.max_line_bytes = 5}).errors.size(), 1U);
}

TEST(TextLines, LinesOfAnyLengthCrossTheEdgesOfReads) {
  std::string text;
  std::vector<std::string> expected;
  for (size_t length = 0; length < 140'000; length = length * 2 + 1) {
    expected.emplace_back(length, static_cast<char>('a' + expected.size()));
    text += expected.back() + (length % 3 == 0 ? "\r\n" : "\n");
  }
  EXPECT_EQ(texts(text), expected);
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes(text));
  const FaultInjection one_byte([](std::string_view) { return Fault{.error = 0, .bytes = 611}; });
  auto lines = TextLines::open(folder.file("t")).value();
  EXPECT_EQ(all(lines).texts, expected);
}

TEST(TextLines, GoesOnFromAnyPosition) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("\xef\xbb\xbfhead\nab\n\nc\r\nd"));
  const TextLinesOptions options = {.skip_header_lines = 1, .skip_bom = true};
  auto whole = TextLines::open(folder.file("t"), options).value();
  const Lines expected = all(whole);
  ASSERT_EQ(expected.texts.size(), 4U);
  auto lines = TextLines::open(folder.file("t"), options).value();
  for (size_t given = 0; given <= expected.texts.size(); ++given) {
    TextLinesOptions rest = options;
    rest.start = lines.position();
    auto again = TextLines::open(folder.file("t"), rest).value();
    const Lines left = all(again);
    EXPECT_EQ(left.texts,
              std::vector(expected.texts.begin() + static_cast<std::ptrdiff_t>(given), expected.texts.end()));
    EXPECT_EQ(left.numbers,
              std::vector(expected.numbers.begin() + static_cast<std::ptrdiff_t>(given), expected.numbers.end()));
    (void)lines.next();
  }
}

TEST(TextLines, ThePositionWithinALineThatIsTooLongIsItsBegin) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("a\n" + std::string(200'000, 'x') + "tail\nb\n"));
  for (const bool is_header : {false, true}) {
    const TextLinesOptions options = {.skip_header_lines = is_header ? 2 : 0, .max_line_bytes = 9};
    auto lines = TextLines::open(folder.file("t"), options).value();
    if (!is_header) {
      EXPECT_EQ((*lines.next())->text, "a");
      EXPECT_EQ(lines.next().error().kind(), ErrorKind::ResourceExhausted);
      EXPECT_EQ(lines.position(), (TextPosition{2, 1}));
    }
    int reads = 0;
    const FaultInjection second_fails([&](std::string_view call) {
      return call == "read" ? Fault{++reads == 2 ? EIO : 0, SIZE_MAX} : Fault{};
    });
    EXPECT_EQ(lines.next().error().kind(), ErrorKind::DataLoss);
    EXPECT_EQ(lines.position(), (TextPosition{2, 1}));
    TextLinesOptions rest = options;
    rest.start = lines.position();
    auto again = TextLines::open(folder.file("t"), rest).value();
    const Lines left = all(again);
    EXPECT_THAT(left.texts, ElementsAre("b"));
    EXPECT_THAT(left.numbers, ElementsAre(3));
    EXPECT_EQ(left.errors.size(), is_header ? 0U : 1U);
    EXPECT_EQ((*lines.next())->text, "b");
    EXPECT_EQ(lines.position(), (TextPosition{200'009, 3}));
  }
}

TEST(TextLines, TheEndOfALineDoesNotCountForItsLength) {
  EXPECT_THAT(texts("abc\r\nabc\n\r\n", {.max_line_bytes = 3}), ElementsAre("abc", "abc", ""));
  EXPECT_THAT(texts("\r\n\n", {.max_line_bytes = 0}), ElementsAre("", ""));
  for (const char* text : {"abc\r", "abc\r\r\n", "abcd\r\n", "abc\rd"}) {
    const Lines lines = lines_of(text, {.max_line_bytes = 3});
    EXPECT_THAT(lines.texts, IsEmpty());
    EXPECT_EQ(lines.errors.size(), 1U) << text;
  }
  EXPECT_THAT(texts("abc\r", {.max_line_bytes = 4}), ElementsAre("abc\r"));
}

TEST(TextLines, RefusesAStartThatNoTextHas) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("a\nb\n"));
  for (const TextPosition start : {TextPosition{2, -1}, TextPosition{2, INT64_MAX}, TextPosition{2, 3},
                                   TextPosition{0, 1}, TextPosition{UINT64_MAX, INT64_MAX}}) {
    EXPECT_THROW(texts("a", {.start = start}), Exception);
    EXPECT_EQ(TextLines::open(folder.file("t"), {.start = start}).error().kind(), ErrorKind::InvalidArgument);
  }
  EXPECT_EQ((*TextLines::open(folder.file("t"), {.start = {2, 2}})->next())->number, 3);
}

TEST(TextLines, ReadsCompressedTexts) {
  const auto bytes = to_bytes("a\nb\n");
  TextLines lines(inflate_if_gzip(make_memory_reader("t", bytes)).value());
  EXPECT_THAT(all(lines).texts, ElementsAre("a", "b"));
}

TEST(TextLines, NamesAMissingFileAFolderAndAPositionPastTheEnd) {
  const TempFolder folder;
  EXPECT_EQ(TextLines::open(folder.file("no")).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(TextLines::open(folder.path()).error().kind(), ErrorKind::FailedPrecondition);
  put_file(folder.file("t"), to_bytes("a\n"));
  EXPECT_FALSE(*TextLines::open(folder.file("t"), {.start = {2, 1}})->next());
  const auto after = TextLines::open(folder.file("t"), {.start = {3, 1}});
  EXPECT_EQ(after.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(after.error().message(), AllOf(HasSubstr(folder.file("t")), HasSubstr("offset 3")));
}

TEST(TextLines, AfterAnErrorOfTheDiskTheNextCallTriesAgain) {
  const TempFolder folder;
  put_file(folder.file("t"), to_bytes("ab\ncd\n"));
  auto lines = TextLines::open(folder.file("t")).value();
  int reads = 0;
  const FaultInjection odd_reads_fail([&](std::string_view call) {
    return call == "read" ? Fault{reads++ % 2 == 0 ? EIO : 0, 1} : Fault{};
  });
  std::vector<std::string> got;
  for (int calls = 0; calls < 100 && got.size() < 2; ++calls) {
    const auto line = lines.next();
    if (line) {
      got.emplace_back((*line)->text);
    } else {
      EXPECT_EQ(line.error().kind(), ErrorKind::DataLoss);
    }
  }
  EXPECT_THAT(got, ElementsAre("ab", "cd"));
  EXPECT_EQ(lines.name(), folder.file("t"));
}

}  // namespace
}  // namespace headpond
