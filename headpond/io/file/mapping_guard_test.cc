// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "headpond/io/file/mapping_guard_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using headpond::test::put_file;
using headpond::test::TempFolder;

constexpr size_t kPages = 16;
const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));

class Mapping {
 public:
  explicit Mapping(const std::string& path) : path_(path) {
    put_file(path, std::vector<std::byte>(kPages * kPage, std::byte{7}));
    const int fd = open(path.c_str(), O_RDONLY);
    at_ = static_cast<std::byte*>(mmap(nullptr, kPages * kPage, PROT_READ, MAP_SHARED, fd, 0));
    close(fd);
  }
  ~Mapping() { munmap(at_, kPages * kPage); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::span<const std::byte> bytes() const { return {at_, kPages * kPage}; }
  void keep_pages(size_t pages) const { ASSERT_EQ(truncate(path_.c_str(), static_cast<off_t>(pages * kPage)), 0); }

 private:
  std::string path_;
  std::byte* at_;
};

std::byte read_at(const Mapping& mapping, size_t page) {
  return *const_cast<const volatile std::byte*>(mapping.bytes().data() + page * kPage);
}

TEST(MappingGuard, GivesZerosInPlaceOfWhatIsGoneAndSaysSo) {
  const TempFolder folder;
  const Mapping mapping(folder.file("a"));
  const MappingGuard guard(mapping.bytes());
  EXPECT_EQ(read_at(mapping, 9), std::byte{7});
  mapping.keep_pages(4);
  EXPECT_FALSE(guard.lost());
  EXPECT_EQ(read_at(mapping, 3), std::byte{7});
  EXPECT_FALSE(guard.lost());
  EXPECT_EQ(read_at(mapping, 9), std::byte{0});
  EXPECT_TRUE(guard.lost());
  EXPECT_EQ(read_at(mapping, 4), std::byte{0}) << "before the first page that was read";
  EXPECT_EQ(read_at(mapping, kPages - 1), std::byte{0});
  EXPECT_EQ(read_at(mapping, 3), std::byte{7});
}

TEST(MappingGuard, MarksNoOtherMapping) {
  const TempFolder folder;
  const Mapping a(folder.file("a")), b(folder.file("b"));
  std::vector<std::unique_ptr<MappingGuard>> many;
  for (int i = 0; i < 300; ++i) many.push_back(std::make_unique<MappingGuard>(a.bytes()));
  auto guard = std::make_unique<MappingGuard>(b.bytes());
  b.keep_pages(1);
  EXPECT_EQ(read_at(b, 2), std::byte{0});
  EXPECT_TRUE(guard->lost());
  for (const auto& other : many) EXPECT_FALSE(other->lost());
  guard.reset();
  guard = std::make_unique<MappingGuard>(a.bytes());
  EXPECT_FALSE(guard->lost()) << "a place in the table that was used before";
}

// What a thread reads before it asks is never a zero that it takes for the file's.
TEST(MappingGuard, SaysSoToEveryThreadInTime) {
  const TempFolder folder;
  for (int round = 0; round < 20; ++round) {
    const Mapping mapping(folder.file("a"));
    const MappingGuard guard(mapping.bytes());
    std::atomic<int> wrong = 0, ready = 0;
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < 3; ++thread) {
      threads.emplace_back([&, thread] {
        ++ready;
        for (size_t page = thread; !guard.lost(); page = (page + 5) % kPages) {
          const bool is_zero = read_at(mapping, page) == std::byte{0};
          if (is_zero && !guard.lost()) ++wrong;
        }
      });
    }
    while (ready < 3) std::this_thread::yield();
    mapping.keep_pages(0);
    threads.clear();
    EXPECT_EQ(wrong, 0);
  }
}

class ForeignFault : public ::testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void set_handler(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    sigaction(SIGBUS, &action, nullptr);
  }
  // Faults at an address that nobody guards, while another is guarded.
  void fault() {
    const Mapping guarded(folder_.file("a")), other(folder_.file("b"));
    const MappingGuard guard(guarded.bytes());
    other.keep_pages(0);
    (void)read_at(other, 0);
  }
  const TempFolder folder_;
};

using ForeignFaultDeathTest = ForeignFault;

TEST_F(ForeignFaultDeathTest, GoesToTheHandlerThatWasThereBefore) {
  EXPECT_EXIT((set_handler([](int) { _exit(42); }), fault()), ::testing::ExitedWithCode(42), "");
}

TEST_F(ForeignFaultDeathTest, EndsAProgramWithoutAHandler) {
  EXPECT_EXIT((set_handler(SIG_DFL), fault()), ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT((set_handler(SIG_IGN), fault()), ::testing::KilledBySignal(SIGBUS), "");
}

TEST_F(ForeignFaultDeathTest, ASignalThatSomebodySentDoesWhatItDidBefore) {
  const auto send = [&] {
    const Mapping guarded(folder_.file("a"));
    const MappingGuard guard(guarded.bytes());
    kill(getpid(), SIGBUS);
    _exit(7);
  };
  EXPECT_EXIT((set_handler(SIG_DFL), send()), ::testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT((set_handler(SIG_IGN), send()), ::testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace headpond::internal
