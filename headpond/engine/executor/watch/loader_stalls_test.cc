// SPDX-License-Identifier: Apache-2.0
// What the log says of a function that does not return while the program waits.
#include <pthread.h>

#include <mutex>
#include <thread>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/host_stack.h"
#include "headpond/base/log.h"
#include "headpond/base/thread.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr double kBound = 5;  // Seconds.

// The lines of the log while it lives, and when each came.
class Lines {
 public:
  Lines() {
    set_log_sink([this](LogLevel level, std::string_view line) {
      const std::lock_guard lock(mu_);
      if (level == LogLevel::warning) all_.emplace_back(now_ns(), line);
    });
  }
  ~Lines() { set_log_sink({}); }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  std::vector<std::string> all() const {
    const std::lock_guard lock(mu_);
    std::vector<std::string> lines;
    for (const auto& one : all_) lines.push_back(one.second);
    return lines;
  }
  double seconds_from(int64_t ns) const {
    const std::lock_guard lock(mu_);
    return all_.empty() ? 1e9 : 1e-9 * static_cast<double>(all_.front().first - ns);
  }

 private:
  mutable std::mutex mu_;
  std::vector<std::pair<int64_t, std::string>> all_;
};

// A function that stays at element 30 until it is let go.
struct Stuck {
  std::atomic<int64_t> since = 0;
  std::atomic<bool> is_let_go = false;
  int64_t operator()(int64_t x) {
    if (x == 30) {
      since = now_ns();
      is_let_go.wait(false);
    }
    return x;
  }
  void let_go() {
    is_let_go = true;
    is_let_go.notify_all();
  }
};

Dataset stuck_at_30(const std::shared_ptr<Stuck>& stuck) {
  return range(100) | map([stuck](int64_t x) { return (*stuck)(x); }, {.name = "stuck"}) | batch(10);
}

struct RunLines {
  std::vector<std::string> all;
  double seconds = 0;  // Until the first one.
};

// Takes all, in a thread of its own, while this one waits for so many lines, or for `ms`.
RunLines lines_of_a_run(Loader& loader, const std::shared_ptr<Stuck>& stuck, size_t count, int64_t ms) {
  const Lines lines;
  std::thread program([&] { EXPECT_EQ(rest_of(loader).size(), 10U); });
  EXPECT_TRUE(becomes_true([&] { return stuck->since != 0; }));
  (void)becomes_true([&] { return count > 0 && lines.all().size() >= count; }, ms);
  stuck->let_go();
  program.join();
  return {lines.all(), lines.seconds_from(stuck->since)};
}

const auto kSaysWhere = AllOf(HasSubstr(": range|map|batch does not return: range("), HasSubstr(", at map(stuck, "),
                              HasSubstr("position"), HasSubstr("; it waits for a lock or another thread (thread "));

TEST(LoaderStalls, AFunctionOfAThreadIsNamedWithinFiveSeconds) {
  EXPECT_TRUE(is_so_in_one_run([] {
    const auto stuck = std::make_shared<Stuck>();
    Loader loader(stuck_at_30(stuck), {.threads = 2, .consumer_helps = false});
    const RunLines lines = lines_of_a_run(loader, stuck, 1, 20'000);
    EXPECT_THAT(lines.all, ElementsAre(AllOf(StartsWith("Loader: the program has waited for "),
                                             HasSubstr(" s: thread headpond/"), kSaysWhere)));
    return lines.seconds < kBound;
  }));
}

// The program helps with what is cheap: with rows that nobody has measured yet.
RunLines lines_of_the_programs_thread() {
  const auto stuck = std::make_shared<Stuck>();
  const auto in_program = [program = std::this_thread::get_id(), stuck](int64_t x) {
    if (std::this_thread::get_id() == program && stuck->since == 0) (*stuck)(30);
    return x;
  };
  const Lines lines;
  Loader loader(range(100'000) | map(in_program, {.name = "stuck"}) | batch(10), {.threads = 2});
  std::thread releases([&] {
    EXPECT_TRUE(becomes_true([&] { return !lines.all().empty(); }, 20'000));
    stuck->let_go();
  });
  while (loader.next()) {
  }
  releases.join();
  return {lines.all(), lines.seconds_from(stuck->since)};
}

TEST(LoaderStalls, AFunctionThatKeepsTheProgramsThreadIsNamedByOneThatIsFree) {
  EXPECT_TRUE(is_so_in_one_run([] {
    const RunLines lines = lines_of_the_programs_thread();
    EXPECT_THAT(lines.all, ElementsAre(AllOf(HasSubstr("the program's thread, in next(): "), kSaysWhere)));
    return lines.seconds < kBound;
  }));
}

TEST(LoaderStalls, ElementsOfStreamsAreNamed) {
  const auto stuck = std::make_shared<Stuck>();
  const auto hold = [stuck](const Tensor& x) { return (*stuck)(x.item<int64_t>()); };
  Loader loader(generated(100) | map(hold, {.output = {{"", i64, {}}}, .name = "stuck", .blocking = true}) | batch(10),
                {.threads = 2});
  EXPECT_THAT(
      lines_of_a_run(loader, stuck, 1, 20'000).all,
      ElementsAre(AllOf(HasSubstr("thread headpond/io"), HasSubstr(", at map(stuck, version=0), generated, record "
                                                                   "30; it waits for a lock"))));
}

TEST(LoaderStalls, TheHostSaysWhereTheThreadIs) {
  std::atomic<uint64_t> asked = 0, own = 0;
  set_host_stack([&](uint64_t thread, const std::string& name) {
    asked = thread;
    log(LogLevel::warning, name + " is in main()");
  });
  const auto stuck = std::make_shared<Stuck>();
  const auto noting = [&own, stuck](int64_t x) {
    if (x == 30) own = static_cast<uint64_t>(pthread_self());
    return (*stuck)(x);
  };
  Loader loader(range(100) | map(noting, {.name = "stuck"}) | batch(10), {.threads = 2, .consumer_helps = false});
  const auto lines = lines_of_a_run(loader, stuck, 2, 20'000).all;
  set_host_stack({});
  EXPECT_THAT(lines, ElementsAre(kSaysWhere, testing::MatchesRegex("thread headpond/[01] is in main\\(\\)")));
  EXPECT_EQ(asked, own);
}

TEST(LoaderStalls, NothingIsSaidOfWhatReturnsOrOfAProgramThatDoesNotWait) {
  const auto stuck = std::make_shared<Stuck>();
  Loader loader(stuck_at_30(stuck), {.threads = 2, .consumer_helps = false});
  EXPECT_THAT(lines_of_a_run(loader, stuck, 0, 500).all, IsEmpty()) << "it goes on before";
  const auto other = std::make_shared<Stuck>();
  Loader idle(stuck_at_30(other), {.threads = 2, .consumer_helps = false});
  const Lines lines;
  ASSERT_TRUE(idle.next());
  EXPECT_TRUE(becomes_true([&] { return other->since != 0; }));
  pause_ms(4500);
  EXPECT_THAT(lines.all(), IsEmpty());
  other->let_go();
}

}  // namespace
}  // namespace headpond::internal
