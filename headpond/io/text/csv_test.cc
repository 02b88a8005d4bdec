// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
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
using testing::HasSubstr;

std::string shown(const Tensor& value) {
  switch (value.dtype()) {
    case DType::i64:
      return fmt::format("{}", value.as<int64_t>()[0]);
    case DType::i32:
      return fmt::format("{}", value.as<int32_t>()[0]);
    case DType::f32:
      return std::isnan(value.as<float>()[0]) ? "nan" : fmt::format("{}f", value.as<float>()[0]);
    case DType::f64:
      return std::isnan(value.as<double>()[0]) ? "nan" : fmt::format("{}d", value.as<double>()[0]);
    case DType::boolean:
      return value.as<bool>()[0] ? "yes" : "no";
    default:
      return "'" + std::string(value.bytes_at(0)) + "'";
  }
}

// Cells joined by '|', rows by '/'; an error of a row is its text.
std::string all(const CsvFile& file) {
  std::string rows;
  std::vector<Tensor> row(file.fields().size());
  for (int64_t i = 0; i < file.size(); ++i) {
    const auto read = file.read(i, {}, row);
    for (size_t k = 0; read && k < row.size(); ++k) rows += (k == 0 ? "" : "|") + shown(row[k]);
    rows += (read ? "" : read.error().message()) + "/";
  }
  return rows;
}

std::string rows_of(const std::string& text, const CsvOptions& options = {}) {
  const auto content = to_bytes(text);
  const auto file = CsvFile::over("a.csv", content, options);
  return file ? all(**file) : std::string(to_string(file.error().kind())) + ": " + file.error().message();
}

std::string names_in(const Spec& fields) {
  std::string names;
  for (const FieldSpec& field : fields) names += field.name + ":" + std::string(name(field.dtype)) + " ";
  return names;
}

std::string names_of(const std::string& text, const CsvOptions& options = {}) {
  const auto content = to_bytes(text);
  return names_in(CsvFile::over("a.csv", content, options).value()->fields());
}

TEST(CsvFile, GivesRowsWithTheTypesOfTheirContent) {
  EXPECT_EQ(rows_of("i,f,s\n1,0.5,a\r\n-2, 3 ,\"b,\"\"c\"\"\"\n"), "1|0.5f|'a'/-2|3f|'b,\"c\"'/");
  EXPECT_EQ(names_of("i,f,s\n1,0.5,a\r\n-2,3,b\n"), "i:int64 f:float32 s:bytes ");
}

TEST(CsvFile, OptionsSayItsFieldsOnlyWithAllDtypes) {
  using internal::fields_said_by;
  EXPECT_EQ(fields_said_by({}), std::nullopt);
  EXPECT_EQ(fields_said_by({.columns = {{.name = "i", .dtype = i32}, {.name = "s"}}}), std::nullopt);
  const CsvOptions all_given = {.columns = {{.name = "s", .dtype = bytes}, {.name = "i", .dtype = i32}}};
  const auto said = fields_said_by(all_given);
  ASSERT_TRUE(said);
  EXPECT_EQ(names_in(*said), "s:bytes i:int32 ");
  EXPECT_EQ(names_of("i,s\n1,a\n", all_given), "s:bytes i:int32 ");
  EXPECT_THROW((void)fields_said_by({.columns = {{.name = "h", .dtype = f16}}}), Exception);
  EXPECT_THROW((void)fields_said_by({.quote = ',', .columns = all_given.columns}), Exception);
}

TEST(CsvFile, ReadsTheColumnsAskedForInTheirOrder) {
  const CsvOptions options = {.columns = {{.name = "s", .dtype = bytes},
                                          {.name = "i", .dtype = i32},
                                          {.name = "b", .dtype = boolean},
                                          {.name = "d", .dtype = f64}}};
  EXPECT_EQ(rows_of("i,unused,s,b,d\n1,x,7,true,0.1\n2,y,8,0,1e300\n", options), "'7'|1|yes|0.1d/'8'|2|no|1e+300d/");
}

// States name it: another text would refuse them.
TEST(CsvFile, DescribesWhatDecidesItsValues) {
  EXPECT_EQ(describe(CsvOptions()), "delimiter=',', quote=34, comment=0, header=true");
  const CsvOptions all{.delimiter = '\t',
                       .quote = 0,
                       .comment = '#',
                       .header = false,
                       .skip_bom = false,
                       .columns = {{"a"}, {"b", DType::i64, Tensor::scalar(int64_t{1})}},
                       .na_values = {"NA", "-"},
                       .max_row_bytes = 5};
  EXPECT_EQ(describe(all),
            "delimiter='\\t', quote=0, comment=35, header=false, skip_bom=false, na='NA', na='-', b default=c514cfad");
}

TEST(CsvFile, NumbersGoStraightToTheirTargets) {
  const auto content = to_bytes("i,s,f\n5,x,0.5\n");
  const auto file = CsvFile::over("a.csv", content).value();
  std::array<std::byte, 13> memory;
  const std::array<std::byte*, 3> targets = {&memory[1], nullptr, &memory[9]};
  std::vector<Tensor> out(3);
  ASSERT_TRUE(file->read(0, targets, out));
  int64_t i = 0;
  float f = 0;
  std::memcpy(&i, &memory[1], sizeof i);
  std::memcpy(&f, &memory[9], sizeof f);
  EXPECT_EQ(i, 5);
  EXPECT_EQ(f, 0.5F);
  EXPECT_EQ(out[1].bytes_at(0), "x");
  EXPECT_EQ(file->read(0, targets, {}).error().kind(), ErrorKind::InvalidArgument) << "bytes need a tensor";
  EXPECT_EQ(file->read(0, std::span(targets).first(2), out).error().kind(), ErrorKind::InvalidArgument);
}

TEST(CsvFile, AMissingCellIsItsDefault) {
  const CsvOptions options = {.columns = {{.name = "i", .dtype = i32, .default_value = Tensor::scalar(int32_t{-1})},
                                          {.name = "s", .dtype = bytes, .default_value = Tensor::scalar("none")}},
                              .na_values = {"NA"}};
  EXPECT_EQ(rows_of("i,s\n,\n\" \",\"\"\nNA,NA\n\"NA\",\"NA\"\n 3 , NA\n", options),
            "-1|'none'/-1|''/-1|'none'/-1|'NA'/3|' NA'/");
  const auto content = to_bytes("i,s\n,\n");
  const auto file = CsvFile::over("a.csv", content, options).value();
  int32_t i = 0;
  const std::array<std::byte*, 2> targets = {reinterpret_cast<std::byte*>(&i), nullptr};
  std::vector<Tensor> out(2);
  ASSERT_TRUE(file->read(0, targets, out));
  EXPECT_EQ(i, -1);
}

TEST(CsvFile, AMissingCellWithoutADefaultIsAnErrorWithItsPlace) {
  EXPECT_EQ(rows_of("i,s\n1,a\n,b\n", {.columns = {{.name = "i", .dtype = i64}}}),
            "1/a.csv, row 1 (line 3, offset 8): column 'i': int64 expected, the cell is missing and the column has no "
            "default/");
}

TEST(CsvFile, ACellThatIsNoNumberOfItsTypeIsAnErrorWithItsPlace) {
  const CsvOptions options = {.columns = {{.name = "x", .dtype = i32}}};
  EXPECT_EQ(
      rows_of("y,x\n\"a\n\",5\n\n1,3000000000\n1,4x\n1,\"1\x01\"\n", options),
      "5/a.csv, row 1 (line 5, offset 14): column 'x': int32 expected, found '3000000000', which is out of its range/"
      "a.csv, row 2 (line 6, offset 27): column 'x': int32 expected, found '4x'/"
      "a.csv, row 3 (line 7, offset 32): column 'x': int32 expected, found '1\\x01'/");
  const CsvOptions floats = {.columns = {{.name = "x", .dtype = f32}}};
  EXPECT_THAT(rows_of("x\n1e39\n", floats), HasSubstr("which is out of its range"));
  EXPECT_THAT(rows_of("x\n1e9223372036854775807\n", floats), HasSubstr("which is out of its range"));
  EXPECT_EQ(rows_of("x\n0.01e-9223372036854775808\n", floats), "0f/");
}

TEST(CsvFile, WithoutAHeaderColumnsAreNumbersOrWhatTheyAreCalled) {
  EXPECT_EQ(names_of("1,a\n2,b\n", {.header = false}), "0:int64 1:bytes ");
  EXPECT_EQ(rows_of("1,a\n2,b\n", {.header = false}), "1|'a'/2|'b'/");
  const CsvOptions called = {.header = false, .columns = {{.name = "x", .dtype = f32}, {.name = "y"}}};
  EXPECT_EQ(rows_of("1,a\n2,b\n", called), "1f|'a'/2f|'b'/");
  EXPECT_EQ(names_of("", called), "x:float32 y:bytes ");
  EXPECT_THAT(
      rows_of("1,a,3\n", called),
      HasSubstr("InvalidArgument: a.csv, row 0 (line 1, offset 0): 3 cells in a row without a header, 2 columns"));
}

TEST(CsvFile, AnEmptyFileHasNoRowsAndNeedsNoHeaderToBeThatWithout) {
  EXPECT_EQ(rows_of("", {.header = false}), "");
  EXPECT_EQ(rows_of("a,b\n"), "");
  EXPECT_EQ(rows_of(""), "InvalidArgument: a.csv, header (line 1, offset 0): missing");
}

TEST(CsvFile, PassesOverAMarkCommentsAndEmptyLines) {
  EXPECT_EQ(rows_of("\xef\xbb\xbf#c\n\na\n1\n\n#2\n3\n\n", {.comment = '#'}), "1/3/");
  EXPECT_EQ(names_of("\xef\xbb\xbf"
                     "a\n1\n",
                     {.skip_bom = false}),
            "\xef\xbb\xbf"
            "a:int64 ");
}

TEST(CsvFile, KeepsBytesAsTheyAre) {
  const std::string odd("\0\xff\xc3(", 4);
  EXPECT_EQ(rows_of("s\n" + odd + "\n\"" + odd + "\r\n\r\"\n"), "'" + odd + "'/'" + odd + "\r\n\r'/");
}

TEST(CsvFile, ReadsOtherDelimitersAndQuotesAndEveryLineEnd) {
  EXPECT_EQ(rows_of("a;b\r1;'x;'\r2;y", {.delimiter = ';', .quote = '\''}), "1|'x;'/2|'y'/");
  EXPECT_EQ(rows_of("a,b\n\"1,2\n", {.quote = 0}), "'\"1'|2/");
}

TEST(CsvFile, RefusesDamagedRowsWhenOpened) {
  EXPECT_EQ(rows_of("a,b\n1,2\n3,\"4\n5,6\n"),
            "InvalidArgument: a.csv, row 1 (line 3, offset 10): the quote that begins here is not closed");
  EXPECT_EQ(rows_of("a,b\n1,\"2\"3\n"),
            "InvalidArgument: a.csv, row 0 (line 2, offset 9): a delimiter or the row's end expected after a closing "
            "quote");
  EXPECT_EQ(rows_of("a,b\n1,2\n3\n"), "InvalidArgument: a.csv, row 1 (line 3, offset 8): 2 cells expected, 1 found");
  EXPECT_EQ(rows_of("a,b\n1,2,3\n"), "InvalidArgument: a.csv, row 0 (line 2, offset 4): 2 cells expected, 3 found");
  EXPECT_EQ(rows_of("a,\"b\n"),
            "InvalidArgument: a.csv, header (line 1, offset 2): the quote that begins here is not "
            "closed");
}

TEST(CsvFile, RefusesARowThatIsTooLong) {
  EXPECT_EQ(rows_of("a\n12\n123\n", {.max_row_bytes = 3}),
            "ResourceExhausted: a.csv, row 1 (line 3, offset 5): 4 bytes in a row, at most 3 (max_row_bytes)");
  EXPECT_EQ(rows_of("a\n12\n123", {.max_row_bytes = 3}), "12/123/");
  EXPECT_THAT(rows_of("a\r\n12\r\n", {.max_row_bytes = 3}), HasSubstr("offset 3): 4 bytes in a row")) << "with its end";
}

TEST(CsvFile, RefusesAFirstRowThatIsTooLongBeforeItIsTakenApart) {
  EXPECT_EQ(rows_of("abc\n1\n", {.max_row_bytes = 3}),
            "ResourceExhausted: a.csv, header (line 1, offset 0): 4 bytes in a row, at most 3 (max_row_bytes)");
  EXPECT_EQ(rows_of("#\na,b\n1,2\n", {.comment = '#', .max_columns = 1}),
            "ResourceExhausted: a.csv, header (line 2, offset 2): 2 columns, at most 1 (max_columns)");
  EXPECT_EQ(rows_of("1,2\n", {.header = false, .max_columns = 1}),
            "ResourceExhausted: a.csv, row 0 (line 1, offset 0): 2 columns, at most 1 (max_columns)");
  EXPECT_EQ(rows_of("a,b\n1,2\n", {.max_columns = 2}), "1|2/");
  EXPECT_THAT(rows_of(std::string(100'000, ',') + '\n'), HasSubstr("100001 columns, at most 100000 (max_columns)"));
}

TEST(CsvFile, FindsEachOfManyColumns) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += (i == 0 ? "" : ",") + std::to_string(i);
  const auto content = to_bytes(text);
  CsvOptions options;
  EXPECT_EQ(CsvFile::over("a", content).value()->fields()[99'999].name, "99999");
  for (int i = 100'000; i-- > 0;) options.columns.push_back({.name = std::to_string(i)});
  EXPECT_EQ(CsvFile::over("a", content, options).value()->fields()[99'999].name, "0");
}

// Record and offset of an error: "1 at 4".
std::string place_in(const Error& error) {
  const ErrorPlace place = error.place();
  EXPECT_EQ(place.source, "a.csv") << error;
  return fmt::format("{} at {}", place.record ? std::to_string(*place.record) : "header", place.offset.value_or(9999));
}

TEST(CsvFile, AnErrorHasWhereItsRowBegins) {
  const auto content = to_bytes("x,y\n1,2\n\n3,four\n5,6\n");
  const auto file = CsvFile::over("a.csv", content, {.columns = {{.name = "y", .dtype = i32}}}).value();
  std::vector<Tensor> row(1);
  ASSERT_TRUE(file->read(0, {}, row));
  const Error cell = file->read(1, {}, row).error();
  EXPECT_THAT(cell.message(), HasSubstr("(line 4, offset 11)")) << "where the cell is";
  EXPECT_EQ(place_in(cell), "1 at 9");
  const auto opening = [](const std::string& text, const CsvOptions& options = {}) {
    return place_in(CsvFile::over("a.csv", to_bytes(text), options).error());
  };
  EXPECT_EQ(opening("a,b\n1,2\n3,\"4\n5,6\n"), "1 at 8") << "the quote is at 10";
  EXPECT_EQ(opening("#\na,\"b\n", {.comment = '#'}), "header at 2");
  EXPECT_EQ(opening("a,b\n1,2\n3\n"), "1 at 8");
  EXPECT_EQ(opening("a\n12\n123\n", {.max_row_bytes = 3}), "1 at 5");
  EXPECT_EQ(opening("#\na,b\n", {.comment = '#', .max_columns = 1}), "header at 2");
}

TEST(CsvFile, RefusesColumnsThatAreNotThereOrTwice) {
  EXPECT_THAT(
      rows_of("a,b\n1,2\n", {.columns = {{.name = "c"}}}),
      HasSubstr("InvalidArgument: a.csv, header (line 1, offset 0): the header has 0 columns 'c', expected one"));
  EXPECT_THAT(rows_of("a,b\n1,2\n", {.columns = {{.name = "c"}}}), HasSubstr("expected one; there are 'a', 'b'"));
  EXPECT_THAT(rows_of("a,b,c,d,e,f,g,h,i,j,k\n1\n", {.columns = {{.name = "z"}}}), HasSubstr("'i', 'j', ..."));
  EXPECT_THAT(rows_of("a,a\n1,2\n"), HasSubstr("the header has 2 columns 'a', expected one"));
  EXPECT_EQ(rows_of("a,a,b\n1,2,3\n", {.columns = {{.name = "b"}}}), "3/");
}

TEST(CsvFile, RefusesOptionsThatContradictThemselves) {
  const auto refused = [](const CsvOptions& options) {
    EXPECT_THROW((void)CsvFile::over("a", {}, options), Exception);
    EXPECT_THROW((void)CsvFile::open("a", options), Exception);
  };
  refused({.delimiter = '"'});
  refused({.delimiter = '\n'});
  refused({.delimiter = '\0'});
  refused({.quote = '\r'});
  refused({.comment = ','});
  refused({.columns = {{.name = "a"}, {.name = "a"}}});
  refused({.columns = {{.name = "a", .dtype = f16}}});
  refused({.columns = {{.name = "a", .default_value = Tensor::scalar(1.0F)}}});
  refused({.columns = {{.name = "a", .dtype = f32, .default_value = Tensor::scalar(1.0)}}});
  refused({.columns = {{.name = "a", .dtype = f32, .default_value = Tensor::from<float>(std::array{1.0F}, {1})}}});
}

TEST(CsvFile, ReadsCompressedFilesAndSaysWhichAreNotThere) {
  const TempFolder folder;
  put_file(folder.file("a"), test::gzip(to_bytes("a\n1\n")));
  EXPECT_EQ(all(*CsvFile::open(folder.file("a")).value()), "1/");
  EXPECT_EQ(CsvFile::open(folder.file("none")).error().kind(), ErrorKind::NotFound);
  const auto bomb = test::gzip(test::Bytes(1000));
  EXPECT_EQ(CsvFile::over("a", bomb, {.max_inflated_bytes = 999}).error().kind(), ErrorKind::ResourceExhausted);
  const auto rows = test::gzip(to_bytes("a\n1\n2\n3\n4\n"));
  EXPECT_EQ(CsvFile::over("a", rows, {.max_inflated_bytes = 41}).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(CsvFile::over("a", rows, {.max_inflated_bytes = 42}).value()->size(), 4)
      << "10 bytes of text and 4 offsets";
}

TEST(CsvFile, TakesWhatAReaderReadsAsItIsWithTheSameLimit) {
  const auto text = to_bytes("a\n1\n2\n3\n4\n"), packed = test::gzip(text);
  const auto over = [](std::span<const std::byte> content, uint64_t limit) {
    return CsvFile::over(*make_memory_reader("a", content), {.max_inflated_bytes = limit});
  };
  EXPECT_EQ(all(*over(text, 42).value()), "1/2/3/4/");
  EXPECT_EQ(over(text, 41).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(over(text, 9).error().kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(over(packed, 1000).value()->path(), "a") << "compressed bytes are a text like any other";
}

// The limit is of text and offsets together, and neither grows beyond it on the way.
TEST(CsvFile, RefusesABombOfRowsBeforeItTakesMoreMemoryThanTheLimit) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  std::string rows = "a\n";
  for (int i = 0; i < 2'000'000; ++i) rows += "1\n";
  const auto bomb = test::gzip(to_bytes(rows), 1);
  constexpr uint64_t kLimit = 16'000'000;
  EXPECT_REFUSED_BY_LIMIT([&]() -> Result<bool> {
    test::limit_memory_to_present_and(kLimit + kLimit / 10);
    const auto file = CsvFile::over("a", bomb, {.max_inflated_bytes = kLimit});
    if (file || file.error().message().find("max_inflated_bytes") == std::string::npos) return true;
    return fail(file.error());
  });
}

TEST(CsvFile, SaysWhichRowIsNotThere) {
  const auto content = to_bytes("a\n1\n");
  const auto file = CsvFile::over("a.csv", content).value();
  std::vector<Tensor> out(1);
  for (const int64_t i : {int64_t{-1}, int64_t{1}, INT64_MIN}) {
    EXPECT_EQ(file->read(i, {}, out).error().kind(), ErrorKind::OutOfRange);
  }
  EXPECT_EQ(file->path(), "a.csv");
}

TEST(CsvFile, AFileThatShrinksIsToldByReadAndByCheck) {
  const TempFolder folder;
  std::string text = "a,b\n";
  for (int i = 0; i < 20'000; ++i) text += "1,2\n";
  put_file(folder.file("a"), to_bytes(text));
  const auto file = CsvFile::open(folder.file("a")).value();
  EXPECT_TRUE(file->check());
  ASSERT_EQ(truncate(folder.file("a").c_str(), 10), 0);
  std::vector<Tensor> out(2);
  EXPECT_EQ(file->read(19'000, {}, out).error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
}

TEST(CsvFile, ACutWithinAPageIsNoticedThoughNoSignalTells) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("a,b\none,two\nthree,four\nfive,six\n"));
  const auto file = CsvFile::open(folder.file("a")).value();
  std::vector<Tensor> out(2);
  EXPECT_TRUE(file->read(1, {}, out)) << "control";
  ASSERT_EQ(truncate(folder.file("a").c_str(), 20), 0);
  for (const int64_t row : {1, 2}) EXPECT_EQ(file->read(row, {}, out).error().kind(), ErrorKind::DataLoss);
}

TEST(CsvFile, ACutWithinAPageIsToldByCheck) {
  const TempFolder folder;
  put_file(folder.file("a"), to_bytes("a,b\none,two\nthree,four\n"));
  const auto file = CsvFile::open(folder.file("a")).value();
  EXPECT_TRUE(file->check());
  ASSERT_EQ(truncate(folder.file("a").c_str(), 14), 0);
  EXPECT_EQ(file->check().error().kind(), ErrorKind::DataLoss);
}

TEST(CsvFile, OtherRowsThatAreWrittenInTheirPlaceAreNotGivenInPieces) {
  const TempFolder folder;
  const std::string path = folder.file("a");
  put_file(path, to_bytes("a,b\none,two\nthree,four\nfive,six\n"));
  const auto file = CsvFile::open(path).value();
  EXPECT_EQ(all(*file), "'one'|'two'/'three'|'four'/'five'|'six'/") << "control";
  const auto write = [&](const std::string& text) {  // Into the same file, as `>` does.
    std::ofstream(path, std::ios::in | std::ios::binary) << text;
  };
  const auto changed = [&](int row, int line, int offset) {
    return fmt::format("{}, row {} (line {}, offset {}): the file has changed/", path, row, line, offset);
  };
  write("a,b\nten,2\neleven,12\nsix,seven\n");
  EXPECT_EQ(all(*file), changed(0, 2, 4) + changed(1, 3, 12) + changed(2, 4, 23));
  std::vector<Tensor> row(2);
  EXPECT_EQ(file->read(1, {}, row).error().place().offset, 12U);
  write("a,b\none,two\nthirty,100\nfive,six\n");
  EXPECT_EQ(all(*file), "'one'|'two'/'thirty'|'100'/'five'|'six'/") << "rows of the same places are whole rows";
  write("a,b\none,two,three,four\nfive,six,");
  EXPECT_EQ(all(*file), changed(0, 2, 4) + changed(1, 2, 12) + changed(2, 3, 23)) << "a row with more cells";
}

TEST(CsvFile, WithoutMemoryIsAnErrorWithTheName) {
  SKIP_UNLESS_MEMORY_CAN_BE_LIMITED();
  std::string text(80'000'000, '1');  // 40 million rows: their ends are more than the limit.
  for (size_t i = 1; i < text.size(); i += 2) text[i] = '\n';
  const auto content = std::as_bytes(std::span(text));
  EXPECT_OUT_OF_MEMORY(test::naming("a", [&] { return CsvFile::over("a", content, {.header = false}); }));
}

TEST(CsvFile, CountsTheLinesOfManyRows) {
  std::string text = "x\r\n";
  for (int i = 0; i < 20'000; ++i) text += i % 3 == 0 ? "a\r\n" : i % 3 == 1 ? "\"b\r\n\"\n" : "\rc\n";
  const CsvOptions numbers = {.columns = {{.name = "x", .dtype = i32}}};
  const auto content = to_bytes(text);
  const auto file = CsvFile::over("a", content, numbers).value();
  std::vector<Tensor> out(1);
  for (const int64_t row : {0, 1, 2, 4095, 4096, 4097, 8191, 8192, 19'999}) {
    const int64_t line = 2 + row / 3 * 5 + (row % 3 == 0 ? 0 : row % 3 == 1 ? 1 : 4);
    EXPECT_THAT(file->read(row, {}, out).error().message(), HasSubstr(fmt::format("row {} (line {},", row, line)));
  }
  EXPECT_THAT(rows_of(text + "\"x"), HasSubstr("row 20000 (line 33335, "));
}

TEST(CsvFile, AnErrorIsPlacedWithoutAllThatIsBefore) {
  constexpr size_t kBytes = 4 << 20;
  void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::string_view row = "x\n";
  for (size_t at = 0; at < kBytes; ++at) static_cast<char*>(memory)[at] = row[at % 2];
  const std::span content(static_cast<const std::byte*>(memory), kBytes);
  const auto file = CsvFile::over("a", content, {.columns = {{.name = "x", .dtype = i32}}}).value();
  ASSERT_EQ(mprotect(memory, kBytes / 2, PROT_NONE), 0);
  std::vector<Tensor> out(1);
  EXPECT_THAT(file->read(file->size() - 1, {}, out).error().message(), HasSubstr("(line 2097152, offset 4194302)"));
  munmap(memory, kBytes);
}

TEST(CsvFile, ManyThreadsReadTheSameRows) {
  std::string text = "i\n";
  for (int i = 0; i < 3'000; ++i) text += std::to_string(i) + '\n';
  const auto content = to_bytes(text);
  const auto file = CsvFile::over("a", content).value();
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&file] {
      std::vector<Tensor> row(1);
      for (int64_t i = 0; i < file->size(); ++i) {
        ASSERT_TRUE(file->read(i, {}, row));
        EXPECT_EQ(row[0].as<int64_t>()[0], i);
      }
    });
  }
}

}  // namespace
}  // namespace headpond
