// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <map>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/archive/tar_writer.h"
#include "headpond/io/file/system_test_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int64_t kRecords = 23;

std::string text_of(int64_t i) { return std::to_string(i) + std::string(static_cast<size_t>(i * 37 % 101), 'x'); }

Dataset records(int64_t count = kRecords) { return range(count) | map(text_of, {.name = "text"}); }

Dataset members(int64_t count = kRecords) {
  return range(count) | map(
                            [](int64_t i) {
                              std::string member;
                              EXPECT_TRUE(append_tar_member(member, std::to_string(i) + ".txt", text_of(i)));
                              return member;
                            },
                            {.name = "member"});
}

class Shards : public testing::Test {
 protected:
  ShardOptions options(const std::string& folder, ShardOptions others = {}) {
    others.folder = folder_.file(folder);
    if (others.shards == 1) others.shards = 4;
    return others;
  }
  // Every file of a folder but the plans; nothing else is hidden.
  std::map<std::string, std::vector<std::byte>> files(const std::string& folder) {
    std::map<std::string, std::vector<std::byte>> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.file(folder))) {
      const std::string name = entry.path().filename().string();
      const bool is_plan = name.starts_with('.') && name.ends_with(".plan");
      EXPECT_TRUE(is_plan || !name.starts_with('.')) << name;
      if (!is_plan) all[name] = test::get_file(entry.path().string());
    }
    return all;
  }
  test::TempFolder folder_;
};

TEST_F(Shards, HoldEachRecordOnceInOrder) {
  const auto report = write_shards(records(), options("a"));
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->records, kRecords);
  EXPECT_EQ(report->resumed_from, 0);
  std::vector<int64_t> sizes;
  uint64_t bytes = 0;
  for (const Shard& shard : report->shards) {
    sizes.push_back(shard.records);
    bytes += std::filesystem::file_size(shard.path);
    EXPECT_EQ(tfrecord(shard.path, {.keep_index = false}).cardinality(), shard.records);
  }
  EXPECT_THAT(sizes, ElementsAre(5, 6, 6, 6));
  EXPECT_EQ(report->bytes, bytes);
  EXPECT_EQ(report->shards[1].path, folder_.file("a/data-00001-of-00004.tfrecord"));
  Sequence sequence(tfrecord(folder_.file("a/data-*.tfrecord"), {.keep_index = false}));
  for (int64_t i = 0; i < kRecords; ++i) {
    const auto next = sequence.next();
    ASSERT_TRUE(next);
    EXPECT_EQ((*next)[size_t{0}].bytes_at(0), text_of(i));
  }
}

TEST_F(Shards, HaveTheSameBytesForAnyThreads) {
  for (const ShardOptions& kind :
       {ShardOptions{}, ShardOptions{.compression = Compression::gzip}, ShardOptions{.format = ShardFormat::tar}}) {
    const Dataset dataset = kind.format == ShardFormat::tar ? members(500) : records(500);
    ShardOptions one = options("one", kind), many = options("many", kind);
    one.threads = 0;
    many.threads = 8;
    const auto by_one = write_shards(dataset, one), by_many = write_shards(dataset, many);
    ASSERT_TRUE(by_one && by_many);
    EXPECT_EQ(files("one"), files("many"));
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(by_one->shards[i].digest, by_many->shards[i].digest);
    EXPECT_NE(by_one->shards[0].digest, by_one->shards[1].digest) << "control";
    std::filesystem::remove_all(folder_.file("one"));
    std::filesystem::remove_all(folder_.file("many"));
  }
}

TEST_F(Shards, GoOnAfterAStopAtEveryRecord) {
  for (const ShardOptions& kind :
       {ShardOptions{}, ShardOptions{.compression = Compression::gzip}, ShardOptions{.format = ShardFormat::tar}}) {
    const Dataset dataset = kind.format == ShardFormat::tar ? members() : records();
    ASSERT_TRUE(write_shards(dataset, options("whole", kind)));
    for (int64_t stop = 1; stop <= kRecords; ++stop) {
      ShardOptions stopped = options("stopped", kind);
      stopped.progress = [stop](int64_t done) { return done < stop; };
      const auto first = write_shards(dataset, stopped);
      ASSERT_FALSE(first);
      EXPECT_EQ(first.error().kind(), ErrorKind::Cancelled);
      ShardOptions rest = options("stopped", kind);
      rest.resume = true;
      const auto second = write_shards(dataset, rest);
      ASSERT_TRUE(second) << second.error();
      EXPECT_EQ(files("stopped"), files("whole")) << "stopped after " << stop;
      if (kind.format == ShardFormat::tfrecord && kind.compression == Compression::none) {
        EXPECT_EQ(second->resumed_from, stop) << "nothing is made twice";
      } else {
        EXPECT_LE(second->resumed_from, stop);
        EXPECT_GT(second->resumed_from, stop - 7) << "no more than a shard is made twice";
      }
    }
    for (const char* folder : {"whole", "stopped"}) std::filesystem::remove_all(folder_.file(folder));
  }
}

TEST_F(Shards, GoOnAfterATornRecord) {
  ASSERT_TRUE(write_shards(records(), options("whole")));
  const auto whole = files("whole");
  const auto& second = whole.at("data-00001-of-00004.tfrecord");
  for (size_t kept = 0; kept <= second.size(); kept += 7) {
    ShardOptions rest = options("torn");
    ASSERT_TRUE(write_shards(records(), rest));
    for (const char* shard : {"1", "2", "3"}) {
      std::filesystem::remove(folder_.file(std::string("torn/data-0000") + shard + "-of-00004.tfrecord"));
    }
    test::put_file(folder_.file("torn/data-00001-of-00004.tfrecord.partial"), std::span(second).first(kept));
    rest.resume = true;
    const auto report = write_shards(records(), rest);
    ASSERT_TRUE(report) << report.error();
    EXPECT_GE(report->resumed_from, 5);
    EXPECT_EQ(files("torn"), whole) << kept;
  }
}

TEST_F(Shards, WriteAPartialShardAnewThatIsDamaged) {
  ASSERT_TRUE(write_shards(records(), options("whole")));
  const auto whole = files("whole");
  auto damaged = whole.at("data-00000-of-00004.tfrecord");
  damaged[13] ^= std::byte{1};
  ASSERT_TRUE(write_shards(records(), options("a")));
  for (const char* shard : {"0", "1", "2", "3"}) {
    std::filesystem::remove(folder_.file(std::string("a/data-0000") + shard + "-of-00004.tfrecord"));
  }
  test::put_file(folder_.file("a/data-00000-of-00004.tfrecord.partial"), damaged);
  ShardOptions rest = options("a");
  rest.resume = true;
  const auto report = write_shards(records(), rest);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->resumed_from, 0);
  EXPECT_EQ(files("a"), whole);
  test::put_file(folder_.file("a/data-00009-of-00004.tfrecord"), {});
  EXPECT_FALSE(write_shards(records(), rest)) << "a reader would take it too";
}

TEST_F(Shards, AreWholeOrNotThere) {
  std::atomic<bool> fails = true;
  const Dataset dataset = range(kRecords) | map(
                                                [&](int64_t i) -> Result<std::string> {
                                                  if (fails && i == 9) return fail(ErrorKind::DataLoss, "smudged");
                                                  return text_of(i);
                                                },
                                                {.name = "text"});
  const auto failed = write_shards(dataset, options("a"));
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().to_string(), AllOf(HasSubstr("smudged"), HasSubstr("record 9")));
  EXPECT_TRUE(std::filesystem::exists(folder_.file("a/data-00000-of-00004.tfrecord")));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("a/data-00001-of-00004.tfrecord")));
  fails = false;
  ShardOptions rest = options("a");
  rest.resume = true;
  const auto report = write_shards(dataset, rest);
  ASSERT_TRUE(report) << report.error();
  EXPECT_EQ(report->resumed_from, 9);
  ASSERT_TRUE(write_shards(dataset, options("whole")));
  EXPECT_EQ(files("a"), files("whole"));
  EXPECT_EQ(write_shards(dataset, rest)->resumed_from, kRecords) << "all is there";
}

TEST_F(Shards, HaveOneWriterAtATime) {
  for (const ShardOptions& kind :
       {ShardOptions{}, ShardOptions{.compression = Compression::gzip}, ShardOptions{.format = ShardFormat::tar}}) {
    const Dataset dataset = kind.format == ShardFormat::tar ? members() : records();
    ASSERT_TRUE(write_shards(dataset, options("whole", kind)));
    ShardOptions first = options("a", kind);
    bool asked = false;
    first.progress = [&](int64_t) {
      if (std::exchange(asked, true)) return true;
      for (const bool resume : {false, true}) {
        ShardOptions second = options("a", kind);
        second.resume = resume;
        const auto report = write_shards(dataset, second);
        EXPECT_EQ(report ? ErrorKind::Unknown : report.error().kind(), ErrorKind::FailedPrecondition);
      }
      ShardOptions other = options("a", kind);
      other.name = "other";
      EXPECT_TRUE(write_shards(dataset, other)) << "other shards in the same folder";
      return true;
    };
    ASSERT_TRUE(write_shards(dataset, first));
    EXPECT_TRUE(asked);
    for (const auto& [name, bytes] : files("whole")) EXPECT_EQ(files("a").at(name), bytes);
    for (const char* folder : {"whole", "a"}) std::filesystem::remove_all(folder_.file(folder));
  }
}

TEST_F(Shards, AreWholeWhereverThePlanWasInterrupted) {
  ASSERT_TRUE(write_shards(records(), options("whole")));
  const auto whole = files("whole");
  const auto plan = test::get_file(folder_.file("whole/.data.plan"));
  const std::string text(reinterpret_cast<const char*>(plan.data()), plan.size());
  const size_t end_of_plan = text.find("the shards:\n") + 12;
  const size_t end_of_first = text.find('\n', end_of_plan + 1) + 1;
  ASSERT_LT(end_of_first, plan.size());
  const LogSink before = set_log_sink([](LogLevel, std::string_view) {});
  for (size_t kept = 0; kept <= plan.size(); ++kept) {
    test::put_file(folder_.file("whole/.data.plan"), std::span(plan).first(kept));
    ShardOptions rest = options("whole");
    rest.resume = true;
    const auto report = write_shards(records(), rest);
    ASSERT_TRUE(report) << kept << ": " << report.error();
    EXPECT_EQ(files("whole"), whole);
    EXPECT_EQ(report->resumed_from > 0, kept >= end_of_first) << kept;
    EXPECT_EQ(write_shards(records(), rest)->resumed_from, kRecords) << "all is there after " << kept;
  }
  set_log_sink(before);
}

TEST_F(Shards, ThatAreNotAsTheyWereWrittenAreWrittenAgain) {
  ASSERT_TRUE(write_shards(records(), options("whole")));
  const auto whole = files("whole");
  for (const auto& [name, bytes] : whole) {
    for (const bool is_truncated : {false, true}) {
      auto damaged = bytes;
      if (is_truncated) {
        damaged.resize(damaged.size() / 2);
      } else {
        damaged[damaged.size() / 2] ^= std::byte{1};
      }
      test::put_file(folder_.file("whole/" + name), damaged);
      EXPECT_NE(files("whole"), whole);
      ShardOptions rest = options("whole");
      rest.resume = true;
      std::string logged;
      const LogSink before = set_log_sink([&](LogLevel, std::string_view line) { logged += line; });
      const auto report = write_shards(records(), rest);
      set_log_sink(before);
      ASSERT_TRUE(report) << report.error();
      EXPECT_THAT(logged, HasSubstr(name));
      EXPECT_LT(report->resumed_from, kRecords);
      EXPECT_EQ(files("whole"), whole) << name;
    }
  }
}

// The n-th system call fails, for each n: nothing is said to be done that is not, and a resume brings the same bytes.
TEST_F(Shards, GoOnAfterAFailureOfEverySystemCall) {
  for (const ShardOptions& kind :
       {ShardOptions{}, ShardOptions{.compression = Compression::gzip}, ShardOptions{.format = ShardFormat::tar}}) {
    const Dataset dataset = kind.format == ShardFormat::tar ? members() : records();
    ASSERT_TRUE(write_shards(dataset, options("whole", kind)));
    const auto whole = files("whole");
    int failures = 0;
    for (int n = 0; failures == n; ++n) {
      ShardOptions with = options("a", kind);
      with.threads = 0;
      {
        int calls = 0;
        const internal::FaultInjection nth_fails([&](std::string_view) {
          const bool fails = calls++ == n;
          failures += fails ? 1 : 0;
          return internal::Fault{.error = fails ? ENOSPC : 0};
        });
        const auto report = write_shards(dataset, with);
        EXPECT_TRUE(report || failures > n) << report.error();
        EXPECT_TRUE(!report || files("a") == whole) << "call " << n;
      }
      with.resume = true;
      const auto report = write_shards(dataset, with);
      ASSERT_TRUE(report) << "after call " << n << ": " << report.error();
      EXPECT_EQ(files("a"), whole) << "call " << n;
      std::filesystem::remove_all(folder_.file("a"));
    }
    EXPECT_GT(failures, 20);
    std::filesystem::remove_all(folder_.file("whole"));
  }
}

// What the system cannot read at the moment is not damaged: nothing of it is made again.
TEST_F(Shards, KeepEveryRecordThatCannotBeReadAtTheMoment) {
  constexpr int64_t kWritten = 9;  // A whole shard of 5, and 4 records of the next one.
  ASSERT_TRUE(write_shards(records(), options("whole")));
  ShardOptions stopped = options("stopped");
  stopped.progress = [](int64_t done) { return done < kWritten; };
  ASSERT_FALSE(write_shards(records(), stopped));
  ShardOptions rest = options("a");
  rest.resume = true;
  rest.threads = 0;
  for (const int error : {EIO, ESTALE, EMFILE}) {
    int failures = 0;
    for (int n = 0; failures == n; ++n) {
      std::filesystem::remove_all(folder_.file("a"));
      std::filesystem::copy(folder_.file("stopped"), folder_.file("a"));
      {
        int calls = 0;
        const internal::FaultInjection nth_fails([&](std::string_view) {
          const bool fails = calls++ == n;
          failures += fails ? 1 : 0;
          return internal::Fault{.error = fails ? error : 0};
        });
        const auto report = write_shards(records(), rest);
        if (report) {
          EXPECT_EQ(report->resumed_from, kWritten) << "call " << n;
        } else {
          EXPECT_TRUE(report.error().is_transient()) << report.error();
        }
      }
      const auto later = write_shards(records(), rest);
      ASSERT_TRUE(later) << "after call " << n << ": " << later.error();
      EXPECT_GE(later->resumed_from, kWritten) << "call " << n;
      EXPECT_EQ(files("a"), files("whole")) << "call " << n;
    }
    EXPECT_GT(failures, 20);
  }
}

// A full disk is not a missing permission, and a lost connection may pass.
TEST_F(Shards, TellWhyTheirFolderIsNotMade) {
  const auto error_for = [&](int number) {
    const internal::FaultInjection fault(
        [number](std::string_view call) { return internal::Fault{.error = call == "mkdir" ? number : 0}; });
    const auto report = write_shards(records(), options("a"));
    return report ? Error() : report.error();
  };
  EXPECT_EQ(error_for(ENOSPC).kind(), ErrorKind::ResourceExhausted);
  EXPECT_EQ(error_for(ENOSPC).os_error(), ENOSPC);
  EXPECT_TRUE(error_for(ESTALE).is_transient());
  EXPECT_FALSE(error_for(EACCES).is_transient()) << "control";
}

TEST_F(Shards, OfAFolderThatIsAFileTellTheNumber) {
  test::put_file(folder_.file("a"), {});
  const auto report = write_shards(records(), options("a"));
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().os_error(), 0) << report.error();
}

TEST_F(Shards, WithoutAPlanOfTheirOwnAreNotReplaced) {
  ASSERT_TRUE(write_shards(records(), options("a")));
  const auto whole = files("a");
  ShardOptions rest = options("a");
  rest.resume = true;
  std::filesystem::remove(folder_.file("a/.data.plan"));
  const auto unknown = write_shards(records(5), rest);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind(), ErrorKind::FailedPrecondition);
  for (const bool resume : {false, true}) {
    rest.resume = resume;
    test::put_file(folder_.file("a/.data.plan"), test::to_bytes("notes of somebody"));
    const auto report = write_shards(records(5), rest);
    ASSERT_FALSE(report);
    EXPECT_THAT(report.error().message(), HasSubstr("data.plan"));
    EXPECT_EQ(test::get_file(folder_.file("a/.data.plan")), test::to_bytes("notes of somebody"));
  }
  EXPECT_EQ(files("a"), whole);
  std::filesystem::remove(folder_.file("a/.data.plan"));
  rest.resume = false;
  EXPECT_TRUE(write_shards(records(5), rest)) << "without resume it starts over";
}

TEST_F(Shards, OfAnotherDatasetAreNotGoneOnWith) {
  ASSERT_TRUE(write_shards(records(), options("a")));
  ShardOptions rest = options("a");
  rest.resume = true;
  const auto other = write_shards(members(), rest);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.error().message(), AllOf(HasSubstr("map(text"), HasSubstr("map(member")));
  EXPECT_FALSE(write_shards(records(5), rest));
  rest.made_from = "files of Monday";
  EXPECT_THAT(write_shards(records(), rest).error().message(), HasSubstr("Monday"));
  ASSERT_TRUE(write_shards(records(5), options("a"))) << "without resume it starts over";
  EXPECT_EQ(tfrecord(folder_.file("a/*.tfrecord"), {.keep_index = false}).cardinality(), 5);
  for (const ShardOptions& kind : {ShardOptions{.shards = 3}, ShardOptions{.compression = Compression::gzip}}) {
    const auto mixed = write_shards(records(), options("a", kind));
    ASSERT_FALSE(mixed) << "a reader of data-* would take both";
    EXPECT_THAT(mixed.error().message(), HasSubstr("data-0000"));
  }
  EXPECT_TRUE(write_shards(records(), options("a", {.name = "other", .shards = 3})));
}

TEST_F(Shards, CanBeEmpty) {
  const auto report = write_shards(records(2), options("a"));
  ASSERT_TRUE(report);
  EXPECT_EQ(files("a").size(), 4U);
  EXPECT_EQ(write_shards(records(0), options("b"))->records, 0);
  EXPECT_EQ(files("b").size(), 4U);
}

TEST_F(Shards, RefuseWhatCannotBe) {
  const auto refusal = [&](const Dataset& dataset, const ShardOptions& with) -> std::string {
    try {
      (void)write_shards(dataset, with);
    } catch (const Exception& e) {
      EXPECT_EQ(e.error().kind(), ErrorKind::InvalidArgument);
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(range(3), options("a")), HasSubstr("scalar of dtype bytes"));
  EXPECT_THAT(refusal(records() | filter([](std::string_view) { return true; }), options("a")), HasSubstr("positions"));
  EXPECT_THAT(refusal(records() | repeat(), options("a")), HasSubstr("positions"));
  EXPECT_THAT(refusal(records(), options("a", {.shards = 0})), HasSubstr("0 shards"));
  EXPECT_THAT(refusal(records(), options("a", {.name = "x/y"})), HasSubstr("x/y"));
  EXPECT_THAT(refusal(records(), options("a", {.compression = Compression::zlib})), HasSubstr("zlib"));
  EXPECT_THAT(refusal(records(), options("a", {.format = ShardFormat::tar, .compression = Compression::gzip})),
              HasSubstr("tar"));
  EXPECT_THAT(refusal(records(), ShardOptions()), HasSubstr("folder"));
  test::put_file(folder_.file("file"), {});
  EXPECT_FALSE(write_shards(records(), options("file/x")));
  const auto texts = write_shards(records(), options("texts", {.format = ShardFormat::tar}));
  ASSERT_FALSE(texts);
  EXPECT_THAT(texts.error().to_string(), HasSubstr("no member of a tar archive"));
}

}  // namespace
}  // namespace headpond
