// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/operators/plan_parsers.h"

#include <array>
#include <fstream>

#include "headpond/io/example/example_writer.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/plan/plan_test_internal.h"
#include "tests/test_files.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

class PlanParsers : public testing::Test {
 protected:
  test::TempFolder folder_;
  const std::string path_ = folder_.file("texts");
};

TEST_F(PlanParsers, GiveTheFeaturesOfExamples) {
  auto writer = RecordWriter::open(path_).value();
  const NamedTensor label{"label", Tensor::scalar(int64_t{3})};
  const auto image = [](std::vector<uint8_t> pixels) {
    return NamedTensor{"image", Tensor::from(std::span<const uint8_t>(pixels), {2})};
  };
  ASSERT_TRUE(writer->append(make_example(std::array{label, image({1, 2})}).value()));
  ASSERT_TRUE(writer->append(make_example(std::array{image({3, 4})}).value()));
  ASSERT_TRUE(writer->close());
  const std::string records = step("tfrecord", "paths = ['" + path_ + "']");
  expect(records +
             step("parse_example",
                  "features = [{ key = 'image', dtype = 'uint8', shape = [2] }, "
                  "{ key = 'label', dtype = 'int64', default_value = -1 }]") +
             step("map", "function = 'image * 2', into = 'image'"),
         {R"("image":[2,4],"label":3)", R"("image":[6,8],"label":-1)"});
  expect(records + step("parse_example", "features = [{ key = 'label', dtype = 'int64', kind = 'VarLen' }]"),
         {R"("label":[3])", R"("label":[])"});
  expect(records + step("parse_example",
                        "features = [{ key = 'label', dtype = 'int64', kind = 'FixedLenSequence', "
                        "allow_missing = true, shape = [1] }]"),
         {R"("label":[[3]])", R"("label":[])"});
  EXPECT_THAT(delivered(records + step("parse_example", "features = [{ key = 'label', dtype = 'int64' }]")).back(),
              HasSubstr("label"));
}

TEST_F(PlanParsers, ParseAFieldAndKeepTheOthers) {
  std::ofstream(path_) << "{\"a\": 3}\n{\"a\": 4}\n";
  const std::string rows = step("text_lines", "paths = ['" + path_ + "']") + step("enumerate");
  const std::string parse = "fields = [{ key = 'a', dtype = 'int64' }]";
  expect(rows + step("parse_json", parse + ", field = 'x'"), {R"("index":0,"a":3)", R"("index":1,"a":4)"});
  EXPECT_THAT(refused(rows + step("parse_json", parse + ", field = 'b'")), HasSubstr("no field 'b'"));
}

TEST_F(PlanParsers, GiveRaggedFeaturesWithTheirRows) {
  auto writer = RecordWriter::open(path_).value();
  const auto list = [](const char* key, std::vector<int64_t> values) {
    return NamedTensor{key, Tensor::from(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())})};
  };
  ASSERT_TRUE(writer->append(make_example(std::array{list("v", {4, 5, 6}), list("n", {2, 1})}).value()));
  ASSERT_TRUE(writer->close());
  expect(step("tfrecord", "paths = ['" + path_ + "']") +
             step("parse_example", "features = [{ key = 'v', dtype = 'int64', kind = 'Ragged', row_lengths = 'n' }]"),
         {R"("v":[4,5,6],"v.row_splits":[0,2,3])"});
}

TEST_F(PlanParsers, GiveSparseFeaturesAndTheLengthsOfSequences) {
  auto writer = RecordWriter::open(path_).value();
  const auto list = [](const char* key, std::vector<int64_t> values) {
    return NamedTensor{key, Tensor::from(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())})};
  };
  ASSERT_TRUE(writer->append(make_example(std::array{list("v", {4, 5}), list("n", {2, 1})}).value()));
  ASSERT_TRUE(writer->close());
  const std::string records = step("tfrecord", "paths = ['" + path_ + "']");
  const std::string sparse =
      "features = [{ key = 's', dtype = 'int64', shape = [3], kind = 'Sparse', index_keys = ['n'], "
      "value_key = 'v'";
  expect(records + step("parse_example", sparse + " }]"), {R"("s.indices":[[1],[2]],"s.values":[5,4],"s.shape":[3])"});
  expect(records + step("parse_example", sparse + ", already_sorted = true }]"),
         {R"("s.indices":[[2],[1]],"s.values":[4,5],"s.shape":[3])"});
  const std::string steps = "key = 'v', dtype = 'int64', kind = 'FixedLenSequence', with_length = true";
  expect(records + step("parse_example", "features = [{ " + steps + " }]"), {R"("v":[4,5],"v.length":2)"});
  expect(records +
             step("parse_sequence_example", "context = [{ key = 'n', dtype = 'int64', kind = 'VarLen' }], lists = [{ " +
                                                steps + ", allow_missing = true }]"),
         {R"("n":[2,1],"v":[],"v.length":0)"});
}

TEST_F(PlanParsers, TakeImagesFromTheirPixels) {
  std::ofstream(path_) << R"({"features": {"feature": {"image": {"bytesList": {"value": ["AAECAw=="]}},)"
                       << R"( "size": {"int64List": {"value": ["1", "2"]}}}}})"
                       << "\n";
  const std::string parsed = step("text_lines", "paths = ['" + path_ + "']") + step("decode_json_example", "") +
                             step("parse_example",
                                  "features = [{ key = 'image', dtype = 'bytes' }, "
                                  "{ key = 'size', dtype = 'int64', shape = [2] }]");
  expect(parsed + step("raw_image", ""), {R"("image":[[[0,1],[2,3]]])"});
  EXPECT_THAT(refused(parsed + step("raw_image", "channels = 5")), HasSubstr("channels must be 0 to 4"));
}

TEST_F(PlanParsers, DecodeRawBytesAndExamplesInJson) {
  std::ofstream(path_) << R"({"features": {"feature": {"s": {"bytesList": {"value": ["AAECAw=="]}}}}})"
                       << "\n";
  const std::string examples = step("text_lines", "paths = ['" + path_ + "']") + step("decode_json_example", "");
  const std::string parsed = examples + step("parse_example", "features = [{ key = 's', dtype = 'bytes' }]");
  expect(parsed + step("decode_raw", "dtype = 'uint16'"), {R"("s":[256,770])"});
  expect(parsed + step("decode_raw", "field = 's', dtype = 'uint16', little_endian = false, shape = [1, 2]"),
         {R"("s":[[1,515]])"});
  EXPECT_THAT(refused(parsed + step("decode_raw", "dtype = 'bytes'")), HasSubstr("not to bytes"));
}

TEST_F(PlanParsers, HugeShapesCostNothingUntilTheyAreGiven) {
  std::ofstream(path_) << "{}\n";
  const std::string lines = step("text_lines", "paths = ['" + path_ + "']");
  const std::string huge = "key = 'a', dtype = 'float32', shape = [1000000000, 1000000], default_value = 0.5";
  for (const auto& parse :
       {step("parse_json", "fields = [{ " + huge + " }]"), step("parse_example", "features = [{ " + huge + " }]")}) {
    EXPECT_EQ(refused(lines + parse), "no error");
    expect(lines + parse + step("take", "count = 0"), {});
  }
  EXPECT_THAT(delivered(lines + step("parse_json", "fields = [{ " + huge + " }]")).back(), HasSubstr("memory"));
}

TEST_F(PlanParsers, NameTheLineOfAFeatureThatCannotBe) {
  const std::string lines = step("text_lines", "paths = ['" + path_ + "']");
  std::ofstream(path_) << "a\n";
  const auto refused_as = [&](const std::string& feature) {
    return refused(lines + step("parse_example", "features = [" + feature + "]"));
  };
  EXPECT_THAT(refused_as("{ key = 'a' }"), HasSubstr("f.toml:6: parse_example: features: dtype is missing"));
  EXPECT_THAT(refused_as("{ key = 'a', dtype = 'float32', kind = 'Varlen' }"), HasSubstr("did you mean 'VarLen'?"));
  EXPECT_THAT(refused_as("{ key = 'a', dtype = 'float64' }"),
              HasSubstr("f.toml:6: feature 'a': float64; an Example holds"));
  EXPECT_THAT(refused_as("'a'"), HasSubstr("f.toml:6: parse_example: features must be a list of tables"));
  EXPECT_THAT(refused_as(""), HasSubstr("f.toml:6: parse_example: features is empty"));
  EXPECT_THAT(refused(step("range", "stop = 1") + step("parse_json", "fields = [{ key = 'a', dtype = 'int64' }]")),
              HasSubstr("f.toml:6: map: parse_json('a': int64[]) takes one scalar of dtype bytes"));
}

TEST_F(PlanParsers, GiveTheFieldsOfJson) {
  std::ofstream(path_) << R"({"n": 1, "v": [0.5, 2]})"
                       << "\n{}\n";
  expect(step("text_lines", "paths = ['" + path_ + "']") +
             step("parse_json",
                  "fields = [{ key = 'n', dtype = 'int64', default_value = 0 }, "
                  "{ key = 'v', dtype = 'float32', shape = [2], default_value = 1 }]"),
         {R"("n":1,"v":[0.5,2])", R"("n":0,"v":[1,1])"});
}

}  // namespace
}  // namespace headpond::plan
