// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <limits>

#include "cli/convert/convert_test_internal.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/example/example.h"

namespace headpond::cli {
namespace {

using test::members;
using test::members_of;
using test::put_tar;
using test::refusal;
using test::texts;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

Dataset one_sample(const std::string& name, const Tensor& value) {
  const Spec spec = {{name, value.dtype(), value.shape()}};
  return range(1) | map([value](int64_t) { return Element(value); }, {.output = spec, .name = "one"});
}

std::string first(const std::string& name, const Tensor& value) {
  return texts(as_tar_members(one_sample(name, value)))[0];
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

TEST(WithPresence, TellsWhichFieldsASampleHas) {
  const Spec spec = {{"x", f32, {}}, {"y", bytes, {}}};
  const auto none = [](int64_t) {
    return Element(Tensor::scalar(std::numeric_limits<float>::quiet_NaN()), Tensor::scalar(std::string_view()));
  };
  const Dataset samples =
      with_presence(range(3) | map(none, {.output = spec, .name = "none"}), "some",
                    [](int64_t sample, size_t field) { return sample >= static_cast<int64_t>(field); });
  EXPECT_EQ(samples.spec().size(), 3U);
  const auto archives = texts(as_tar_members(samples));
  EXPECT_THAT(members(archives[0]), ElementsAre("00000000.x=nan"));
  EXPECT_THAT(members(archives[1]), ElementsAre("00000001.x=nan", "00000001.y="));
  const ExampleParser parser({{.key = "y", .dtype = bytes, .default_value = Tensor::scalar(std::string_view("none"))}});
  const auto examples = texts(as_examples(samples));
  EXPECT_EQ(parser.parse(std::as_bytes(std::span(examples[0]))).value()[0].bytes_at(0), "none");
  EXPECT_EQ(parser.parse(std::as_bytes(std::span(examples[1]))).value()[0].bytes_at(0), "");
}

TEST(AsExamples, WidensIntegers) {
  const ExampleParser number({{"x", i64}}), real({{.key = "x", .dtype = f32, .default_value = Tensor::scalar(7.5F)}});
  const auto parsed = [](const ExampleParser& parser, const Dataset& dataset) {
    return parser.parse(std::as_bytes(std::span(texts(as_examples(dataset))[0]))).value()[0];
  };
  for (const Tensor& value : {Tensor::scalar(int8_t{-5}), Tensor::scalar(int16_t{-5}), Tensor::scalar(int32_t{-5})}) {
    EXPECT_EQ(parsed(number, one_sample("x", value)).as<int64_t>()[0], -5);
  }
  EXPECT_EQ(parsed(number, one_sample("x", Tensor::scalar(uint8_t{200}))).as<int64_t>()[0], 200);
  EXPECT_EQ(parsed(real, one_sample("x", Tensor::scalar(0.5F))).as<float>()[0], 0.5F);
  const int64_t least = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(parsed(number, one_sample("x", Tensor::scalar(least))).as<int64_t>()[0], least) << "a number like others";
  EXPECT_THROW((void)as_examples(one_sample("x", Tensor::scalar(0.5))), Exception) << "it would be rounded";
}

TEST(AsTarMembers, NamesMembersByKeyAndField) {
  EXPECT_THAT(members(first("label", Tensor::scalar(int64_t{3}))), ElementsAre("00000000.cls=3"));
  EXPECT_THAT(members(first("label", Tensor::scalar(std::string_view("cat")))), ElementsAre("00000000.label=cat"));
  EXPECT_THAT(members(first("x", Tensor::scalar(std::string_view()))), ElementsAre("00000000.x="));
  EXPECT_THAT(members(first("x", Tensor::scalar(0.1))), ElementsAre("00000000.x=0.1"));
  const std::vector<float> values = {1, 2};
  EXPECT_THAT(members(first("x", Tensor::from(std::span<const float>(values), {2}))),
              ElementsAre(StartsWith("00000000.x.npy=\x93NUMPY")));
  const Spec spec = {{"label", i64, {}}, {"cls", i64, {}}};
  const auto both = [](int64_t) { return Element(Tensor::scalar(int64_t{1}), Tensor::scalar(int64_t{2})); };
  EXPECT_THAT(test::members_of(range(1) | map(both, {.output = spec, .name = "both"})),
              ElementsAre("00000000.label=1", "00000000.cls=2"));
}

TEST(AsTarMembers, RefusesNamesThatDoNotComeBack) {
  EXPECT_THAT(refusal([] { (void)as_tar_members(one_sample("km/h", Tensor::scalar(int64_t{5}))); }),
              AllOf(StartsWith("InvalidArgument"), HasSubstr("'km/h'")));
  const Spec spec = {{"A", i64, {}}, {"a", i64, {}}};
  const auto both = [](int64_t) { return Element(Tensor::scalar(int64_t{1}), Tensor::scalar(int64_t{2})); };
  EXPECT_THAT(refusal([&] { (void)as_tar_members(range(1) | map(both, {.output = spec, .name = "both"})); }),
              HasSubstr("twice"));
  EXPECT_THAT(first("__key__", Tensor::scalar(std::string_view("a"))), HasSubstr("sample a: it has no part"));
}

TEST(ConvertSamples, OfTarHaveThePartsOfAllSamples) {
  const test::TempFolder folder;
  put_tar(folder.file("x.tar"), {{"a.x", "1"}, {"b.x", ""}, {"b.y", "2"}, {"c.y", ""}});
  const Dataset samples = convert_samples("tar", {folder.file("x.tar")});
  const Spec& spec = samples.spec();
  ASSERT_EQ(spec.size(), 4U);
  EXPECT_EQ(to_string(Spec(spec.begin(), spec.end() - 1)), "{'__key__': bytes[], 'x': bytes[], 'y': bytes[]}");
  EXPECT_THAT(members_of(samples), ElementsAre("a.x=1", "b.x=", "b.y=2", "c.y=")) << "what is empty is there";
  const ExampleParser parser({{.key = "x", .dtype = bytes, .default_value = Tensor::scalar(std::string_view("none"))}});
  const auto examples = texts(as_examples(samples));
  EXPECT_EQ(parser.parse(std::as_bytes(std::span(examples[1]))).value()[0].bytes_at(0), "");
  EXPECT_EQ(parser.parse(std::as_bytes(std::span(examples[2]))).value()[0].bytes_at(0), "none");
}

TEST(ConvertSamples, OfTarKeepTheNamesOfTheirParts) {
  const test::TempFolder folder;
  put_tar(folder.file("x.tar"), {{"a/b.label", "1"}, {"a/b.file", "2"}, {"a/b.name", "x.png"}, {"a/b.path", "y.jpg"}});
  EXPECT_THAT(members_of(convert_samples("tar", {folder.file("x.tar")})),
              ElementsAre("a/b.label=1", "a/b.file=2", "a/b.name=x.png", "a/b.path=y.jpg"));
}

TEST(ConvertSamples, OfTarHaveEachKeyOnce) {
  const test::TempFolder folder;
  const std::vector<std::string> words = {folder.file("1.tar"), folder.file("2.tar")};
  put_tar(words[0], {{"0.x", "1"}, {"1.x", "2"}});
  put_tar(words[1], {{"0.x", "3"}, {"2.x", "4"}});
  EXPECT_THAT(refusal([&] { (void)convert_samples("tar", words); }),
              AllOf(StartsWith("InvalidArgument: sample '0'"), HasSubstr(words[0]), HasSubstr(words[1]),
                    HasSubstr("--to tfrecord")));
  EXPECT_EQ(texts(as_examples(convert_samples("tar", words, true))).size(), 4U);
  put_tar(words[1], {{"2.x", "3"}, {"3.x", "4"}});
  EXPECT_THAT(members_of(convert_samples("tar", words)), ElementsAre("0.x=1", "1.x=2", "2.x=3", "3.x=4"));
}

TEST(ConvertSamples, OfFoldersKeepTheEndingsOfFiles) {
  const test::TempFolder folder;
  std::filesystem::create_directory(folder.file("c"));
  for (const char* name : {"1.PNG", "2.cls", "3.path", "4.file", "5"}) {
    test::put_file(folder.file(std::string("c/") + name), test::to_bytes("!"));
  }
  test::put_file(folder.file("c/6.png"), {});
  const auto all = texts(as_tar_members(convert_samples("folder", {folder.path()})));
  const std::vector<std::string> files = {"png=!", "file.cls=!", "file.path=!", "file=!", "file=!", "png="};
  const std::vector<std::string> paths = {"1.PNG", "2.cls", "3.path", "4.file", "5", "6.png"};
  ASSERT_EQ(all.size(), files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string key = "0000000" + std::to_string(i) + ".";
    EXPECT_THAT(members(all[i]), ElementsAre(key + "path=c/" + paths[i], key + files[i], key + "cls=0"));
  }
}

TEST(ConvertSamples, OfCsvNameMembersByTheirColumnsAlone) {
  const test::TempFolder folder;
  test::put_file(folder.file("x.csv"), test::to_bytes("name,file,label\nbar.name,1,2\nfoo.PNG,3,4\n"));
  EXPECT_THAT(members_of(convert_samples("csv", {folder.file("x.csv")})),
              ElementsAre("00000000.name=bar.name", "00000000.file=1", "00000000.cls=2", "00000001.name=foo.PNG",
                          "00000001.file=3", "00000001.cls=4"));
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
