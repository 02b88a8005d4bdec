// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/text/text_lines.h"

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/io/inflated/chunk_sizes.h"
#include "headpond/io/zlib_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class TextFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    test::put_file(folder_.file(name), test::to_bytes(content));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(TextFiles, AreLines) {
  const std::string one = write("1", "head\na\r\n\nb"), two = write("2", "head\n"), three = write("3", "x\ny\n");
  const Dataset dataset = text_lines({one, two, three}, {.skip_header_lines = 1});
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("'a' #0", "'' #1", "'b' #2", "'y' #3"));
  EXPECT_TRUE(fills(*(dataset | shuffle()).node()));
  check_contract(dataset);
  check_contract(dataset | shuffle() | batch(3));
  EXPECT_THAT(elements(text_lines(write("empty", ""))), IsEmpty());
  test::put_file(folder_.file("4"), test::gzip(test::get_file(one)));
  EXPECT_EQ(elements(text_lines(folder_.file("4"))), elements(text_lines(one)));
}

TEST_F(TextFiles, InTurnAreInTheOrderOfInterleave) {
  std::vector<std::string> paths;
  for (const int lines : {3, 0, 7, 1, 2, 4}) {
    std::string text;
    for (int i = 0; i < lines; ++i) text += fmt::format("{}.{}\n", paths.size(), i);
    paths.push_back(write(std::to_string(paths.size()), text));
  }
  const auto lines_of = [](std::string_view path) { return text_lines(std::string(path)); };
  for (const int64_t reads : {2, 3, 5, 9}) {
    const Dataset in_turn = text_lines(paths, {.num_parallel_reads = reads});
    EXPECT_EQ(elements(in_turn),
              elements(list_files(paths, {.shuffle = false}) | interleave(lines_of, {.cycle_length = reads})));
    EXPECT_NE(elements(in_turn), elements(text_lines(paths))) << "control: " << reads;
    EXPECT_EQ(in_turn.kind(), Kind::indexed);
    check_contract(in_turn);
  }
}

TEST_F(TextFiles, OfLargeGzipFilesAreInflatedInChunks) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i * 7919) + "\n";
  const std::string plain = write("1", text), rows = write(
                                                  "2", "n,text\n" + [] {
                                                    std::string all;
                                                    for (int i = 0; i < 3000; ++i)
                                                      all += std::to_string(i) + ",t" + std::to_string(i * 7919) + "\n";
                                                    return all;
                                                  }());
  for (const char* name : {"1", "2"}) {
    test::put_file(folder_.file(std::string(name) + ".gz"), test::gzip(test::get_file(folder_.file(name))));
  }
  const uint64_t least = least_chunked_bytes.exchange(0), chunk = chunk_bytes.exchange(2000);
  EXPECT_EQ(elements(text_lines(plain + ".gz"), {}, true), elements(text_lines(plain), {}, true));
  EXPECT_EQ(elements(csv(rows + ".gz"), {}, true), elements(csv(rows), {}, true));
  EXPECT_EQ(elements(text_lines({plain, plain + ".gz"}) | shuffle()).size(), 6000U);
  check_contract(text_lines(plain + ".gz") | shuffle() | take(50) | batch(7));
  check_contract(csv(rows + ".gz") | skip(2950));
  least_chunked_bytes = least;
  chunk_bytes = chunk;
}

TEST_F(TextFiles, TellALineThatIsTooLongAndGoOn) {
  const std::string path = write("1", "a\nlong\nb\n");
  EXPECT_THAT(elements(text_lines(path, {.max_line_bytes = 3})),
              ElementsAre("'a'", AllOf(HasSubstr("!ResourceExhausted"), HasSubstr(path)), "'b'"));
}

TEST_F(TextFiles, OfJsonBecomeFields) {
  const std::string path = write("1", R"({"score": 1.5, "tags": ["a", "b"], "label": 3}
{"label": 4, "score": 2, "tags": []}
{"label": "five"}
)");
  const Dataset dataset =
      text_lines(path) | map(parse_json({{"label", i64}, {"score", f32}, {"tags", bytes, {kUnknown}}}));
  EXPECT_EQ(to_string(dataset.spec()), "{'label': int64[], 'score': float32[], 'tags': bytes[?]}");
  EXPECT_THAT(elements(dataset), ElementsAre("3, 1.5, ['a' 'b']", "4, 2, []",
                                             AllOf(HasSubstr("!InvalidArgument"), HasSubstr(path + ", record 2"))));
  EXPECT_THAT(dataset.plan(), HasSubstr("map(parse_json('label': int64[], 'score': float32[], 'tags': bytes[?]))"));
  check_contract(text_lines(path) | take(2) | map(parse_json({{"label", i64}})) | batch(2));
  EXPECT_TRUE(fills(*(text_lines(path) | map(parse_json({{"label", i64}}))).node()));
}

TEST_F(TextFiles, OfAnotherQuestionRefuseTheState) {
  const Dataset lines = text_lines(write("1", "{\"a\": 1}\n{}\n"));
  const auto with_default = [&](int64_t value) {
    return lines | map(parse_json({{"a", i64, {}, Tensor::scalar(value)}}));
  };
  Sequence sequence(with_default(5));
  (void)sequence.next();
  EXPECT_TRUE(Sequence::restored(with_default(5), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(with_default(6), {}, sequence.state()));
}

}  // namespace
}  // namespace headpond::internal
