// SPDX-License-Identifier: Apache-2.0
// Runs of random pipelines, each with a cache on disk at a random place, are killed at any moment, and the next process
// goes on from the last state: each element comes once, with the bytes that it has without a cache. By turns a second
// process fills the same cache at the same time. HEADPOND_CYCLES sets another number of kills; a pipeline is named by
// its number, from which it follows.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <thread>

#include "headpond/base/random.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/ops.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"
#include "headpond/engine/loader.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

constexpr uint64_t kSeed = 5;
constexpr int kEpochs = 3;
constexpr size_t kFewest = 30, kMost = 600;  // Elements of a run.

// What a killed process leaves to the next one: states alternate, so that one is always whole.
struct Shared {
  struct Slot {
    char bytes[65536];
    size_t size;
    size_t elements;
  };
  Slot slots[2];
  std::atomic<int64_t> saved;  // How often; slot saved % 2 is the last one.
  std::atomic<int64_t> wrong, made;
};

// Counts the elements that are made below a cache.
class Counted final : public Pointwise {
 public:
  Counted(const Ref& input, Shared& shared)
      : Pointwise(facts_over(input, "counted", "", input->spec())), shared_(shared) {}
  Got apply(Element& in, RandomKey, Context&, OutputSlots, Element& out) const override {
    ++shared_.made;
    out = std::move(in);
    return Got::value;
  }

 private:
  Shared& shared_;
};

// The same pipeline for each number, with a cache in `folder`, or in memory if that is "".
Dataset plan_of(uint64_t number, const std::string& folder, Shared& shared) {
  Random random(RandomKey{17}, number);
  const auto depth = 1 + static_cast<int>(random.below(6));
  internal::PlanChoice choice;
  choice.hint_after = static_cast<int>(random.below(static_cast<uint64_t>(depth)));
  choice.hint = [&](const Dataset& input) {
    const Dataset counted(std::make_shared<Counted>(input.node(), shared));
    return folder.empty() ? counted | cache() : counted | cache(folder);
  };
  return internal::random_plan(random, depth, choice);
}

size_t digest(const Element& element) { return std::hash<std::string>()(internal::text_of(element)); }

// A pipeline, and what its runs give.
struct Course {
  Dataset plan;
  std::vector<size_t> expected;
};

// nullopt: it gives too few elements or too many, or fails, or cannot be kept on disk.
std::optional<Course> course_of(uint64_t number, const std::string& folder, Shared& shared) try {
  Course course{.plan = plan_of(number, folder, shared), .expected = {}};
  Sequence sequence(plan_of(number, "", shared), {.seed = kSeed, .epochs = kEpochs});
  auto next = sequence.next();
  for (; next && course.expected.size() <= kMost; next = sequence.next()) {
    course.expected.push_back(digest(*next));
    if (sequence.state().size() > sizeof(Shared::Slot::bytes)) return std::nullopt;
  }
  if (!at_end(next) || course.expected.size() < kFewest) return std::nullopt;
  return course;
} catch (const Exception&) {
  return std::nullopt;
}

[[noreturn]] void run(const Course& course, Shared& shared) {
  const LoaderOptions options = {.epochs = kEpochs, .seed = kSeed, .threads = 1};
  const Shared::Slot& last = shared.slots[shared.saved % 2];
  auto loader = shared.saved == 0 ? Result<Loader>(Loader(course.plan, options))
                                  : Loader::restored(course.plan, options, std::string_view(last.bytes, last.size));
  if (!loader) _exit(3);
  for (size_t i = shared.saved == 0 ? 0 : last.elements; i < course.expected.size(); ++i) {
    const auto next = loader->next();
    if (!next || digest(next->element()) != course.expected[i]) {
      ++shared.wrong;
      _exit(4);
    }
    const std::string state = loader->state();
    Shared::Slot& slot = shared.slots[(shared.saved + 1) % 2];
    if (state.size() > sizeof(slot.bytes)) _exit(5);
    std::memcpy(slot.bytes, state.data(), state.size());
    slot.size = state.size();
    slot.elements = i + 1;
    ++shared.saved;
  }
  _exit(0);
}

[[noreturn]] void fill_beside(const Course& course) {
  Loader loader(course.plan, {.seed = kSeed, .threads = 0});
  while (loader.next()) {
  }
  _exit(0);
}

// Starts the run, and perhaps a second process, and kills both. The run's exit code; -1: it was killed.
int run_and_kill(const Course& course, bool kills, Shared& shared, Random& random) {
  const bool two = random.below(4) == 0;
  const pid_t other = two ? fork() : -1;
  if (other == 0) fill_beside(course);
  const int64_t from = shared.made + shared.saved;
  const pid_t child = fork();
  if (child == 0) run(course, shared);
  // After some progress, whatever the machine's speed, and then at any moment.
  const auto drawn = static_cast<int64_t>(random.below(course.expected.size() / 2));
  const int64_t progress = kills ? drawn : INT64_MAX;
  int status = 0;
  pid_t ended = 0;
  while (ended == 0 && shared.made + shared.saved - from < progress) {
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    ended = waitpid(child, &status, WNOHANG);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  if (two) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

void make_empty(const std::string& folder) {
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
}

// The operators of pipelines whose runs came to the end.
void add_operators(const Node& node, std::set<std::string>& ops) {
  ops.insert(node.facts().op);
  for (const Node::Ref& input : node.facts().inputs) add_operators(*input, ops);
}

struct Totals {
  int64_t killed = 0, ended = 0;
  std::set<std::string> ops;
};

// Kills runs of one pipeline until one comes to the end, and by turns once more with the cache that it left.
void run_course(const Course& course, int64_t cycles, Shared& shared, Random& random, Totals& totals) {
  shared.saved = 0;
  int64_t in_a_row = 0;  // Killed. A twelfth of all cycles is enough, so that other pipelines have their turn.
  for (bool again = random.below(2) == 0; totals.killed + totals.ended < cycles;) {
    const int code = run_and_kill(course, in_a_row < cycles / 12, shared, random);
    in_a_row = code == -1 ? in_a_row + 1 : 0;
    ASSERT_TRUE(code == -1 || code == 0) << "exits with " << code << " after " << shared.saved << " elements";
    ++(code == -1 ? totals.killed : totals.ended);
    if (code == -1) continue;
    add_operators(*course.plan.node(), totals.ops);
    if (!std::exchange(again, false)) return;
    shared.saved = 0;
  }
}

// Memory that processes share which this one starts.
struct SharedMemory {
  ~SharedMemory() { munmap(at, sizeof(Shared)); }
  void* const at = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
};

TEST(CacheKill, ControlARunThatGivesAnotherElementIsFoundOut) {
  const SharedMemory memory;
  ASSERT_NE(memory.at, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory.at);
  const test::TempFolder folder;
  std::optional<Course> course;
  for (uint64_t number = 0; !course; ++number) course = course_of(number, folder.file("cache"), shared);
  for (const int wrong : {0, 1}) {
    course->expected.back() ^= static_cast<size_t>(wrong);
    shared.saved = 0;
    const pid_t child = fork();
    if (child == 0) run(*course, shared);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), wrong == 1 ? 4 : 0);
    EXPECT_EQ(shared.wrong, wrong);
  }
}

TEST(CacheKill, ARunGoesOnAfterAnyKill) {
  const char* const given = std::getenv("HEADPOND_CYCLES");
  const int64_t cycles = given != nullptr ? std::atoll(given) : 60;
  const SharedMemory memory;
  ASSERT_NE(memory.at, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory.at);
  const test::TempFolder folder;
  Random random(RandomKey{17}, 1);
  Totals totals;
  int64_t courses = 0;
  for (uint64_t number = 0; totals.killed + totals.ended < cycles; ++number) {
    make_empty(folder.file("cache"));
    const auto course = course_of(number, folder.file("cache"), shared);
    if (!course) continue;
    ++courses;
    run_course(*course, cycles, shared, random, totals);
    ASSERT_FALSE(HasFailure()) << "pipeline " << number << ":\n" << course->plan.plan();
  }
  EXPECT_EQ(shared.wrong, 0);
  EXPECT_GT(totals.killed, cycles / 2);
  EXPECT_GT(totals.ended, cycles / 60) << "runs that were killed on the way came to the end";
  EXPECT_GT(courses, cycles / 60);
  EXPECT_GT(totals.ops.size(), 10U);
  std::cout << cycles << " cycles of " << courses << " pipelines with " << totals.ops.size()
            << " operators: " << totals.killed << " killed, " << totals.ended << " came to the end, " << shared.made
            << " elements made\n";
}

}  // namespace
}  // namespace headpond
