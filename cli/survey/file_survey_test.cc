// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png_test_internal.h"
#include "headpond/codec/sound/wav_test_internal.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/zip_test_internal.h"
#include "headpond/io/example/example_test_internal.h"
#include "headpond/io/example/example_writer.h"
#include "headpond/io/record/record_test_internal.h"
#include "tests/test_files.h"

namespace headpond::cli {
namespace {

using test::bytes_of;
using test::frame_of;
using test::frames_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using test::Bytes;
Bytes flipped(Bytes bytes, size_t at) { return test::with_flipped_bit(std::move(bytes), 8 * at); }

std::string example_of(int64_t values) {
  const std::vector<int64_t> content(static_cast<size_t>(values));
  const NamedTensor feature{"x", Tensor::from(std::span(content), {values})};
  return make_example({&feature, 1}).value();
}

class SurveyTest : public testing::Test {
 protected:
  FileReport survey(const std::string& name, const Bytes& content, const SurveyOptions& options = {}) {
    test::put_file(folder_.file(name), content);
    return survey_file(folder_.file(name), options).value();
  }
  // "record@offset kind" of each.
  static std::vector<std::string> places(const FileReport& report) {
    const auto text = [](std::optional<uint64_t> number) { return number ? std::to_string(*number) : "-"; };
    std::vector<std::string> all;
    for (const Damage& damage : report.damage)
      all.push_back(text(damage.record) + "@" + text(damage.offset) + " " +
                    std::string(to_string(damage.error.kind())));
    return all;
  }

  const test::TempFolder folder_;
  const SurveyOptions strict_{.strict = true}, features_{.with_features = true};
};

TEST_F(SurveyTest, OfAWholeFileIsWithoutDamage) {
  for (const auto& content :
       {frames_of({"a", "", "c"}), test::gzip(frames_of({"a", "", "c"})), test::zlib(frames_of({"a", "", "c"}))}) {
    const FileReport report = survey("a", content, strict_);
    EXPECT_EQ(report.format, "tfrecord");
    EXPECT_EQ(report.records, 3U);
    EXPECT_EQ(report.bytes, content.size());
    EXPECT_THAT(places(report), IsEmpty());
  }
  EXPECT_THAT(places(survey("a.tfrecord", {}, strict_)), IsEmpty());
}

TEST_F(SurveyTest, ListsEveryDamagedPayloadAndGoesOn) {
  Bytes content = frames_of({"a", "b", "c", "d"});  // 17 bytes each.
  for (const size_t at : {12, 17 + 13, 3 * 17 + 12}) content = flipped(content, at);
  for (const auto& stored : {content, test::gzip(content)}) {
    const FileReport report = survey("a", stored);
    EXPECT_EQ(report.records, 1U);
    EXPECT_THAT(places(report), ElementsAre("0@0 DataLoss", "1@17 DataLoss", "3@51 DataLoss"));
  }
}

TEST_F(SurveyTest, AfterADamagedLengthBytesAreLost) {
  const Bytes content = flipped(frames_of({"a", "b", "c"}), 17);
  const FileReport report = survey("a", content);
  EXPECT_EQ(report.records, 1U);
  ASSERT_THAT(places(report), ElementsAre("1@17 DataLoss"));
  EXPECT_EQ(report.damage[0].lost_bytes, 34U);
  EXPECT_FALSE(survey("b", test::gzip(content)).damage.at(0).lost_bytes);
}

TEST_F(SurveyTest, ACutIsDamageAlsoOfTheCompressedBytes) {
  const Bytes content = frames_of({"a", "b"});
  EXPECT_THAT(places(survey("a", test::prefix(content, 20))), ElementsAre("1@17 DataLoss"));
  EXPECT_THAT(places(survey("a", test::prefix(content, 17))), IsEmpty());
  const Bytes packed = test::gzip(content);
  EXPECT_THAT(places(survey("a", test::prefix(packed, packed.size() - 1))), ElementsAre("2@34 DataLoss"));
}

TEST_F(SurveyTest, KnowsTheFeaturesOfExamplesAndHoldsTheRestToThemIffStrict) {
  const Bytes content = frames_of({"", example_of(2), example_of(0), "\x0a\x7f"});
  const FileReport report = survey("a", content, features_);
  EXPECT_EQ(report.records, 4U);
  const auto& x = report.features.rows().at("x");
  EXPECT_EQ(std::tuple(x.dtype, x.count_min, x.count_max, report.features.missing(x)), std::tuple("int64", 0U, 2U, 1U));
  EXPECT_THAT(places(report), ElementsAre("3@" + std::to_string(content.size() - 18) + " InvalidArgument"));
  EXPECT_EQ(places(survey("a", content, strict_)), places(report));
  EXPECT_THAT(places(survey("a", content)), IsEmpty());
  const FileReport texts = survey("a", frames_of({"text", example_of(2)}), strict_);
  EXPECT_THAT(places(texts), IsEmpty());
  EXPECT_THAT(texts.features.rows(), IsEmpty());
}

TEST_F(SurveyTest, KnowsTheStepsOfSequenceExamples) {
  const auto with_steps = [](int steps) {
    std::string list;
    for (int i = 0; i < steps; ++i) list += test::field(1, test::ints({i, i}));
    return test::field(1, test::entry("id", test::ints({1}))) + test::field(2, test::entry("words", list));
  };
  const Bytes content = frames_of({with_steps(2), with_steps(5), example_of(1)});
  const FileReport report = survey("a", content, features_);
  EXPECT_THAT(places(report), IsEmpty());
  EXPECT_EQ(report.features.missing(report.features.rows().at("id")), 1U);
  const auto& words = report.lists.rows().at("words");
  EXPECT_EQ(std::tuple(words.dtype, words.count_min, words.count_max, report.lists.missing(words)),
            std::tuple("int64", 2U, 5U, 1U));
  const std::string only_lists = test::field(2, test::entry("words", test::field(1, test::ints({1}))));
  EXPECT_EQ(survey("a", frames_of({only_lists}), features_).lists.rows().size(), 1U);
}

TEST_F(SurveyTest, EachLineOfJsonIsAnObject) {
  const FileReport report = survey("a.jsonl", bytes_of("{\"a\": 1}\n{\"a\": }\n\n[1]\n{}\r\n{\"a\""));
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("jsonl", 2U));
  EXPECT_THAT(places(report), ElementsAre("1@15 InvalidArgument", "2@17 InvalidArgument", "3@18 InvalidArgument",
                                          "5@29 InvalidArgument"));
  EXPECT_THAT(report.damage.at(0).error.message(), HasSubstr("a.jsonl, line 2: JSON: syntax error"));
  EXPECT_THAT(places(survey("a.ndjson.gz", test::gzip(bytes_of("{}\n{}")), strict_)), IsEmpty());
  EXPECT_THAT(places(survey("a.txt", bytes_of("{\"a\": }\n"), strict_)), IsEmpty()) << "a text of any lines";
  EXPECT_EQ(survey("a.jsonl", bytes_of("{}\n{}\n"), {.limit = 1}).records, 1U);
}

TEST_F(SurveyTest, TablesAndArraysAreReadAsTheirReadersDo) {
  const Bytes table = bytes_of("a,b\n1,2\n3,4\n"), cut = bytes_of("a,b\n1,2\n3,\"4\n");
  const std::vector<float> values = {1, 2, 3};
  const Bytes array = bytes_of(npy_bytes(Tensor::from(std::span<const float>(values), {3})).value());
  const Bytes arrays = test::zip_of({{"x.npy", array, true}});
  const std::vector<std::tuple<std::string, Bytes, uint64_t>> files = {
      {"a.csv", table, 2}, {"a.npy", array, 3}, {"a.npz", arrays, 1}};
  for (const auto& [name, content, records] : files) {
    for (const bool is_packed : {false, true}) {
      const FileReport report = is_packed ? survey(name + ".gz", test::gzip(content), {.needs_format = true})
                                          : survey(name, content, {.needs_format = true});
      EXPECT_EQ(report.format, name.substr(2));
      EXPECT_EQ(report.records, records);
      EXPECT_THAT(places(report), IsEmpty());
    }
    EXPECT_EQ(places(survey(name, test::prefix(content, content.size() - 3))).size(), 1U) << name;
  }
  EXPECT_THAT(places(survey("a.csv", cut)), ElementsAre("1@10 InvalidArgument"));
  EXPECT_THAT(places(survey("a.csv.gz", test::gzip(cut))), ElementsAre("1@10 InvalidArgument"));
  EXPECT_THAT(places(survey("a.tsv", bytes_of("a\tb\n1\n"))), ElementsAre("0@4 InvalidArgument"));
  Bytes packed = test::gzip(table);
  packed[packed.size() - 5] ^= std::byte{1};
  EXPECT_EQ(places(survey("a.csv.gz", packed)).size(), 1U) << "the checksum at the end";
}

TEST_F(SurveyTest, ALimitLooksAtAsManyRecordsAndSaysWhetherThereAreMore) {
  const Bytes content = flipped(frames_of({"a", "b", "c"}), 2 * 17 + 12);
  const auto limited = [&](const std::string& name, const Bytes& bytes, uint64_t limit) {
    const FileReport report = survey(name, bytes, {.limit = limit});
    return std::tuple(report.records, report.is_limited, report.damage_count);
  };
  EXPECT_EQ(limited("a", content, 0), std::tuple(0U, true, 0U));
  EXPECT_EQ(limited("a", content, 2), std::tuple(2U, true, 0U));
  EXPECT_EQ(limited("a", content, 3), std::tuple(2U, false, 1U));
  EXPECT_EQ(limited("a.txt", bytes_of("1\n2\n"), 1), std::tuple(1U, true, 0U));
  EXPECT_EQ(limited("a.txt", bytes_of("1\n2\n"), 2), std::tuple(2U, false, 0U));
}

TEST_F(SurveyTest, CountsMembersAndGroupsOfATarArchive) {
  std::string archive;
  for (const char* name : {"a.png", "a.txt", "b.png"}) EXPECT_TRUE(append_tar_member(archive, name, "content"));
  const Bytes whole = bytes_of(archive + std::string(tar_end()));
  for (const auto& stored : {whole, test::gzip(whole)}) {
    const FileReport report = survey("a", stored, strict_);
    EXPECT_EQ(report.format, "tar");
    EXPECT_EQ(report.records, 3U);
    EXPECT_EQ(report.groups, 2U);
    EXPECT_EQ(report.features.missing(report.features.rows().at("txt")), 1U);
    EXPECT_THAT(places(report), IsEmpty());
  }
  EXPECT_EQ(survey("a", whole, {.limit = 2}).records, 2U);
  const FileReport cut = survey("a", test::prefix(whole, 1024 + 515));
  EXPECT_EQ(cut.records, 1U);
  EXPECT_EQ(places(cut).size(), 1U);
  EXPECT_EQ(cut.damage.at(0).record, 1U);
  EXPECT_EQ(places(survey("a", flipped(whole, 1024))).size(), 1U);
  EXPECT_TRUE(append_tar_member(archive, "a.png", "again"));
  const Bytes twice = bytes_of(archive + std::string(tar_end()));
  EXPECT_THAT(places(survey("a", twice)), IsEmpty());
  EXPECT_EQ(survey("a", twice, strict_).damage.at(0).error.kind(), ErrorKind::InvalidArgument);
}

TEST_F(SurveyTest, AnArchiveWithoutEndBlocksIsDamagedIfStrictOrEmpty) {
  std::string archive;
  EXPECT_TRUE(append_tar_member(archive, "a.png", "content"));
  const Bytes members = bytes_of(archive), whole = bytes_of(archive + std::string(tar_end()));
  const Bytes half = test::prefix(whole, whole.size() - 512);
  for (const Bytes& content : {members, half, Bytes()}) {
    for (const bool is_packed : {false, true}) {
      const std::string name = is_packed ? "a.tar.gz" : "a.tar";
      const FileReport report = survey(name, is_packed ? test::gzip(content) : content);
      EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("tar", content.empty() ? 0U : 1U));
      EXPECT_EQ(report.damage_count, content.empty() ? 1U : 0U);
      const FileReport strict = survey(name, is_packed ? test::gzip(content) : content, strict_);
      ASSERT_THAT(places(strict), ElementsAre("-@- DataLoss"));
      EXPECT_THAT(strict.damage[0].error.message(), HasSubstr("does not end with two blocks of zeros"));
    }
  }
  EXPECT_THAT(places(survey("a.tar", whole, strict_)), IsEmpty());
  EXPECT_THAT(places(survey("a.tar", bytes_of(std::string(tar_end())), strict_)), IsEmpty()) << "no members";
  EXPECT_THAT(places(survey("a.tar", members, {.limit = 0, .strict = true})), IsEmpty()) << "nobody looked there";
}

TEST_F(SurveyTest, NamesACompressionThatIsNotRead) {
  for (const auto& [name, start, compression] : {std::tuple("a.tar.xz", std::string("\xfd\x37zXZ\0 more", 11), "xz"),
                                                 std::tuple("a.csv.bz2", std::string("BZh91AY&SY more"), "bzip2"),
                                                 std::tuple("a.tar", std::string("BZh91AY&SY more"), "bzip2")}) {
    const FileReport report = survey(name, bytes_of(start), {.needs_format = true});
    ASSERT_THAT(places(report), ElementsAre("-@- Unimplemented"));
    EXPECT_THAT(report.damage[0].error.message(), HasSubstr(std::string(": compressed by ") + compression));
  }
}

TEST_F(SurveyTest, ReadsACompressedStreamToItsChecksum) {
  const Bytes whole = bytes_of(std::string(tar_end()) + std::string(5000, 'x'));
  Bytes packed = test::gzip(whole);
  EXPECT_THAT(places(survey("a.tar.gz", packed)), IsEmpty());
  packed[packed.size() - 5] ^= std::byte{1};
  EXPECT_EQ(places(survey("a.tar.gz", packed)).size(), 1U);
  EXPECT_EQ(places(survey("a.unknown", test::prefix(test::gzip(whole), 25))).size(), 1U);
}

TEST_F(SurveyTest, DecodesImagesAndIsStrictOnlyIfAskedTo) {
  const test::PngImageOf image{.color_type = 2};
  const Bytes whole = bytes_of(image.file(test::png_chunk("tEXt", "abc")));
  const FileReport report = survey("a", whole, strict_);
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("png", 1U));
  EXPECT_EQ(report.features.rows().at("pixels").count_max, 45U);
  EXPECT_THAT(places(report), IsEmpty());
  const size_t text = image.file().find("IDAT") - 4;
  const Bytes needless = flipped(whole, text + 8);
  EXPECT_THAT(places(survey("a", needless)), IsEmpty());
  EXPECT_EQ(places(survey("a", needless, strict_)).size(), 1U);
  EXPECT_EQ(places(survey("a", flipped(whole, text + 15 + 20))).size(), 1U);
  EXPECT_EQ(places(survey("a.png", {})).size(), 1U);
}

TEST_F(SurveyTest, DecodesImagesOfAnyFormatAndSaysTheirSize) {
  const FileReport report = survey("a.ppm", bytes_of("P6 2 1 255 abcdef"));
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("pnm", 1U));
  EXPECT_EQ(report.features.rows().at("pixels").count_max, 6U);
  ASSERT_TRUE(report.image);
  EXPECT_EQ(std::tuple(report.image->height, report.image->width, report.image->channels), std::tuple(1, 2, 3));
  EXPECT_EQ(places(survey("a.ppm", bytes_of("P6 2 1 255 abcde"))).size(), 1U);
  EXPECT_EQ(survey("a.pgm", bytes_of({"P5 1 1 65535 \0\1", 15})).features.rows().at("pixels").dtype, "uint16");
}

TEST_F(SurveyTest, EveryDefectOfAJpegIsDamage) {
  if (!has_jpeg()) GTEST_SKIP() << "this build has no component jpeg; with CI=true Components.Jpeg then fails";
  const auto image = encode_jpeg(Tensor::from(std::vector<uint8_t>(300, 9), {10, 10, 3})).value();
  Bytes file(image.begin(), image.end());
  const FileReport report = survey("a", file);
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("jpeg", 1U));
  EXPECT_THAT(places(report), IsEmpty());
  file.insert(file.end() - 2, 3, std::byte{0x55});
  ASSERT_TRUE(decode_jpeg(file)) << "what a training reads";
  EXPECT_EQ(places(survey("a", file)).size(), 1U);
}

TEST_F(SurveyTest, SoundThatIsCutIsDamagedAndAnOddHeaderIffStrict) {
  const std::string format = test::FormatChunk{}.text(), data = test::chunk("data", test::samples({1, 2, 3}));
  const FileReport report = survey("a", bytes_of(test::riff(format + data)), strict_);
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("wav", 1U));
  EXPECT_EQ(report.features.rows().at("samples").count_max, 3U);
  EXPECT_THAT(places(report), IsEmpty());
  const Bytes odd = bytes_of(test::riff(test::FormatChunk{.byte_rate = 5}.text() + data));
  EXPECT_THAT(places(survey("a", odd)), IsEmpty());
  EXPECT_EQ(places(survey("a", odd, strict_)).size(), 1U);
  const Bytes whole = bytes_of(test::riff(format + data));
  const FileReport cut = survey("a", test::prefix(whole, whole.size() - 2));
  EXPECT_EQ(places(cut).size(), 1U);
  EXPECT_EQ(cut.records, 0U) << "only those that are intact count";
}

TEST_F(SurveyTest, AnIdxFileHasRowsAndIsDamagedWhereItsSizeDoesNotFit) {
  const Bytes whole =
      bytes_of({"\0\0\x08\x02\0\0\0\x02\0\0\0\x03"
                "abcdef",
                18});
  const FileReport report = survey("a", whole, strict_);
  EXPECT_EQ(std::tuple(report.format, report.records), std::tuple("idx", 2U));
  EXPECT_EQ(report.features.rows().at("values").count_min, 3U);
  EXPECT_THAT(places(report), IsEmpty());
  EXPECT_EQ(places(survey("a", test::prefix(whole, 17))).size(), 1U);
  EXPECT_EQ(places(survey("a", test::joined({whole, bytes_of("x")}))).size(), 1U);
}

TEST_F(SurveyTest, AnUnknownFormatIsSaidAndIsDamageIffAFormatIsNeeded) {
  const FileReport report = survey("a", flipped(frame_of(""), 0), strict_);
  EXPECT_EQ(std::tuple(report.format, report.bytes, report.damage_count), std::tuple("unknown", 16U, 0U));
  EXPECT_THAT(places(survey("a", {}, {.needs_format = true})), IsEmpty());
  const FileReport damaged = survey("a", flipped(frame_of(""), 0), {.needs_format = true});
  EXPECT_THAT(places(damaged), ElementsAre("-@- Unimplemented"));
  EXPECT_THAT(damaged.damage.at(0).error.message(),
              HasSubstr("a: neither the content nor the name is of a known format"));
}

TEST_F(SurveyTest, WhatCannotBeReadIsDamageAndTheOthersFollow) {
  test::put_file(folder_.file("b"), frame_of("x"));
  std::vector<FileReport> reports;
  ASSERT_TRUE(survey_files({folder_.file("a"), folder_.path(), folder_.file("*.none"), folder_.file("?")}, {}, {},
                           [&](FileReport report) { reports.push_back(std::move(report)); }));
  ASSERT_EQ(reports.size(), 4U);
  EXPECT_THAT(places(reports[0]), ElementsAre("-@- NotFound"));
  EXPECT_THAT(places(reports[1]), ElementsAre("-@- FailedPrecondition"));
  EXPECT_THAT(places(reports[2]), ElementsAre("-@- NotFound"));
  EXPECT_THAT(places(reports[3]), IsEmpty());
  EXPECT_EQ(reports[3].path, folder_.file("b"));
  EXPECT_FALSE(reports[0].is_readable || reports[1].is_readable || reports[2].is_readable);
  EXPECT_TRUE(reports[3].is_readable);
}

TEST_F(SurveyTest, TellsOfAllBytesThatItRead) {
  const std::string half(3 << 20, 'x');
  const Bytes content = frames_of({half, half, ""});
  uint64_t told = 0;
  const SurveyOptions options{.on_bytes = [&](uint64_t bytes) { told += bytes; }};
  EXPECT_THAT(places(survey("a", content, options)), IsEmpty());
  EXPECT_EQ(told, content.size());
  told = 0;
  const Bytes packed = test::gzip(content);
  EXPECT_THAT(places(survey("a", packed, options)), IsEmpty());
  EXPECT_EQ(told, packed.size());
}

TEST_F(SurveyTest, EndsWhenAStopIsRequested) {
  std::stop_source stop;
  stop.request_stop();
  test::put_file(folder_.file("a"), frame_of("x"));
  test::put_file(folder_.file("b"), test::gzip(frame_of("x")));
  for (const char* name : {"a", "b"}) {
    EXPECT_EQ(survey_file(folder_.file(name), {.stop = stop.get_token()}).error().kind(), ErrorKind::Cancelled);
  }
}

TEST(OffsetIn, IsTheLastOneAfterThePath) {
  const auto of = [](const std::string& text) { return offset_in({ErrorKind::DataLoss, text}, "/offset 7/a"); };
  EXPECT_EQ(of("/offset 7/a: offset 3 of chunk, at offset 12: bad"), 12U);
  EXPECT_EQ(of("/offset 7/a: bad"), std::nullopt);
  EXPECT_EQ(of("/offset 7/a: the offset is bad, offset x"), std::nullopt);
}

TEST_F(SurveyTest, OfIdxThatInflatesTooFarIsRefusedBeforeMemoryIsTaken) {
  Bytes front = bytes_of({"\0\0\x08\x01\x60\0\0\0", 8});  // 1.5 GiB of bytes.
  uint32_t word = 1;
  for (int i = 0; i < 2'000'000; ++i) front.push_back(static_cast<std::byte>((word = word * 1'664'525 + 1) >> 24));
  const FileReport packed = survey("a.gz", test::gzip(front));
  EXPECT_THAT(places(packed), ElementsAre("0@- ResourceExhausted")) << "so small a file may hold as much";
  EXPECT_THAT(packed.damage[0].error.message(), HasSubstr("the limit is 1073741824"));
  EXPECT_THAT(places(survey("a", front)), ElementsAre("0@- InvalidArgument")) << "the file is shorter";
}

}  // namespace
}  // namespace headpond::cli
