// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_csv.h"

#include <gmock/gmock.h>

#include "cli/convert/convert_test_internal.h"
#include "headpond/io/example/example.h"

namespace headpond::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class CsvSamples : public testing::Test {
 protected:
  Dataset samples(const std::vector<std::string>& contents, bool for_examples = false) {
    std::vector<std::string> paths;
    for (const std::string& content : contents) {
      paths.push_back(folder_.file(std::to_string(paths.size())));
      test::put_file(paths.back(), test::to_bytes(content));
    }
    return csv_samples(paths, for_examples);
  }
  // "a:int64 b:bytes", without the field that tells what is there.
  std::string types(const std::vector<std::string>& contents, bool for_examples = false) {
    const Spec spec = samples(contents, for_examples).spec();
    std::string text;
    for (size_t f = 0; f + 1 < spec.size(); ++f) {
      text += (f > 0 ? " " : "") + spec[f].name + ":" + std::string(name(spec[f].dtype));
    }
    return text;
  }
  std::vector<std::string> members(const std::vector<std::string>& contents) {
    return test::members_of(samples(contents));
  }
  std::string refused(const std::vector<std::string>& contents, bool for_examples = false) {
    return test::refusal([&] { (void)samples(contents, for_examples); });
  }

  const test::TempFolder folder_;
};

TEST_F(CsvSamples, HaveTheTypeThatAllCellsFit) {
  EXPECT_EQ(types({"a,b,c\n1,0.5,x\n,2,\n"}), "a:int64 b:float64 c:bytes");
  EXPECT_EQ(types({"a,b,c\n1,0.5,x\n,2,\n"}, true), "a:int64 b:float32 c:bytes") << "as an Example has it";
  EXPECT_EQ(types({"a\n", "a\n1\n", "a\n"}), "a:int64") << "a file without rows says nothing";
  EXPECT_EQ(types({"a\n1\n", "a\n0.5\n"}, true), "a:float32");
  EXPECT_EQ(types({"a\n17031081501\n", "a\n0.5\n"}), "a:float64") << "it would be rounded";
  EXPECT_EQ(types({"a\n1\n", "a\nx\n"}), "a:bytes");
  EXPECT_EQ(types({"a,b\n17031081500,x\n ,y\n\t2 ,z\n", "a,b\n3,x\n"}), "a:int64 b:bytes") << "blank cells are missing";
  EXPECT_EQ(types({"a,b\n1,\n2,\"\"\n"}), "a:int64 b:bytes") << "nothing says that it is a number";
  EXPECT_THAT(refused({"a\n1\n", "b\n1\n"}), AllOf(HasSubstr("other columns"), HasSubstr(folder_.file("1"))));
}

TEST_F(CsvSamples, ACodeIsNoNumber) {
  EXPECT_EQ(types({"zip\n01234\n99999\n"}), "zip:bytes");
  EXPECT_EQ(types({"a\n7\n", "a\n007\n"}), "a:bytes") << "in any file";
  EXPECT_EQ(types({"a,b,c,d\n+49,-01,00.5, 00\n1,1,1,1\n"}), "a:bytes b:bytes c:bytes d:bytes");
  EXPECT_EQ(types({"a,b,c,d\n0,-0,0.5,1e+05\n1,1,-0.25,0e1\n"}), "a:int64 b:int64 c:float64 d:float64") << "control";
  EXPECT_THAT(members({"zip,n\n01234,1\n,2\n"}), ElementsAre("00000000.zip=01234", "00000000.n=1", "00000001.n=2"));
}

TEST_F(CsvSamples, OnlyWhatIsEmptyAndNotQuotedIsMissing) {
  EXPECT_THAT(members({"x,y\n0.5,a\nnan,\n,b\n"}),
              ElementsAre("00000000.x=0.5", "00000000.y=a", "00000001.x=nan", "00000002.y=b"));
  EXPECT_THAT(members({"x\n1700000050.25\n52.520006612\n0.1\n"}),
              ElementsAre("00000000.x=1700000050.25", "00000001.x=52.520006612", "00000002.x=0.1"));
  EXPECT_THAT(members({"x,y\n1,\"\"\n2,\n"}), ElementsAre("00000000.x=1", "00000000.y=", "00000001.x=2"));
  EXPECT_THAT(members({"x,y\n1,missing\n\"\",b\n"}), ElementsAre("00000000.x=1", "00000000.y=missing", "00000001.y=b"))
      << "a number is never empty";
  EXPECT_THAT(members({"x,y\n-9223372036854775808,a\n,b\n"}),
              ElementsAre("00000000.x=-9223372036854775808", "00000000.y=a", "00000001.y=b"));
  EXPECT_THAT(members({"x\n-9223372036854775808\n"}), ElementsAre("00000000.x=-9223372036854775808"));
}

TEST_F(CsvSamples, AnExampleHasWhatIsThere) {
  const auto examples = test::texts(as_examples(samples({"x,y\nnan,\n,\"\"\n,\n"}, true)));
  ASSERT_EQ(examples.size(), 3U);
  const ExampleParser parser({{.key = "x", .dtype = f32, .default_value = Tensor::scalar(7.5F)},
                              {.key = "y", .dtype = bytes, .default_value = Tensor::scalar(std::string_view("none"))}});
  const auto row = [&](size_t i) { return parser.parse(std::as_bytes(std::span(examples[i]))).value(); };
  EXPECT_NE(row(0)[0].as<float>()[0], row(0)[0].as<float>()[0]);
  EXPECT_EQ(row(0)[1].bytes_at(0), "none");
  EXPECT_EQ(row(1)[0].as<float>()[0], 7.5F);
  EXPECT_EQ(row(1)[1].bytes_at(0), "");
  EXPECT_EQ(row(2)[0].as<float>()[0], 7.5F);
}

TEST_F(CsvSamples, OfArchivesHaveAtLeastOneCell) {
  const std::string with_none = "a,b\n1,2\n , \n3,4\n";
  EXPECT_THAT(refused({"a,b\n1,2\n", with_none}),
              AllOf(StartsWith("InvalidArgument: " + folder_.file("1") + ", row 1: all cells are missing")));
  EXPECT_THAT(refused({"__key__,a\nx,1\ny,\n"}), HasSubstr(", row 1: all cells")) << "a key is no part";
  EXPECT_EQ(test::texts(as_examples(samples({with_none}, true))).size(), 3U);
  EXPECT_EQ(refused({"a,b\n1,\n,2\n"}), "") << "control";
}

TEST_F(CsvSamples, OfArchivesHaveKeysOfTheirOwn) {
  EXPECT_THAT(members({"__key__,x\n7,1\n007,2\n", "__key__,x\na/b,3\n"}), ElementsAre("7.x=1", "007.x=2", "a/b.x=3"));
  EXPECT_EQ(types({"__key__,x\n7,1\n8,2\n"}), "__key__:bytes x:int64");
  EXPECT_THAT(
      refused({"__key__,x\na,1\n", "__key__,x\nb,1\na,2\n"}),
      AllOf(HasSubstr(folder_.file("1") + ", row 1"), HasSubstr("'a'"), HasSubstr(folder_.file("0") + ", row 0")));
  EXPECT_THAT(refused({"__key__,x,y\na,1,\na,,2\n"}), HasSubstr("row 1"));
  EXPECT_THAT(refused({"__key__,x\n,1\n"}), HasSubstr(", row 0: its __key__ is missing"));
  EXPECT_THAT(refused({"__key__,x\n\"\",1\n"}), HasSubstr("row 0"));
  for (const char* key : {"a.b", "a/", "__meta__/a"}) {
    EXPECT_THAT(refused({std::string("__key__,x\n") + key + ",1\n"}),
                HasSubstr(std::string("'") + key + "' is not a valid key"));
  }
  EXPECT_EQ(test::texts(as_examples(samples({"__key__,x\na,1\na,2\n,3\n"}, true))).size(), 3U) << "a feature as others";
}

TEST_F(CsvSamples, AFileWithoutAByteIsPassedOver) {
  EXPECT_THAT(members({"", "a\n1\n", "", "a\n2\n"}), ElementsAre("00000000.a=1", "00000001.a=2"));
  EXPECT_THAT(refused({"", ""}), AllOf(HasSubstr(folder_.file("0")), HasSubstr("as all are; a header is expected")));
  EXPECT_THAT(members({"a\n", ""}), IsEmpty()) << "a header is enough";
}

TEST_F(CsvSamples, ForExamplesFitTheirFloats) {
  EXPECT_THAT(refused({"x,y\n1,0.5\n", "x,y\n1,1e300\n"}, true),
              StartsWith("InvalidArgument: " + folder_.file("1") + ", column 'y': "));
  EXPECT_THAT(refused({"x\n17031081500\n", "x\n0.5\n"}, true),
              StartsWith("InvalidArgument: " + folder_.file("0") + ", column 'x': "));
  EXPECT_EQ(refused({"x\n17031081500\n", "x\n5\n"}, true), "") << "integers";
  EXPECT_EQ(refused({"x,y\n1,0.5\n", "x,y\n1,1e300\n"}), "");
}

}  // namespace
}  // namespace headpond::cli
