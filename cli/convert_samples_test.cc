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
  EXPECT_THROW((void)convert_samples("idx", {}), Exception);
  EXPECT_THROW((void)convert_samples("folder", {"a", "b"}), Exception);
  EXPECT_THROW((void)convert_samples("wav", {}), Exception);
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
  EXPECT_THAT(texts(as_examples(one_sample("x", Tensor::scalar(0.5)))), ElementsAre(HasSubstr("float64")));
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

}  // namespace
}  // namespace headpond::cli
