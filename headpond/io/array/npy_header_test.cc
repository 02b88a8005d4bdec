// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headpond/io/array/npy_header_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

std::string file_of(const std::string& dict, size_t bytes, char major = 1) {
  std::string file = std::string("\x93NUMPY") + major + '\0';
  for (size_t i = 0; i < (major == 1 ? 2U : 4U); ++i) file += static_cast<char>(dict.size() >> (8 * i) & 0xff);
  return file + dict + std::string(bytes, '\0');
}

Result<NpyHeader> parse(const std::string& file) { return parse_npy_header(std::as_bytes(std::span(file)), "a.npy"); }
std::string error(const std::string& file) {
  const auto header = parse(file);
  return header ? "no error" : std::string(to_string(header.error().kind())) + ": " + header.error().message();
}
std::string dict(const std::string& descr, const std::string& shape) {
  return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }\n";
}

TEST(NpyHeader, ReadsEachDtypeAndVersion) {
  const std::pair<const char*, DType> kAll[] = {{"'|b1'", boolean}, {"'|i1'", i8},  {"'|u1'", u8},  {"'<i2'", i16},
                                                {"'<u2'", u16},     {"'<i4'", i32}, {"'<u4'", u32}, {"'<i8'", i64},
                                                {"'<u8'", u64},     {"'<f2'", f16}, {"'<f4'", f32}, {"'<f8'", f64},
                                                {"\"=f8\"", f64},   {"'f8'", f64}};
  for (const char version : {1, 2, 3}) {
    for (const auto& [descr, dtype] : kAll) {
      const auto header = parse(file_of(dict(descr, "(2, 3)"), 6 * item_size(dtype), version));
      ASSERT_TRUE(header) << header.error();
      EXPECT_EQ(header->dtype, dtype);
      EXPECT_EQ(header->shape, (Shape{2, 3}));
      EXPECT_EQ(header->bytes, 6 * item_size(dtype));
      EXPECT_FALSE(header->is_fortran || header->is_big_endian);
    }
  }
  EXPECT_TRUE(parse(file_of(dict("'>f8'", "()"), 8))->is_big_endian);
}

TEST(NpyHeader, ReadsTheDictionaryHoweverItIsWritten) {
  const auto header = parse(file_of("{\"shape\":(5L,),'fortran_order' : True,'descr':'<i2'}", 10));
  ASSERT_TRUE(header) << header.error();
  EXPECT_TRUE(header->is_fortran);
  EXPECT_EQ(header->shape, (Shape{5}));
}

TEST(NpyHeader, RefusesObjectsAndWhatIsNoNumberByName) {
  EXPECT_EQ(
      error(file_of(dict("'|O'", "(1,)"), 8)),
      "Unimplemented: a.npy: npy header, at offset 24: dtype '|O': Python objects, which are programs rather than "
      "data; only numbers and booleans are read");
  for (const auto& [descr, what] : {std::pair{"'<U5'", "unicode text"},
                                    {"'|S5'", "text"},
                                    {"'<c8'", "complex numbers"},
                                    {"'<M8[ns]'", "times"},
                                    {"'|V8'", "raw"},
                                    {"'<f16'", "another kind"},
                                    {"[('a', '<f4')]", "a structured dtype"},
                                    {"''", "another kind"}}) {
    EXPECT_THAT(error(file_of(dict(descr, "(1,)"), 8)), testing::AllOf(HasSubstr("Unimplemented"), HasSubstr(what)));
  }
}

TEST(NpyHeader, TheShapeMustBeThatOfTheBytes) {
  EXPECT_THAT(error(file_of(dict("'<f4'", "(2, 3)"), 23)),
              HasSubstr("InvalidArgument: a.npy: npy: float32[2,3] needs 24 bytes after the header, 23 follow"));
  EXPECT_THAT(error(file_of(dict("'<f4'", "(2, 3)"), 25)), HasSubstr("25 follow"));
  EXPECT_THAT(error(file_of(dict("'<f4'", "(4294967296, 4294967296)"), 0)), HasSubstr("sizes overflow"));
  EXPECT_THAT(error(file_of(dict("'<f8'", "(2305843009213693952,)"), 0)), HasSubstr("sizes overflow"));
  EXPECT_THAT(error(file_of(dict("'|u1'", "(18446744073709551616,)"), 0)), HasSubstr("a dimension from 0 to 2^63 - 1"));
  EXPECT_THAT(error(file_of(dict("'|u1'", "(-1,)"), 0)), HasSubstr("a dimension"));
  EXPECT_EQ(error(file_of(dict("'<f8'", "(0, 9223372036854775807, 2)"), 0)), "no error");
  std::string many;
  for (int i = 0; i < 33; ++i) many += "1, ";
  EXPECT_THAT(error(file_of(dict("'|u1'", "(" + many + ")"), 1)), HasSubstr("rank above 32"));
}

TEST(NpyHeader, ALongHeaderIsRefusedBeforeItIsRead) {
  std::string file = "\x93NUMPY\x02";
  file += std::string("\0\xff\xff\xff\xff", 5);
  EXPECT_EQ(error(file), "ResourceExhausted: a.npy: an npy header of 4294967295 bytes, at most 65536");
}

TEST(NpyHeader, EveryCutIsNoticed) {
  const std::string whole = file_of(dict("'<f4'", "(2, 3)"), 24);
  ASSERT_TRUE(parse(whole));
  for (size_t size = 0; size < whole.size(); ++size) {
    const bool in_header = size < whole.size() - 24;
    EXPECT_THAT(error(whole.substr(0, size)), HasSubstr(in_header ? "DataLoss: a.npy" : "InvalidArgument: a.npy"));
  }
}

TEST(NpyHeader, RefusesAnotherMagicVersionOrDictionary) {
  EXPECT_THAT(error("PK\x03\x04"), HasSubstr("InvalidArgument: a.npy: not an npy file: begins with 'PK\\x03\\x04'"));
  EXPECT_THAT(error(file_of("{}", 0, 4)), HasSubstr("Unimplemented: a.npy: npy version 4"));
  for (const char* text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'descr': '<f4'}", "{'other': 1}", "{'descr' '<f4'}",
        "{'descr': <f4}", "{'descr': '<f4}", "{'shape': 5}", "{'shape': (5 5)}", "{'shape': (,)}", "{'shape': (5",
        "{'fortran_order': 0}", "{'descr': '|u1', 'fortran_order': False, 'shape': ()} x",
        "{'descr': '|u1' 'fortran_order': False, 'shape': ()}"}) {
    EXPECT_THAT(error(file_of(text, 1)), HasSubstr("InvalidArgument: a.npy: npy header")) << text;
  }
}

TEST(NpyHeader, WritesWhatItReadsInMultiplesOf64Bytes) {
  for (const Shape& shape : {Shape(), Shape{7}, Shape{2, 3}, Shape(std::vector<int64_t>(32, 1)), Shape{0, 1'000'000}}) {
    const std::string header = make_npy_header(f32, shape).value();
    EXPECT_EQ(header.size() % 64, 0U);
    const auto read = parse(header + std::string(static_cast<size_t>(4 * *shape.size()), '\0'));
    ASSERT_TRUE(read) << read.error();
    EXPECT_EQ(read->shape, shape);
    EXPECT_EQ(read->dtype, f32);
  }
  EXPECT_EQ(make_npy_header(bf16, {}).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond::internal
