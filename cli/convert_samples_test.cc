// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/example.h"
#include "headpond/io/idx.h"
#include "headpond/io/tar.h"
#include "headpond/io/tar_writer.h"
#include "tests/test_files.h"

namespace headpond::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> texts(const Dataset& dataset) {
  std::vector<std::string> all;
  Sequence sequence(dataset);
  for (auto next = sequence.next(); !next || *next; next = sequence.next()) {
    all.emplace_back(next ? std::string((**next)[size_t{0}].bytes_at(0)) : next.error().to_string());
  }
  return all;
}

Dataset one_sample(const std::string& name, Tensor value) {
  const Tensor rows = value;
  const Spec spec = {{name, value.dtype(), value.shape()}};
  return range(1) | map([rows](int64_t) { return Element(rows); }, {.output = spec, .name = "one"});
}

std::vector<std::string> member_names(const std::string& archive) {
  std::vector<std::string> names;
  const auto index = index_tar(std::as_bytes(std::span(archive)), "test");
  EXPECT_TRUE(index) << index.error();
  for (const TarMember& member : index->members) names.push_back(member.name);
  return names;
}

TEST(ConvertSamples, OfIdxHaveNames) {
  const test::TempFolder folder;
  const std::vector<uint8_t> values = {1, 2, 3, 4};
  ASSERT_TRUE(write_idx(folder.file("images"), Tensor::from(std::span<const uint8_t>(values), {2, 2})));
  ASSERT_TRUE(write_idx(folder.file("labels"), Tensor::from(std::span<const uint8_t>(values).first(2), {2})));
  EXPECT_EQ(to_string(convert_samples("idx", {folder.file("images"), folder.file("labels")}).spec()),
            "{'image': uint8[2], 'label': uint8[]}");
  EXPECT_EQ(to_string(convert_samples("idx", {folder.file("images")}).spec()), "{'data': uint8[2]}");
  EXPECT_THROW((void)convert_samples("idx", {folder.file("none")}), Exception);
  EXPECT_NE(words_refusal("idx", {}), "");
  EXPECT_NE(words_refusal("idx", {"a", "b", "c"}), "");
  EXPECT_NE(words_refusal("folder", {"a", "b"}), "");
  EXPECT_NE(words_refusal("wav", {}), "");
  EXPECT_EQ(words_refusal("idx", {"a", "b"}), "");
}

TEST(AsExamples, WidensIntegersAndLeavesOutWhatIsMissing) {
  const ExampleParser number({{"x", i64}}), real({{.key = "x", .dtype = f32, .default_value = Tensor::scalar(7.5F)}});
  const auto parsed = [](const ExampleParser& parser, const Dataset& dataset) {
    return parser.parse(std::as_bytes(std::span(texts(as_examples(dataset))[0]))).value()[0];
  };
  for (const Tensor& value : {Tensor::scalar(int8_t{-5}), Tensor::scalar(int16_t{-5}), Tensor::scalar(int32_t{-5})}) {
    EXPECT_EQ(parsed(number, one_sample("x", value)).as<int64_t>()[0], -5);
  }
  EXPECT_EQ(parsed(number, one_sample("x", Tensor::scalar(uint8_t{200}))).as<int64_t>()[0], 200);
  EXPECT_EQ(parsed(real, one_sample("x", Tensor::scalar(0.5F))).as<float>()[0], 0.5F);
  const float missing = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(parsed(real, one_sample("x", Tensor::scalar(missing))).as<float>()[0], 7.5F);
  EXPECT_THROW((void)as_examples(one_sample("x", Tensor::scalar(0.5))), Exception) << "it would be rounded";
}

TEST(AsTarMembers, NamesMembersByKeyAndField) {
  EXPECT_THAT(member_names(texts(as_tar_members(one_sample("label", Tensor::scalar(int64_t{3}))))[0]),
              ElementsAre("00000000.cls"));
  EXPECT_THAT(member_names(texts(as_tar_members(one_sample("x", Tensor::scalar(std::string_view("text")))))[0]),
              ElementsAre("00000000.x"));
  const std::vector<float> values = {1, 2};
  EXPECT_THAT(
      member_names(texts(as_tar_members(one_sample("x", Tensor::from(std::span<const float>(values), {2}))))[0]),
      ElementsAre("00000000.x.npy"));
  const test::TempFolder folder;
  std::string archive;
  for (const char* name : {"a/b.png", "a/b.cls"}) ASSERT_TRUE(append_tar_member(archive, name, name));
  test::put_file(folder.file("x.tar"), test::to_bytes(archive));
  EXPECT_THAT(member_names(texts(as_tar_members(convert_samples("tar", {folder.file("x.tar")})))[0]),
              ElementsAre("a/b.png", "a/b.cls"));
}

TEST(AsTarMembers, LeavesOutWhatIsMissingAndRefusesNamesThatDoNotComeBack) {
  const auto one = [](const std::string& name, const Tensor& value) {
    return texts(as_tar_members(one_sample(name, value)))[0];
  };
  EXPECT_EQ(one("n", Tensor::scalar(std::numeric_limits<int64_t>::min())), "");
  EXPECT_EQ(one("x", Tensor::scalar(std::numeric_limits<double>::quiet_NaN())), "");
  EXPECT_THAT(one("km/h", Tensor::scalar(int64_t{5})), HasSubstr("InvalidArgument"));
  EXPECT_THAT(member_names(one("x", Tensor::scalar(0.1))), ElementsAre("00000000.x")) << "control";
}

TEST(ConvertSamples, OfTarHaveThePartsOfAllSamples) {
  const test::TempFolder folder;
  std::string archive;
  for (const char* name : {"a.x", "b.x", "b.y"}) ASSERT_TRUE(append_tar_member(archive, name, name));
  test::put_file(folder.file("x.tar"), test::to_bytes(archive));
  const Dataset samples = convert_samples("tar", {folder.file("x.tar")});
  EXPECT_EQ(to_string(samples.spec()), "{'__key__': bytes[], 'x': bytes[], 'y': bytes[]}");
  const auto all = texts(as_tar_members(samples));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_THAT(member_names(all[0]), ElementsAre("a.x"));
  EXPECT_THAT(member_names(all[1]), ElementsAre("b.x", "b.y"));
}

TEST(ConvertSamples, OfCsvHaveTheTypeThatAllCellsFit) {
  const test::TempFolder folder;
  const auto spec = [&](const std::vector<std::string>& contents) {
    std::vector<std::string> paths;
    for (const std::string& content : contents) {
      paths.push_back(folder.file(std::to_string(paths.size())));
      test::put_file(paths.back(), test::to_bytes(content));
    }
    return to_string(convert_samples("csv", paths).spec());
  };
  EXPECT_EQ(spec({"a,b,c\n1,0.5,x\n,2,\n"}), "{'a': int64[], 'b': float32[], 'c': bytes[]}");
  EXPECT_EQ(spec({"a\n", "a\n1\n", "a\n"}), "{'a': int64[]}") << "a file without rows says nothing";
  EXPECT_EQ(spec({"a\n1\n", "a\n0.5\n"}), "{'a': float32[]}");
  EXPECT_EQ(spec({"a\n17031081501\n", "a\n0.5\n"}), "{'a': float64[]}") << "it would be rounded";
  EXPECT_EQ(spec({"a\n1\n", "a\nx\n"}), "{'a': bytes[]}");
  EXPECT_EQ(spec({"a\n17031081500\n \n"}), "{'a': int64[]}") << "with missing cells too";
  EXPECT_THROW((void)spec({"a\n1\n", "b\n1\n"}), Exception);
}

TEST(ConvertSamples, ForExamplesNameTheFileAndTheColumnThatNeedF64) {
  const test::TempFolder folder;
  const auto told = [&](const std::string& a, const std::string& b) -> std::string {
    test::put_file(folder.file("a"), test::to_bytes(a));
    test::put_file(folder.file("b"), test::to_bytes(b));
    const std::vector<std::string> words = {folder.file("a"), folder.file("b")};
    EXPECT_NO_THROW((void)convert_samples("csv", words));
    try {
      (void)convert_samples("csv", words, true);
      return "nothing";
    } catch (const Exception& e) {
      EXPECT_EQ(e.error().kind(), ErrorKind::InvalidArgument);
      return e.error().message();
    }
  };
  EXPECT_THAT(told("x,y\n1,0.5\n", "x,y\n1,1e300\n"), StartsWith(folder.file("b") + ", column 'y': "));
  EXPECT_THAT(told("x\n17031081500\n", "x\n0.5\n"), StartsWith(folder.file("a") + ", column 'x': "));
  EXPECT_EQ(told("x\n17031081500\n", "x\n5\n"), "nothing") << "integers";
  EXPECT_EQ(told("x\n1.5\n", "x\n0.5\n"), "nothing");
}

}  // namespace
}  // namespace headpond::cli
