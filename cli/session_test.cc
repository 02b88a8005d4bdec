// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "cli/verbs/session_log.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/codec/image/formats/image.h"

namespace headpond::cli {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

// The working directory is a fresh folder until the end of the test.
class SessionTest : public testing::Test {
 protected:
  SessionTest()
      : before_(fs::current_path()),
        folder_(fs::temp_directory_path() / fs::path("headpond-cli-" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    fs::current_path(folder_);
  }
  ~SessionTest() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const fs::path before_, folder_;
  Interrupt interrupt_;
};

TEST(Errors, AreSaidWithTheirCausesAndWithoutTheKind) {
  const Error cause(ErrorKind::DataLoss, "a.tfrecord, record 3: a wrong checksum");
  EXPECT_EQ(with_causes(cause), "a.tfrecord, record 3: a wrong checksum");
  EXPECT_THAT(with_causes({ErrorKind::DataLoss, "10 elements in a row failed", cause}),
              AllOf(StartsWith("10 elements"), HasSubstr("a.tfrecord, record 3")));
}

TEST_F(SessionTest, RunsGetTheFirstFreeFolder) {
  fs::create_directories("headpond-runs/train-mnist-2");
  Session one("train mnist", {}, interrupt_), two("train mnist", {}, interrupt_);
  EXPECT_EQ(one.folder().value(), "headpond-runs/train-mnist-1");
  EXPECT_EQ(one.folder().value(), "headpond-runs/train-mnist-1") << "one run has one folder";
  EXPECT_EQ(two.folder().value(), "headpond-runs/train-mnist-3");
}

TEST_F(SessionTest, LogdirNamesTheFolder) {
  Session session("demo", {.logdir = "a/b"}, interrupt_);
  EXPECT_EQ(session.folder().value(), "a/b");
  EXPECT_TRUE(fs::is_directory("a/b"));
}

TEST_F(SessionTest, AFolderThatCannotBeMadeIsAnErrorThatNamesIt) {
  std::ofstream("file") << "x";
  Session session("demo", {.logdir = "file/b"}, interrupt_);
  const Error error = session.folder().error();
  EXPECT_EQ(error.kind(), ErrorKind::NotFound);
  EXPECT_EQ(error.os_error(), ENOTDIR);
  EXPECT_THAT(error.message(), HasSubstr("file/b"));
  std::ofstream("headpond-runs") << "x";
  Session without_name("demo", {}, interrupt_);
  const Error of_runs = without_name.folder().error();
  EXPECT_EQ(of_runs.kind(), ErrorKind::NotFound);
  EXPECT_EQ(of_runs.os_error(), ENOTDIR);
  EXPECT_THAT(of_runs.message(), AllOf(HasSubstr("headpond-runs"), HasSubstr("--logdir")));
}

TEST_F(SessionTest, JsonBeginsWithTheCommonMembersAndIsWrittenOnce) {
  Session session("train mnist", {.json = "out.json", .seed = 9}, interrupt_);
  ASSERT_TRUE(session.write_json([](JsonWriter& json) { json.member("own", 1); }));
  ASSERT_TRUE(session.write_json([](JsonWriter& json) { json.member("second", 1); }));
  const std::string text = content("out.json");
  EXPECT_THAT(text, StartsWith(R"({"schema":"headpond.train/1","version":"0.1.0","build":{"type":")"));
  for (const char* part :
       {R"("compiler":)", R"("flags":)", R"(ffp-contract=off)", R"("simd":)", R"("stats":true},"machine":{"cores":)",
        R"("affinity":[)", R"("mem_gib":)", R"("blas":)", R"("blas_threads":)", R"("torch_threads":)",
        R"("load_start":)", R"("load_end":)", R"("seed":9,"own":1,"wall_s":)"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(text, EndsWith("}\n"));
}

TEST_F(SessionTest, WithoutJsonNothingIsWritten) {
  Session session("demo", {}, interrupt_);
  ASSERT_TRUE(session.write_json([](JsonWriter&) { FAIL(); }));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(SessionTest, AnErrorIsAMemberWithItsKind) {
  JsonWriter json;
  json.begin_object();
  write_error(json, {ErrorKind::NotFound, "no file"});
  json.end_object();
  EXPECT_EQ(json.text(), R"({"error":{"kind":"NotFound","message":"NotFound: no file"}})");
}

TEST_F(SessionTest, ARunsFilesAreNamedAndWhole) {
  Session session("demo", {.quiet = true}, interrupt_);
  const SessionLog log = SessionLog::open(session, "a").value();
  ASSERT_TRUE(log->scalar("loss", 1));
  ASSERT_TRUE(log->close());
  ASSERT_TRUE(log->close());
  const RunFiles files = log->files();
  EXPECT_THAT(files.events, StartsWith("headpond-runs/demo-1/a/events.out.tfevents."));
  EXPECT_EQ(log->scalar("loss", 2).error().kind(), ErrorKind::FailedPrecondition) << "the file is still open";
  EXPECT_THAT(content(files.timeline), HasSubstr("traceEvents"));
  JsonWriter json;
  json.begin_object();
  write_files(json, "headpond-runs/demo-1", {files, files});
  json.end_object();
  EXPECT_THAT(std::string(json.text()),
              HasSubstr(R"("timeline":"headpond-runs/demo-1/a/timeline.json","timelines":[)"));
}

TEST_F(SessionTest, WithoutANameOfAFolderThereIsNoLog) {
  Session session("run", {.quiet = true}, interrupt_);
  EXPECT_EQ(SessionLog::open_if_named(session).value(), std::nullopt);
  EXPECT_TRUE(fs::is_empty(folder_));
  Session named("run", {.quiet = true, .logdir = "here"}, interrupt_);
  EXPECT_EQ(SessionLog::open_if_named(named).value()->get()->files().folder, "here");
}

TEST_F(SessionTest, EachTaskShowsItsOperatorsIfThatIsAsked) {
  const auto is_every = [&](const std::string& probes) {
    Session session("demo", {.quiet = true, .probes = probes}, interrupt_);
    const SessionLog log = SessionLog::open(session).value();
    return trace::internal::probes_every.load();
  };
  EXPECT_TRUE(is_every("every"));
  EXPECT_FALSE(is_every("sampled"));
  EXPECT_FALSE(is_every(CommonFlags().probes));
}

TEST_F(SessionTest, OnlyPipelinesWithAVerdictHaveAMember) {
  PipelineRecord with{.name = "train"};
  with.verdict.code = ReasonCode::startup;
  JsonWriter json;
  json.begin_object();
  write_verdicts(json, {PipelineRecord{.name = "quiet"}, with});
  json.end_object();
  EXPECT_THAT(std::string(json.text()), StartsWith(R"({"verdicts":[{"name":"train","verdict":"startup: )"));
}

TEST_F(SessionTest, ComponentsNameWhatIsCompiledIn) {
  const auto parts = components();
  const auto has = [&](const char* name) {
    for (const auto& [part, present] : parts) {
      if (part == name) return present;
    }
    return false;
  };
  EXPECT_TRUE(has("gzip"));
  EXPECT_EQ(has("webp"), has_decoder(ImageFormat::webp));
}

}  // namespace
}  // namespace headpond::cli
