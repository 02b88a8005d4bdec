// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "headpond/io/file/file.h"
#include "headpond/monitor/run/end_files_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string text_of(const std::string& path) {
  const auto bytes = read_file(path).value();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<PipelineRecord> two_pipelines() {
  return {{.name = "train", .wait_ns = 5, .verdict = {.code = ReasonCode::cpu_bound}},
          {.name = "evaluation", .wait_ns = 9, .verdict = {.code = ReasonCode::none}}};
}

TEST(EndFiles, TheFirstVerdictIsThatOfThePipelineWithAReason) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_verdicts(folder.path(), two_pipelines()));
  EXPECT_THAT(text_of(folder.file("verdict.json")),
              AllOf(StartsWith(R"({"schema":"headpond.verdict/1","name":"train","verdict":"cpu_bound: )"),
                    HasSubstr(R"({"name":"evaluation","verdict":"none: )")));
  ASSERT_TRUE(write_verdicts(folder.path(), {}));
  EXPECT_THAT(text_of(folder.file("verdict.json")),
              AllOf(HasSubstr(R"("name":"","verdict":"none: )"), HasSubstr(R"("pipelines":[])")));
}

TEST(EndFiles, TheProfileHasAllPipelinesAndTheMemory) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_profiles(folder.path(), two_pipelines(), {{"map", 4096}}));
  EXPECT_THAT(
      text_of(folder.file("profile.json")),
      AllOf(StartsWith(R"({"schema":"headpond.profile/1","pipelines":[{"name":"train","rows":[)"),
            HasSubstr(R"({"name":"evaluation","rows":[)"), HasSubstr(R"("memory":[{"who":"map","bytes":4096}])")));
}

TEST(EndFiles, WithoutARunInTheFolderThereIsNoReport) {
  const test::TempFolder folder;
  EXPECT_EQ(write_report(folder.path()).error().kind(), ErrorKind::NotFound);
  EXPECT_EQ(write_verdicts(folder.file("absent"), {}).error().kind(), ErrorKind::NotFound);
}

}  // namespace
}  // namespace headpond::internal
