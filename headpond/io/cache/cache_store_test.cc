// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/cache_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "headpond/base/log.h"
#include "headpond/io/cache/cache_folder.h"
#include "headpond/io/file/system_internal.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

using Answer = CacheStore::Answer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int64_t kValues = 1000;  // Of the large field.

Element element_of(int64_t number) {
  std::vector<int32_t> values(kValues, static_cast<int32_t>(number));
  Element element{Tensor::from(values, {kValues}), Tensor::scalar(number)};
  element.key = static_cast<uint64_t>(number) * 3;
  return element;
}

// "7" for element_of(7), else what is wrong, or how it was answered.
std::string look(CacheStore& store, int64_t position, Error* why = nullptr) {
  Element out;
  switch (store.find(position, out, why)) {
    case Answer::missing:
      return "missing";
    case Answer::hole:
      return "hole";
    case Answer::end:
      return "end";
    case Answer::damaged:
      return "damaged";
    case Answer::value:
      break;
  }
  const auto number = out[1].item<int64_t>();
  const auto values = out[size_t{0}].as<int32_t>();
  const bool same = std::all_of(values.begin(), values.end(), [&](int32_t value) { return value == number; });
  return same && values.size() == kValues && out.key == static_cast<uint64_t>(number) * 3 ? std::to_string(number)
                                                                                          : "other bytes";
}

class CacheStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    old_sink_ = set_log_sink([this](LogLevel, std::string_view line) { log_.emplace_back(line); });
  }
  void TearDown() override { set_log_sink(old_sink_); }
  std::shared_ptr<CacheStore> open(const std::string& plan = "range\n", int64_t most_bytes = -1) const {
    return CacheStore::open(folder_.path(), {.text = plan, .slots = 10}, most_bytes);
  }
  CacheInfo info() const { return list_caches(folder_.path()).value().at(0); }

  const test::TempFolder folder_;
  std::vector<std::string> log_;

 private:
  LogSink old_sink_;
};

TEST_F(CacheStoreTest, FindsWhatItKeeps) {
  auto store = open();
  EXPECT_EQ(look(*store, 3), "missing");
  for (const int64_t i : {3, 0, 70'000}) store->keep(i, element_of(i));
  store->keep_hole(4);
  store->keep_end(70'001);
  for (int opened = 0; opened < 2; ++opened) {
    EXPECT_EQ(look(*store, 3), "3");
    EXPECT_EQ(look(*store, 0), "0");
    EXPECT_EQ(look(*store, 70'000), "70000");
    EXPECT_EQ(look(*store, 4), "hole");
    EXPECT_EQ(look(*store, 70'001), "end");
    EXPECT_EQ(look(*store, 5), "missing");
    store.reset();
    store = open();
  }
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(CacheStoreTest, IsOneObjectInAProcess) {
  const auto store = open();
  EXPECT_EQ(open(), store);
  EXPECT_NE(open("range\nmap\n"), store);
  ASSERT_TRUE(remove_cache(folder_.path(), internal::cache_name("range\n")));
  EXPECT_NE(open(), store) << "another folder of this name";
}

TEST_F(CacheStoreTest, AnotherPlanIsAnotherCache) {
  open("map(resize, version=1)\n")->keep(0, element_of(1));
  EXPECT_EQ(look(*open("map(resize, version=2)\n"), 0), "missing");
  EXPECT_EQ(look(*open("map(resize, version=1)\n"), 0), "1");
}

TEST_F(CacheStoreTest, WritesAnElementOnce) {
  const auto store = open();
  store->keep(1, element_of(1));
  const uint64_t bytes = info().bytes;
  for (int i = 0; i < 100; ++i) store->keep(1, element_of(1));
  EXPECT_EQ(info().bytes, bytes);
}

TEST_F(CacheStoreTest, PositionsBeyond32BitsAreNotKept) {
  const auto store = open();
  store->keep(int64_t{1} << 32, element_of(1));
  EXPECT_EQ(look(*store, int64_t{1} << 32), "missing");
  EXPECT_EQ(look(*store, -1), "missing");
  EXPECT_TRUE(store->keeps());
}

// Runs `body` in a process of its own, which ends without destructors, as by a kill.
void in_child(const std::function<void()>& body) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST_F(CacheStoreTest, AnotherProcessUsesItAtTheSameTime) {
  const auto store = open();
  store->keep(0, element_of(0));
  in_child([this, &store] {
    const auto own = open();
    if (own == store || look(*own, 0) != "0") _exit(1);
    own->keep(1, element_of(1));
    store->keep(2, element_of(2));  // The parent's: would write where the parent writes.
  });
  EXPECT_EQ(look(*store, 1), "1");
  EXPECT_EQ(look(*store, 2), "missing");
  store->keep(2, element_of(2));
  for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(look(*store, i), std::to_string(i));
}

TEST_F(CacheStoreTest, TwoProcessesFillItTogether) {
  constexpr int64_t kCount = 300;
  const auto fill = [this](int64_t step) {
    const auto store = open();
    for (int64_t i = 0; i < kCount; ++i) {
      const int64_t at = i * step % kCount;
      if (look(*store, at) == "missing") store->keep(at, element_of(at));
    }
  };
  const pid_t child = fork();
  if (child == 0) {
    fill(7);
    _exit(0);
  }
  fill(11);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  const auto store = open();
  for (int64_t i = 0; i < kCount; ++i) EXPECT_EQ(look(*store, i), std::to_string(i));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(CacheStoreTest, ManyThreadsFillAndReadIt) {
  const auto store = open();
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (int64_t i = 0; i < 200; ++i) {
          const int64_t at = (i * 3 + t * 50) % 200;
          const std::string found = look(*store, at);
          if (found == "missing") store->keep(at, element_of(at));
          if (found != "missing" && found != std::to_string(at)) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(look(*store, i), std::to_string(i));
}

// After each write of a run has been its last one: what is found is right, and what is missing can be kept.
TEST_F(CacheStoreTest, AKillAtAnyCallLeavesWholeElements) {
  const auto run = [this] {
    const auto store = open();
    for (int64_t i = 0; i < 3; ++i) store->keep(i, element_of(i));
    store->keep_end(3);
  };
  for (int kill_at = 0;; ++kill_at) {
    std::filesystem::remove_all(folder_.path());
    std::filesystem::create_directory(folder_.path());
    const pid_t child = fork();
    if (child == 0) {
      const internal::FaultInjection hook([kill_at, calls = 0](std::string_view) mutable {
        if (calls++ == kill_at) _exit(9);
        return internal::Fault{.bytes = 1000};  // A kill may come in the middle of an element.
      });
      run();
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    {
      const auto store = open();
      bool missing = false;
      for (int64_t i = 0; i < 3; ++i) {
        const std::string found = look(*store, i);
        missing = missing || found == "missing";
        EXPECT_EQ(found, missing ? "missing" : std::to_string(i)) << "killed at call " << kill_at;
      }
    }
    run();
    const auto store = open();
    for (int64_t i = 0; i < 3; ++i) EXPECT_EQ(look(*store, i), std::to_string(i));
    EXPECT_EQ(look(*store, 3), "end");
    if (WEXITSTATUS(status) == 0) {
      EXPECT_GT(kill_at, 20);
      break;
    }
  }
  EXPECT_THAT(log_, IsEmpty());
}

// Each call fails once: at worst something is not kept, with one warning.
TEST_F(CacheStoreTest, AFailureOfTheSystemIsOneWarning) {
  for (const int error : {ENOSPC, EIO, EMFILE, EINTR}) {
    for (int fail_at = -1, calls = 0; fail_at < calls; ++fail_at) {
      std::filesystem::remove_all(folder_.path());
      log_.clear();
      std::vector<std::string> found;
      int seen = 0;
      {
        const internal::FaultInjection hook(
            [&](std::string_view) { return internal::Fault{.error = seen++ == fail_at ? error : 0}; });
        const auto store = open();
        for (int64_t i = 0; i < 3; ++i) store->keep(i, element_of(i));
        for (int64_t i = 0; i < 3; ++i) found.push_back(look(*store, i));
      }
      calls = std::max(calls, seen);  // The first run has all: none of its calls fails.
      EXPECT_LE(log_.size(), 1U) << fail_at;
      for (int64_t i = 0; i < 3; ++i) {
        const std::string& one = found[static_cast<size_t>(i)];
        EXPECT_TRUE(one == std::to_string(i) || one == "missing" || one == "damaged") << one;
        if (error == EINTR) {
          EXPECT_EQ(one, std::to_string(i));
        }
      }
      const auto store = open();
      for (int64_t i = 0; i < 3; ++i) {
        store->keep(i, element_of(i));
        EXPECT_EQ(look(*store, i), std::to_string(i)) << "works again after call " << fail_at;
      }
    }
  }
}

TEST_F(CacheStoreTest, AFullDiskEndsKeepingWithOneWarning) {
  const auto store = open();
  store->keep(0, element_of(0));
  {
    const internal::FaultInjection hook(
        [](std::string_view call) { return internal::Fault{.error = call == "pwrite" ? ENOSPC : 0}; });
    for (int64_t i = 1; i < 100; ++i) store->keep(i, element_of(i));
  }
  EXPECT_THAT(log_, ElementsAre(testing::AllOf(HasSubstr("keeps nothing more"), HasSubstr("ENOSPC"))));
  EXPECT_FALSE(store->keeps());
  EXPECT_EQ(look(*store, 0), "0");
  EXPECT_EQ(look(*store, 1), "missing");
}

TEST_F(CacheStoreTest, TakesNoMoreThanItsLimit) {
  {
    const auto store = open("range\n", 20'000);
    for (int64_t i = 0; i < 100; ++i) store->keep(i, element_of(i));
    EXPECT_EQ(look(*store, 3), "3");
    EXPECT_EQ(look(*store, 10), "missing");
  }
  const auto again = open("range\n", 20'000);
  again->keep(10, element_of(10));
  EXPECT_EQ(look(*again, 10), "missing") << "bytes of an earlier run count";
  EXPECT_THAT(log_, ElementsAre(HasSubstr("limit of 20000 bytes"), HasSubstr("limit of 20000 bytes")));
}

TEST_F(CacheStoreTest, OneThatBeginsBesideOthersSaysSo) {
  open("range\nmap(f, version=0)\n");
  EXPECT_THAT(log_, IsEmpty()) << "the first one";
  open("range\nmap(f, version=1)\n");
  EXPECT_THAT(log_, ElementsAre(testing::AllOf(HasSubstr("begins empty"), HasSubstr("same folder: 1"))));
  open("range\nmap(f, version=0)\n");
  EXPECT_EQ(log_.size(), 1U) << "neither begins now";
}

TEST_F(CacheStoreTest, AReadOnlyFolderIsRead) {
  open()->keep(0, element_of(0));
  const std::string cache = folder_.file(internal::cache_name("range\n"));
  const auto all_read = std::filesystem::perms(0555);
  std::filesystem::permissions(folder_.path(), all_read);
  std::filesystem::permissions(cache, all_read);
  in_child([this] {
    if (getuid() == 0 && setuid(65534) != 0) _exit(1);  // Root may write everywhere.
    const auto store = open();
    store->keep(1, element_of(1));
    const bool good = look(*store, 0) == "0" && look(*store, 1) == "missing" && !store->keeps();
    if (!good || log_.size() != 1 || log_[0].find("EACCES") == std::string::npos) _exit(2);
  });
  std::filesystem::permissions(folder_.path(), std::filesystem::perms::owner_all);
  std::filesystem::permissions(cache, std::filesystem::perms::owner_all);
}

TEST_F(CacheStoreTest, ARunWhoseCacheWasRemovedHarmsNoNewOne) {
  const auto old = open();
  for (int64_t i = 0; i < 3; ++i) {
    old->keep(i, element_of(i));
    EXPECT_EQ(look(*old, i), std::to_string(i));
  }
  ASSERT_TRUE(remove_cache(folder_.path(), internal::cache_name("range\n")));
  const auto made = open();
  ASSERT_NE(made, old);
  for (const int64_t i : {2, 1, 0}) made->keep(i, element_of(i));
  old->keep(70'000, element_of(7));  // In another index file than those that it has open.
  EXPECT_THAT(log_, ElementsAre(HasSubstr("it was removed")));
  EXPECT_EQ(look(*made, 70'000), "missing");
  for (int64_t i = 0; i < 3; ++i) {
    EXPECT_EQ(look(*old, i), std::to_string(i));
    EXPECT_EQ(look(*made, i), std::to_string(i));
  }
}

TEST_F(CacheStoreTest, NoticesAPartThatIsLostAfterItWasChecked) {
  const auto store = open();
  const Element large{Tensor::from(std::vector<int32_t>(50'000, 7), {50'000})};
  store->keep(0, large);
  Element out;
  ASSERT_EQ(store->find(0, out), Answer::value);
  out = Element();
  std::filesystem::resize_file(store->folder() + "/data-0000", 4096);  // The first page stays.
  Error why;
  EXPECT_EQ(store->find(0, out, &why), Answer::damaged);
  EXPECT_TRUE(why.is_transient()) << "the disk may have failed";
}

TEST_F(CacheStoreTest, TellsAnErrorThatMayPass) {
  open()->keep(0, element_of(0));
  const auto store = CacheStore::open_to_read(folder_.path(), {.text = "range\n", .slots = 10});
  const auto look_while_failing = [&](std::string* found) {
    const internal::FaultInjection hook(
        [](std::string_view call) { return internal::Fault{.error = call == "open" ? ESTALE : 0}; });
    Error why;
    *found = look(*store, 0, &why);
    return why;
  };
  std::string found;
  EXPECT_TRUE(look_while_failing(&found).is_transient()) << "of the index";
  EXPECT_EQ(found, "missing");
  EXPECT_EQ(look(*store, 1), "missing");
  EXPECT_TRUE(look_while_failing(&found).is_transient()) << "of the data";
  EXPECT_EQ(found, "damaged");
  EXPECT_EQ(look(*store, 0), "0");
}

void flip(const std::string& path, size_t at) {
  const int file = ::open(path.c_str(), O_RDWR);
  char byte = 0;
  ASSERT_EQ(pread(file, &byte, 1, static_cast<off_t>(at)), 1);
  byte = static_cast<char>(byte ^ 0x10);
  ASSERT_EQ(pwrite(file, &byte, 1, static_cast<off_t>(at)), 1);
  ::close(file);
}

// Two elements whose files are damaged: they are right, or count as damaged or missing, and can be replaced.
class DamagedCacheTest : public CacheStoreTest {
 protected:
  void fill() const {
    std::filesystem::remove_all(folder_.path());
    const auto store = open();
    for (int64_t i = 0; i < 2; ++i) store->keep(i, element_of(i));
  }
  /// How many are not given.
  int noticed(const std::string& what) const {
    int noticed = 0;
    const auto store = open();
    for (int64_t i = 0; i < 2; ++i) {
      Error why;
      const std::string found = look(*store, i, &why);
      EXPECT_TRUE(found == std::to_string(i) || found == "damaged" || found == "missing") << what << ": " << found;
      if (found == "damaged") {
        EXPECT_EQ(why.kind(), ErrorKind::DataLoss);
        EXPECT_THAT(why.message(), testing::AllOf(HasSubstr("/data-0000, offset "), HasSubstr("is damaged")));
      }
      noticed += found == std::to_string(i) ? 0 : 1;
      store->keep(i, element_of(i));
      EXPECT_EQ(look(*store, i), std::to_string(i)) << what;
    }
    return noticed;
  }
  const std::string cache_ = folder_.file(internal::cache_name("range\n"));
};

TEST_F(DamagedCacheTest, NoFlippedByteIsGivenOut) {
  int all = 0;
  for (size_t at = 0; at < 8000; at += 41) {
    fill();
    flip(cache_ + "/data-0000", at);
    all += noticed(fmt::format("data at {}", at));
  }
  EXPECT_GE(all, 190) << "all but those after the elements";
  for (size_t at = 0; at < 64; ++at) {
    fill();
    flip(cache_ + "/index-0000", at);
    EXPECT_EQ(noticed(fmt::format("index at {}", at)), 1);
  }
  for (size_t at = 0; at < std::filesystem::file_size(cache_ + "/plan"); ++at) flip(cache_ + "/plan", at);
  EXPECT_EQ(info().plan, "");
  noticed("plan");
  EXPECT_EQ(info().plan, "range\n") << "the plan file is written again";
}

TEST_F(DamagedCacheTest, FilesThatAreCutGoneOrForeignCountAsMissing) {
  const std::string other = folder_.file(internal::cache_name("other\n"));
  for (const std::string name : {"data-0000", "index-0000", "plan"}) {
    fill();
    const size_t size = std::min<size_t>(std::filesystem::file_size(cache_ + "/" + name), 8400);
    for (size_t cut = 0; cut < size; cut += 131) {
      fill();
      std::filesystem::resize_file(cache_ + "/" + name, cut);
      noticed(fmt::format("{} cut at {}", name, cut));
    }
    fill();
    std::filesystem::remove(cache_ + "/" + name);
    noticed(name + " removed");
    fill();
    open("other\n")->keep(0, element_of(5));
    std::filesystem::copy_file(other + "/" + name, cache_ + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
    EXPECT_EQ(noticed(name + " of another cache"), name == "plan" ? 0 : 2);
  }
}

}  // namespace
}  // namespace headpond
