// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

const Error kError(ErrorKind::DataLoss, "/x/a: checksum");

std::string json_of(const FileReport& report, bool with_features) {
  JsonWriter json;
  write_report(json, report, with_features);
  EXPECT_TRUE(json.complete());
  return std::string(json.text());
}

TEST(FeatureTable, CountsValuesWhereTheyAreAndRecordsWhereTheyAreMissing) {
  FeatureTable table;
  table.add({{.key = "a", .dtype = i64, .count = 3}});
  table.add({{.key = "a", .dtype = i64, .count = 1}, {.key = "b", .dtype = std::nullopt}});
  table.add({}, 2);
  table.add({{.key = "b", .dtype = f32, .count = 5}}, 3);
  const auto& a = table.rows().at("a");
  EXPECT_EQ(std::tuple(a.dtype, a.count_min, a.count_max, table.missing(a)), std::tuple("int64", 1U, 3U, 5U));
  const auto& b = table.rows().at("b");
  EXPECT_EQ(std::tuple(b.dtype, b.count_min, b.count_max, table.missing(b)), std::tuple("float32", 5U, 5U, 4U));
}

TEST(FeatureTable, AFeatureThatIsMissingInAllHasNoDtypeAndOneOfTwoIsMixed) {
  FeatureTable table;
  table.add({{.key = "a", .dtype = std::nullopt}, {.key = "b", .dtype = i64, .count = 1}});
  table.add({{.key = "a", .dtype = std::nullopt}, {.key = "b", .dtype = bytes, .count = 1}});
  table.add({{.key = "b", .dtype = i64, .count = 1}});
  EXPECT_EQ(table.rows().at("a").dtype, "");
  EXPECT_EQ(table.missing(table.rows().at("a")), 3U);
  EXPECT_EQ(table.rows().at("b").dtype, "mixed");
}

TEST(FeatureTable, KeepsABoundedNumberOfKeys) {
  FeatureTable table;
  for (size_t i = 0; i < FeatureTable::kMost; ++i) table.add({{.key = std::to_string(i), .dtype = i64, .count = 1}});
  EXPECT_FALSE(table.has_left_out());
  table.add({{.key = "another", .dtype = i64, .count = 1}, {.key = "0", .dtype = i64, .count = 9}});
  EXPECT_TRUE(table.has_left_out());
  EXPECT_EQ(table.rows().size(), FeatureTable::kMost);
  EXPECT_EQ(table.rows().at("0").count_max, 9U);
}

TEST(FileReport, HasItsMembersInJson) {
  FileReport report{.path = "/x/a", .format = "tfrecord", .compression = "gzip", .records = 2, .bytes = 9};
  report.features.add({{.key = "k", .dtype = i64, .count = 3}, {.key = "m", .dtype = std::nullopt}});
  report.add_damage({.record = 1, .offset = 80, .lost_bytes = 7, .error = kError});
  report.add_damage({.error = kError});
  EXPECT_EQ(json_of(report, true),
            R"({"path":"/x/a","format":"tfrecord","compression":"gzip","records":2,"bytes":9,"limited":false,)"
            R"("features":{"k":{"dtype":"int64","count_min":3,"count_max":3,"missing":0},)"
            R"("m":{"dtype":null,"count_min":0,"count_max":0,"missing":1}},)"
            R"("damage":[{"record":1,"offset":80,"kind":"DataLoss","message":"/x/a: checksum","lost_bytes":7},)"
            R"({"record":null,"offset":null,"kind":"DataLoss","message":"/x/a: checksum"}],"damage_more":0})");
  EXPECT_THAT(json_of(report, false), HasSubstr(R"("bytes":9,"ok":false,"damage":[{)"));
  EXPECT_THAT(json_of(report, false), Not(HasSubstr("features")));
  EXPECT_THAT(json_of({.path = "b"}, false), EndsWith(R"("ok":true,"damage":[],"damage_more":0})"));
}

TEST(FileReport, ListsTheFirstDamagesAndCountsTheRest) {
  FileReport report{.path = "/x/a"};
  for (uint64_t i = 0; i < FileReport::kMostDamage + 5; ++i) report.add_damage({.record = i, .error = kError});
  EXPECT_EQ(report.damage.size(), FileReport::kMostDamage);
  EXPECT_EQ(report.damage.back().record, FileReport::kMostDamage - 1);
  EXPECT_THAT(json_of(report, false), EndsWith(R"("damage_more":5})"));
  EXPECT_EQ(damage_lines(report).size(), FileReport::kMostDamage + 1);
  EXPECT_EQ(damage_lines(report).back(), "/x/a: 5 more damaged");
}

TEST(FileReport, SaysWhereTheDamageIs) {
  FileReport report{.path = "/x/a"};
  report.add_damage({.record = 1, .offset = 80, .error = kError});
  report.add_damage({.record = 2, .offset = 90, .lost_bytes = 1, .error = kError});
  report.add_damage(
      {.error = Error(ErrorKind::NotFound, "cannot open /x/a: no file", Error(ErrorKind::Unknown, "why"))});
  report.add_damage(
      {.record = 4, .offset = 7, .error = Error(ErrorKind::DataLoss, "/x/a: truncated at offset 7, record 4: 3 left")});
  report.add_damage({.record = 4, .offset = 7, .error = Error(ErrorKind::DataLoss, "cut at offset 7, record 40")});
  const Error cut(ErrorKind::DataLoss, "/x/a: gzip: the stream is cut");
  report.add_damage({.record = 3, .error = Error(ErrorKind::DataLoss, "cannot read: " + cut.message(), cut)});
  EXPECT_THAT(damage_lines(report), ElementsAre("/x/a: record 1 at offset 80: DataLoss: checksum",
                                                "/x/a: record 2 at offset 90: DataLoss: checksum; lost: 1 byte",
                                                "/x/a: NotFound: cannot open: no file; caused by Unknown: why",
                                                "/x/a: record 4 at offset 7: DataLoss: truncated: 3 left",
                                                "/x/a: record 4 at offset 7: DataLoss: cut at offset 7, record 40",
                                                "/x/a: record 3: DataLoss: cannot read: gzip: the stream is cut"));
}

TEST(FileReport, SaysWhatTheFileHolds) {
  FileReport report{.path = "/x/a", .format = "tfrecord", .compression = "zlib", .records = 1, .bytes = 17};
  EXPECT_EQ(report_line(report), "/x/a: tfrecord (zlib), 1 record, 17 bytes");
  report.is_limited = true;
  EXPECT_EQ(report_line(report), "/x/a: tfrecord (zlib), first 1 record only, 17 bytes");
  report.add_damage({.record = 0, .error = kError});
  EXPECT_EQ(report_line(report), "/x/a: tfrecord (zlib), first 2 records only, 1 damaged, 17 bytes");
  EXPECT_EQ(report_line({.path = "b", .bytes = 1}), "b: unknown format, 1 byte");
  EXPECT_EQ(report_line({.path = "c", .format = "tar", .records = 4, .bytes = 9, .groups = 2, .skipped = 3}),
            "c: tar, 4 records, 2 groups, 3 skipped, 9 bytes");
}

TEST(FileReport, SaysTheSizeOfAnImage) {
  const FileReport report = {.path = "a", .format = "gif", .records = 1, .bytes = 9, .image = SurveyedSize{3, 4, 1}};
  EXPECT_EQ(report_line(report), "a: gif, 1 record, 4 x 3 pixels, 1 channel, 9 bytes");
  JsonWriter json;
  write_report(json, report, true);
  EXPECT_THAT(json.text(), HasSubstr(R"("image":{"height":3,"width":4,"channels":1})"));
}

TEST(FileReport, TabulatesFeaturesWithoutTheirControlCharacters) {
  FileReport report;
  EXPECT_EQ(feature_table(report), "");
  report.features.add({{.key = "red\x1b[31m", .dtype = i64, .count = 3}});
  report.features.add({{.key = "red\x1b[31m", .dtype = i64, .count = 4}});
  EXPECT_THAT(feature_table(report), HasSubstr("red?[31m  int64  3 to 4           0"));
  report.lists.add({{.key = "words", .dtype = i64, .count = 7}});
  EXPECT_THAT(feature_table(report), HasSubstr("  feature list  dtype  steps"));
}

TEST(FileReport, HasListsIffThereAreSome) {
  FileReport report{.path = "/x/a", .format = "tfrecord", .records = 2};
  EXPECT_THAT(json_of(report, true), Not(HasSubstr("feature_lists")));
  report.lists.add({{.key = "words", .dtype = i64, .count = 7}});
  report.lists.add({{.key = "words", .dtype = i64, .count = 5}});
  EXPECT_THAT(json_of(report, true),
              HasSubstr(R"("feature_lists":{"words":{"dtype":"int64","steps_min":5,"steps_max":7,"missing":0}})"));
  EXPECT_THAT(json_of(report, false), Not(HasSubstr("feature_lists")));
}

TEST(FeatureTable, KnowsColumnsByHowManyCellsTheyHave) {
  FeatureTable table;
  table.add({}, 5);
  table.add_column("x", f32, 3);
  table.add_column("none", f32, 0);
  const auto& x = table.rows().at("x");
  EXPECT_EQ(std::tuple(x.dtype, x.count_min, x.count_max, table.missing(x)), std::tuple("float32", 1U, 1U, 2U));
  EXPECT_EQ(std::tuple(table.rows().at("none").dtype, table.missing(table.rows().at("none"))), std::tuple("", 5U));
}

}  // namespace
}  // namespace headpond::cli
