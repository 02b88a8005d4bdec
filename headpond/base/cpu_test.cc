// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "headpond/base/cpu_internal.h"
#include "headpond/base/normal.h"

namespace headpond {
namespace {

using cpu_internal::cgroup_quota;
using cpu_internal::parse_smaps_rollup;
using cpu_internal::parse_stat;

/// A folder that looks like a mounted control group tree.
class Groups {
 public:
  Groups() {
    std::string name = (std::filesystem::temp_directory_path() / "headpond_groups_XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Groups() { std::filesystem::remove_all(root_); }
  Groups(const Groups&) = delete;
  Groups& operator=(const Groups&) = delete;

  void limit(const std::string& group, const std::string& cpu_max) const {
    std::filesystem::create_directories(root_ / group);
    std::ofstream(root_ / group / "cpu.max") << cpu_max << "\n";
  }
  void limit_v1(const std::string& group, const std::string& quota, const std::string& period) const {
    std::filesystem::create_directories(root_ / "cpu" / group);
    std::ofstream(root_ / "cpu" / group / "cpu.cfs_quota_us") << quota << "\n";
    std::ofstream(root_ / "cpu" / group / "cpu.cfs_period_us") << period << "\n";
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  std::optional<uint64_t> memory(const std::string& proc_self_cgroup) const {
    return cpu_internal::cgroup_memory(root_, proc_self_cgroup);
  }
  // Of a process in the groups that this file names.
  uint64_t usable_memory(const std::string& file) const {
    const auto mount = std::exchange(cpu_internal::cgroup_mount(), root_);
    const auto own = std::exchange(cpu_internal::proc_self_cgroup(), root_ / file);
    const uint64_t bytes = headpond::usable_memory();
    cpu_internal::cgroup_mount() = mount;
    cpu_internal::proc_self_cgroup() = own;
    return bytes;
  }
  double throttled_s(const std::string& proc_self_cgroup) const {
    return cpu_internal::cgroup_throttled_s(root_, proc_self_cgroup);
  }
  std::optional<double> quota(const std::string& group, const std::string& others = "") const {
    return cgroup_quota(root_, others + "0::/" + group + "\n");
  }

 private:
  std::filesystem::path root_;
};

TEST(CgroupQuota, IsTheSmallestOnTheWayUp) {
  const Groups groups;
  groups.limit("", "800000 100000");
  groups.limit("a", "150000 100000");
  groups.limit("a/b", "max 100000");
  groups.limit("a/b/c", "300000 100000");
  groups.limit("other", "10000 100000");
  EXPECT_EQ(groups.quota("a/b/c"), 1.5);
  EXPECT_EQ(groups.quota("a"), 1.5);
  EXPECT_EQ(groups.quota(""), 8.0);
}

TEST(CgroupQuota, IsNothingWithoutALimitAGroupOrAFile) {
  const Groups groups;
  groups.limit("a", "max 100000");
  EXPECT_EQ(groups.quota("a"), std::nullopt);
  EXPECT_EQ(groups.quota("missing/group"), std::nullopt);
  EXPECT_EQ(cgroup_quota("/nowhere", ""), std::nullopt);
  groups.limit("bad", "lots of it");
  EXPECT_EQ(groups.quota("bad"), std::nullopt);
}

TEST(CgroupQuota, ReadsBothVersionsOfControlGroups) {
  const Groups groups;
  groups.limit("a", "150000 100000");
  groups.limit_v1("old", "50000", "100000");
  groups.limit_v1("free", "-1", "100000");
  groups.limit_v1("other", "10000", "100000");
  EXPECT_EQ(groups.quota("a", "4:cpu,cpuacct:/old/inner\n1:name=systemd:/other\n"), 0.5);
  EXPECT_EQ(groups.quota("", "4:cpuacct,cpu:/old\n"), 0.5);
  EXPECT_EQ(groups.quota("a", "4:cpu:/free\n2:cpuset:/old\n1:cpuacct:/other\n"), 1.5);
}

TEST(CgroupMemory, IsTheSmallestOnTheWayUpInBothVersions) {
  const Groups groups;
  groups.write("a/memory.max", "3000\n");
  groups.write("a/b/memory.max", "max\n");
  groups.write("a/b/c/memory.max", "5000\n");
  groups.write("memory/old/memory.limit_in_bytes", "2000\n");
  groups.write("cpu/old/memory.limit_in_bytes", "10\n");
  EXPECT_EQ(groups.memory("0::/a/b/c\n"), 3000U);
  EXPECT_EQ(groups.memory("5:memory:/old/inner\n4:cpu:/old\n0::/a\n"), 2000U);
  EXPECT_EQ(groups.memory("0::/none\n"), std::nullopt);
}

TEST(UsableMemory, IsTheMachinesOrTheGroupsIfLower) {
  const Groups groups;
  groups.write("a/memory.max", "3000\n");
  groups.write("b/memory.max", "9000000000000000000\n");
  groups.write("group_a", "0::/a\n");
  groups.write("group_b", "0::/b\n");
  EXPECT_EQ(groups.usable_memory("group_a"), 3000U);
  EXPECT_GT(groups.usable_memory("group_b"), 1U << 26);
  EXPECT_LT(groups.usable_memory("group_b"), uint64_t{1} << 50);
}

TEST(CgroupThrottled, IsTheMostOfAGroupAndThoseAroundIt) {
  const Groups groups;
  groups.write("a/cpu.stat", "usage_usec 7\nthrottled_usec 1500000\n");
  groups.write("a/b/cpu.stat", "throttled_usec 500000\n");
  groups.write("cpu/old/cpu.stat", "nr_throttled 3\nthrottled_time 2000000000\n");
  EXPECT_DOUBLE_EQ(groups.throttled_s("0::/a/b\n"), 1.5);
  EXPECT_DOUBLE_EQ(groups.throttled_s("4:cpu:/old\n"), 2);
  EXPECT_EQ(groups.throttled_s("0::/none\n"), 0);
}

TEST(ProcStat, AddsWorkAndLeavesOutIdleAndGuests) {
  const CpuSample sample = parse_stat("cpu  100 20 30 4000 500 6 7 80 90 9\ncpu0 1 2 3\n", 100);
  EXPECT_DOUBLE_EQ(sample.all_s, 1.63);
  EXPECT_DOUBLE_EQ(sample.stolen_s, 0.8);
  EXPECT_EQ(parse_stat("cpu 1 2", 100).all_s, 0);
  EXPECT_EQ(parse_stat("", 100).all_s, 0);
}

TEST(ProcStat, GivesTheProcessorsThatAreNamed) {
  const std::string text =
      "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 0 0 0 0 0 0 10 0 0\ncpu1 200 0 0 0 0 0 0 20 0 0\ncpu10 400 0 0 0 0 0 0 0 0 "
      "0\n"
      "intr 5\n";
  EXPECT_DOUBLE_EQ(parse_stat(text, 100, std::array{0, 10}).all_s, 5);
  EXPECT_DOUBLE_EQ(parse_stat(text, 100, std::array{1}).all_s, 2);
  EXPECT_DOUBLE_EQ(parse_stat(text, 100, std::array{1}).stolen_s, 0.2);
  EXPECT_EQ(parse_stat(text, 100, std::array{7}).all_s, 0);
}

TEST(SmapsRollup, GivesBytes) {
  const MemoryInfo info = parse_smaps_rollup(
      "55d0-7ffe ---p 00000000 00:00 0    [rollup]\nRss:      1234 kB\nPss:       567 kB\nPss_Anon:  99 kB\nPss_File: "
      "468 kB\n");
  EXPECT_EQ(info.rss, 1234U * 1024);
  EXPECT_EQ(info.pss, 567U * 1024);
  EXPECT_EQ(info.pss_file, 468U * 1024);
  EXPECT_EQ(parse_smaps_rollup("").rss, 0U);
}

TEST(OtherCores, IsWhatAllUsedLessWhatThisProcessUsed) {
  const CpuSample from{.wall_ns = 0, .all_s = 10, .stolen_s = 0, .own_s = 1};
  const CpuSample to{.wall_ns = 2'000'000'000, .all_s = 13, .stolen_s = 0, .own_s = 3};
  EXPECT_DOUBLE_EQ(other_cores(from, to), 0.5);
  const CpuSample rounded{.wall_ns = 2'000'000'000, .all_s = 11.99, .stolen_s = 0, .own_s = 3};
  EXPECT_EQ(other_cores(from, rounded), 0);
}

TEST(SampleCpu, ClocksGoForwardAndCountOwnWork) {
  const CpuSample before = sample_cpu();
  const clock_t until = clock() + CLOCKS_PER_SEC / 20;
  while (clock() < until) {
  }
  const CpuSample after = sample_cpu();
  EXPECT_GT(before.all_s, 0);
  EXPECT_GE(after.all_s, before.all_s);
  EXPECT_GT(after.wall_ns, before.wall_ns);
  EXPECT_GE(after.own_s - before.own_s, 0.045);
  EXPECT_GE(other_cores(before, after), 0);
}

TEST(AllowedCpus, FollowPinningAndStartedThreadsInherit) {
  const std::vector<int> all = allowed_cpus();
  ASSERT_FALSE(all.empty());
  EXPECT_GE(cpu_count(), 1);
  EXPECT_LE(cpu_count(), static_cast<int>(all.size()));
  std::thread([&] {
    const std::array<int, 1> one{all.back()};
    EXPECT_TRUE(pin_this_thread(one));
    EXPECT_THAT(allowed_cpus(), testing::ElementsAre(all.back()));
    EXPECT_EQ(cpu_count(), 1);
    std::thread([&] { EXPECT_THAT(allowed_cpus(), testing::ElementsAre(all.back())); }).join();
  }).join();
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(PinThisThread, RefusesWhatIsNotThereAndChangesNothing) {
  const std::vector<int> all = allowed_cpus();
  EXPECT_FALSE(pin_this_thread({}));
  EXPECT_FALSE(pin_this_thread(std::array<int, 1>{-1}));
  EXPECT_FALSE(pin_this_thread(std::array<int, 1>{1 << 19}));
  EXPECT_FALSE(pin_this_thread(std::array<int, 1>{1 << 30}));
  EXPECT_EQ(allowed_cpus(), all);
}

TEST(MemoryInfo, SeesAPageThatIsTouched) {
  if (!std::ifstream("/proc/self/smaps_rollup").good()) GTEST_SKIP() << "/proc/self/smaps_rollup is not readable";
  const MemoryInfo before = memory_info();
  EXPECT_GT(before.rss, 0U);
  const std::vector<char> block(64 << 20, 'x');
  const MemoryInfo after = memory_info();
  EXPECT_GE(after.rss, before.rss + (60U << 20));
  EXPECT_GE(after.pss, before.pss + (60U << 20));
  EXPECT_EQ(block.back(), 'x');
}

TEST(SimdTarget, IsTheOneThatTheNormalsUse) {
  const auto targets = normal_targets();
  EXPECT_EQ(simd_target(), targets.empty() ? "scalar" : targets.front());
}

}  // namespace
}  // namespace headpond
