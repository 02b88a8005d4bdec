// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_format.h"

#include <gtest/gtest.h>

#include "headpond/io/array/npy.h"
#include "headpond/io/array/zip_test_internal.h"
#include "headpond/io/record/record_test_internal.h"

namespace headpond::cli {
namespace {

using test::bytes_of;
using test::frame_of;
using test::gzip;
using test::zlib;

std::string format_of(std::string_view path, const test::Bytes& start) {
  const FileFormat format = guess_format(path, start);
  return std::string(format.name) + " " + std::string(to_string(format.compression));
}

TEST(GuessFormat, BelievesTheFirstBytesWhateverTheName) {
  EXPECT_EQ(format_of("a.png", frame_of("x")), "tfrecord none");
  EXPECT_EQ(format_of("a", bytes_of("\x89PNG\r\n\x1a\n")), "png none");
  EXPECT_EQ(format_of("a.png", bytes_of("\xff\xd8\xff\xe0")), "jpeg none");
  EXPECT_EQ(format_of("a.png", bytes_of("RIFF1234WEBPVP8 ")), "webp none");
  EXPECT_EQ(format_of("a", bytes_of("P5 1 1 255 \x01")), "pnm none");
  EXPECT_EQ(format_of("a", bytes_of("P5 1 1 255 a")), "text none") << "only its name would tell";
  EXPECT_EQ(format_of("a.tfrecord", bytes_of("RIFF1234WAVEfmt ")), "wav none");
  EXPECT_EQ(format_of("a.tfrecord", bytes_of("RF641234WAVEds64")), "wav none");
  EXPECT_EQ(format_of("a", bytes_of({"\0\0\x08\x03\0\0\0\0", 8})), "idx none");
  EXPECT_EQ(format_of("a", bytes_of(std::string(257, 'n') + "ustar")), "tar none");
  EXPECT_EQ(format_of("a.txt", bytes_of(npy_bytes(Tensor::scalar(1.0F)).value())), "npy none");
  EXPECT_EQ(format_of("a", test::zip_of({{"x.npy"}})), "npz none");
  EXPECT_EQ(format_of("a", test::zip_of({{"x.txt"}})), "unknown none") << "another archive";
}

TEST(GuessFormat, LooksIntoGzipAndForRecordsIntoZlib) {
  EXPECT_EQ(format_of("a", gzip(frame_of("x"))), "tfrecord gzip");
  EXPECT_EQ(format_of("a", zlib(frame_of("x"))), "tfrecord zlib");
  EXPECT_EQ(format_of("a", gzip(bytes_of({"\0\0\x08\x01\0\0\0\0", 8}))), "idx gzip");
  EXPECT_EQ(format_of("a", zlib(bytes_of("RIFF1234WAVE"))), "unknown none");
}

TEST(GuessFormat, LooksAtNoMoreThanItsFirstBytesOfABomb) {
  EXPECT_EQ(format_of("a", gzip(test::Bytes(1 << 24))), "unknown gzip");
}

TEST(GuessFormat, AsksTheNameWhereTheBytesSayNothing) {
  for (const auto& [name, format] :
       std::vector<std::pair<std::string, std::string>>{{"a.csv", "csv"},
                                                        {"a.TSV", "csv"},
                                                        {"a.jsonl", "jsonl"},
                                                        {"a.npy", "npy"},
                                                        {"a.NPZ", "npz"},
                                                        {"/b.png/a.txt", "text"},
                                                        {"a.wav", "wav"},
                                                        {"a.JPG", "jpeg"},
                                                        {"a.pgm", "pnm"},
                                                        {"a.tar", "tar"},
                                                        {"train-labels-idx1-ubyte", "idx"},
                                                        {"x.tfrecord-00000-of-00002", "tfrecord"},
                                                        {"a.tfrecords", "tfrecord"},
                                                        {"/tfrecord/a", "unknown"},
                                                        {"a", "unknown"}}) {
    EXPECT_EQ(format_of(name, bytes_of({"what\0is this?", 13})), format + " none") << name;
    EXPECT_EQ(format_of(name + ".gz", gzip(bytes_of({"what\0is this?", 13}))), format + " gzip") << name;
    EXPECT_EQ(format_of(name, {}), format + " none") << name;
  }
}

TEST(GuessFormat, ATableIsSeparatedByTabsByItsNameAlone) {
  EXPECT_EQ(guess_format("a.tsv", bytes_of("a,b\n")).delimiter, '\t');
  EXPECT_EQ(guess_format("a.tsv.gz", gzip(bytes_of("a,b\n"))).delimiter, '\t');
  EXPECT_EQ(guess_format("a.csv", bytes_of("a\tb\n")).delimiter, ',');
}

TEST(GuessFormat, BytesWithoutControlCharactersAreText) {
  EXPECT_EQ(format_of("README", bytes_of("what \t\xc3\xa4\r\n")), "text none");
  EXPECT_EQ(format_of("README", gzip(bytes_of("what?"))), "text gzip");
  EXPECT_EQ(format_of("a.csv", bytes_of("what?")), "csv none");
  EXPECT_EQ(format_of("README", bytes_of("what\x01")), "unknown none");
}

TEST(GuessFormat, NamesADamagedFileByItsName) {
  EXPECT_EQ(format_of("a.tfrecord", test::with_flipped_bit(frame_of("x"), 3)), "tfrecord none");
  EXPECT_EQ(format_of("a.tfrecord.gz", test::with_flipped_bit(gzip(frame_of("x")), 0)), "tfrecord none");
  EXPECT_EQ(format_of("a.tfrecord.gz", test::prefix(gzip(frame_of("x")), 11)), "tfrecord gzip");
}

}  // namespace
}  // namespace headpond::cli
