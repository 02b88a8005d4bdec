// SPDX-License-Identifier: Apache-2.0
// Python's csv as the oracle.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "headpond/io/text/csv.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::ElementsAre;

int oracle(const std::string& arguments) {
  return std::system((HEADPOND_PYTHON " " HEADPOND_ORACLES "/csvs.py " + arguments).c_str());
}

// The columns as they stand there.
std::vector<CsvColumn> as_bytes(size_t columns) {
  std::vector<CsvColumn> all;
  for (size_t i = 0; i < columns; ++i) {
    all.push_back({.name = std::to_string(i), .dtype = bytes, .default_value = Tensor::scalar(std::string_view())});
  }
  return all;
}

std::string listing(const CsvFile& file) {
  std::string list;
  std::vector<Tensor> row(file.fields().size());
  for (int64_t i = 0; i < file.size(); ++i) {
    const auto read = file.read(i, {}, row);
    if (!read) return read.error().message();
    for (const Tensor& cell : row) {
      for (const char c : cell.bytes_at(0)) list += fmt::format("{:02x}", static_cast<unsigned char>(c));
      list += ',';
    }
    list += '\n';
  }
  return list;
}

std::string list_at(const std::string& path) {
  const auto content = test::get_file(path);
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

TEST(CsvOracle, ReadsWhatPythonWritesInEachDialect) {
  const test::TempFolder folder;
  ASSERT_EQ(oracle("write '" + folder.path() + "'"), 0);
  const std::vector<CsvOptions> dialects = {{}, {.delimiter = ';'}, {.delimiter = '\t', .quote = '\''}, {}, {}, {}};
  for (size_t i = 0; i < 60; ++i) {
    const std::string name = folder.file(std::to_string(i)), expected = list_at(name + ".list");
    CsvOptions options = dialects[i % dialects.size()];
    options.header = options.skip_bom = false;
    options.columns = as_bytes(static_cast<size_t>(
        std::count(expected.begin(), expected.begin() + static_cast<ptrdiff_t>(expected.find('\n')), ',')));
    const auto file = CsvFile::open(name + ".csv", options);
    ASSERT_TRUE(file) << i << ": " << file.error();
    EXPECT_EQ(listing(**file), expected) << i;
  }
}

class RealCsv : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string data = test::test_data("tfx-records");
    if (data.empty()) GTEST_SKIP() << "no real data: HEADPOND_DATA is not set; with CI=true this is a failure";
    path_ = data + "/tfx/examples/chicago_taxi_pipeline/data/simple/data.csv";
  }
  std::string path_;
};

TEST_F(RealCsv, HasTheCellsThatPythonFinds) {
  const test::TempFolder folder;
  ASSERT_EQ(oracle("dump '" + path_ + "' '" + folder.file("list") + "'"), 0);
  const auto file = CsvFile::open(path_, {.header = false, .columns = as_bytes(18)}).value();
  EXPECT_EQ(file->size(), 15'003) << "with its header";
  EXPECT_EQ(listing(*file), list_at(folder.file("list")));
}

// A value against strtod of the cell's text.
void expect_number(const Tensor& value, const std::string& text) {
  if (text.empty() && value.dtype() != bytes) {
    ASSERT_TRUE(value.dtype() == f32 ? std::isnan(value.as<float>()[0]) : std::isnan(value.as<double>()[0]));
  } else if (value.dtype() == i64) {
    ASSERT_EQ(value.as<int64_t>()[0], std::strtoll(text.c_str(), nullptr, 10));
  } else if (value.dtype() == f32) {
    ASSERT_EQ(value.as<float>()[0], std::strtof(text.c_str(), nullptr));
  } else if (value.dtype() == f64) {
    ASSERT_EQ(value.as<double>()[0], std::strtod(text.c_str(), nullptr));
  } else {
    ASSERT_EQ(value.bytes_at(0), text);
  }
}

TEST_F(RealCsv, HasTheTypesThatItsCellsSay) {
  const auto typed = CsvFile::open(path_).value();
  EXPECT_EQ(typed->size(), 15'002);
  std::vector<DType> dtypes;
  for (const FieldSpec& field : typed->fields()) dtypes.push_back(field.dtype);
  EXPECT_THAT(dtypes, ElementsAre(f32, f32, i64, i64, i64, i64, f32, f32, f32, f32, f32, f64, f64, bytes, bytes, f32,
                                  f32, f32));
  const auto plain = CsvFile::open(path_, {.header = false, .columns = as_bytes(18)}).value();
  std::vector<Tensor> values(typed->fields().size()), texts(typed->fields().size());
  for (int64_t i = 0; i < typed->size() && !HasFatalFailure(); ++i) {
    ASSERT_TRUE(typed->read(i, {}, values));
    ASSERT_TRUE(plain->read(i + 1, {}, texts));
    for (size_t column = 0; column < values.size(); ++column) {
      expect_number(values[column], std::string(texts[column].bytes_at(0)));
    }
  }
}

TEST_F(RealCsv, ThePenguinsAreNumbers) {
  const std::string data = test::test_data("tfx-records");
  const auto file = CsvFile::open(data + "/tfx/examples/penguin/data/labelled/penguins_processed.csv").value();
  EXPECT_EQ(file->size(), 334);
  EXPECT_EQ(file->fields()[0].name, "species");
  EXPECT_EQ(file->fields()[0].dtype, i64);
  for (size_t i = 1; i < 5; ++i) EXPECT_EQ(file->fields()[i].dtype, f32);
}

}  // namespace
}  // namespace headpond
