// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/content_survey.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "headpond/io/array/npy.h"
#include "headpond/io/array/zip_test_internal.h"
#include "headpond/io/record/record_test_internal.h"

namespace headpond::cli {
namespace {

using test::Bytes;
using test::bytes_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

FileReport csv_of(std::string_view text, const SurveyOptions& options = {.with_features = true}, char delimiter = ',') {
  FileReport report{.path = "/x, row 7/a.csv"};
  survey_csv(bytes_of(text), delimiter, options, report);
  return report;
}

// "name dtype present/missing" of each.
std::vector<std::string> columns_of(const FileReport& report) {
  std::vector<std::string> all;
  for (const auto& [key, row] : report.features.rows()) {
    all.push_back(key + " " + std::string(row.dtype) + " " + std::to_string(row.present) + "/" +
                  std::to_string(report.features.missing(row)));
  }
  return all;
}

// "record@offset kind" of the only damage.
std::string damage_of(const FileReport& report) {
  if (report.damage_count != 1) return std::to_string(report.damage_count) + " damages";
  const Damage& damage = report.damage[0];
  const auto text = [](std::optional<uint64_t> number) { return number ? std::to_string(*number) : "-"; };
  return text(damage.record) + "@" + text(damage.offset) + " " + std::string(to_string(damage.error.kind()));
}

TEST(SurveyCsv, CountsRowsAndWhatColumnsHold) {
  const FileReport report = csv_of("n,x,big,s,none\n1,0.5,17031081500,\"a,\nb\",\n2,,1.5,,\n");
  EXPECT_EQ(report.records, 2U);
  EXPECT_THAT(report.damage, IsEmpty());
  EXPECT_THAT(columns_of(report),
              ElementsAre("big float64 2/0", "n int64 2/0", "none  0/2", "s bytes 1/1", "x float32 1/1"));
  EXPECT_EQ(report.features.rows().at("n").count_max, 1U);
  EXPECT_THAT(columns_of(csv_of("n\n1\n", {})), IsEmpty()) << "nobody asked";
  EXPECT_THAT(columns_of(csv_of("a\tb,c\n1\t2\n", {.with_features = true}, '\t')),
              ElementsAre("a int64 1/0", "b,c int64 1/0"));
}

TEST(SurveyCsv, OfAReaderIsReadAsTheContentIs) {
  const auto whole = bytes_of("n,x\n1,0.5\n2,\n"), ragged = bytes_of("a,b\n1,2\n3\n");
  const auto read = [](const Bytes& bytes) {
    FileReport report{.path = "/x/a.csv.gz"};
    survey_csv(*make_memory_reader(report.path, bytes), ',', {.with_features = true}, report);
    return report;
  };
  EXPECT_THAT(columns_of(read(whole)), ElementsAre("n int64 2/0", "x float32 1/1"));
  EXPECT_EQ(damage_of(read(ragged)), "1@8 InvalidArgument");
}

TEST(SurveyCsv, ALimitIsOfRows) {
  const auto limited = [](uint64_t limit) {
    const FileReport report = csv_of("n,x\n1,\n2,\n", {.limit = limit, .with_features = true});
    return std::tuple(report.records, report.is_limited, report.features.missing(report.features.rows().at("x")));
  };
  EXPECT_EQ(limited(0), std::tuple(0U, true, 0U));
  EXPECT_EQ(limited(1), std::tuple(1U, true, 1U));
  EXPECT_EQ(limited(2), std::tuple(2U, false, 2U));
}

TEST(SurveyCsv, NamesTheRowOfTheFirstDamageAndCountsThoseBefore) {
  const FileReport ragged = csv_of("a,b\n1,2\n3\n4,5\n");
  EXPECT_EQ(std::tuple(ragged.records, damage_of(ragged)), std::tuple(1U, "1@8 InvalidArgument"));
  EXPECT_THAT(ragged.damage.at(0).error.message(), HasSubstr("2 cells expected, 1 found"));
  EXPECT_EQ(damage_of(csv_of("a,b\n1,\"2\n")), "0@6 InvalidArgument") << "the quote is not closed";
  EXPECT_EQ(damage_of(csv_of("a,b\n1,\"2\"3\n")), "0@9 InvalidArgument");
  EXPECT_EQ(damage_of(csv_of("a,a\n1,2\n")), "-@0 InvalidArgument");
  EXPECT_EQ(damage_of(csv_of("offset 7,offset 7\n1,2\n")), "-@0 InvalidArgument") << "that is a column's name";
  EXPECT_EQ(damage_of(csv_of("")), "-@0 InvalidArgument") << "there is no header";
}

Bytes array_of(const Shape& shape) {
  const std::vector<float> values(static_cast<size_t>(shape.size().value()));
  return bytes_of(npy_bytes(Tensor::from(std::span<const float>(values), shape)).value());
}

FileReport npy_of(const Bytes& content) {
  FileReport report{.path = "/x/a.npy"};
  survey_npy(content, report);
  return report;
}

TEST(SurveyNpy, CountsRowsAndTheirValues) {
  const FileReport report = npy_of(array_of({2, 3, 4}));
  EXPECT_THAT(report.damage, IsEmpty());
  const auto& values = report.features.rows().at("values");
  EXPECT_EQ(std::tuple(report.records, values.dtype, values.present, values.count_min),
            std::tuple(2U, "float32", 2U, 12U));
  EXPECT_EQ(npy_of(array_of({})).records, 1U);
  EXPECT_EQ(npy_of(array_of({0, 3})).records, 0U);
}

TEST(SurveyNpy, NamesWhatIsWrong) {
  const Bytes whole = array_of({2, 3});
  EXPECT_THAT(damage_of(npy_of(test::prefix(whole, whole.size() - 1))), HasSubstr("InvalidArgument"));
  EXPECT_THAT(damage_of(npy_of(test::prefix(whole, 20))), HasSubstr("DataLoss"));
  EXPECT_THAT(damage_of(npy_of(test::joined({whole, bytes_of("x")}))), HasSubstr("InvalidArgument"));
  EXPECT_EQ(npy_of(test::prefix(whole, 20)).records, 0U);
}

FileReport npz_of(const Bytes& content) {
  FileReport report{.path = "/x/a.npz"};
  survey_npz(content, report);
  return report;
}

TEST(SurveyNpz, CountsArraysAndTheirValues) {
  for (const bool deflate : {false, true}) {
    const FileReport report =
        npz_of(test::zip_of({{"x.npy", array_of({2, 3}), deflate}, {"y.npy", array_of({5}), deflate}}));
    EXPECT_THAT(report.damage, IsEmpty());
    EXPECT_EQ(report.records, 2U);
    EXPECT_EQ(report.features.rows().at("x").count_max, 6U);
    EXPECT_EQ(report.features.rows().at("y").count_max, 5U);
  }
  EXPECT_EQ(npz_of(test::zip_of({})).records, 0U);
}

TEST(SurveyNpz, NamesTheDamagedArray) {
  const auto with = [](test::ZipFile second) {
    return npz_of(test::zip_of({{"x.npy", array_of({2})}, std::move(second)}));
  };
  test::ZipFile wrong{"y.npy", array_of({2})};
  wrong.more_crc = 1;
  const FileReport report = with(wrong);
  ASSERT_EQ(report.damage_count, 1U);
  EXPECT_THAT(report.damage[0].error.message(), HasSubstr("y.npy"));
  EXPECT_EQ(report.damage[0].error.kind(), ErrorKind::DataLoss);
  const FileReport other = with({"y.txt", bytes_of("text")});
  EXPECT_EQ(std::tuple(other.records, other.damage_count), std::tuple(1U, 0U))
      << "a member that is no array is skipped";
  const Bytes whole = test::zip_of({{"x.npy", array_of({2})}});
  EXPECT_EQ(npz_of(test::prefix(whole, whole.size() - 1)).damage_count, 1U);
}

}  // namespace
}  // namespace headpond::cli
