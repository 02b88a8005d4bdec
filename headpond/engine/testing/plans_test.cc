// SPDX-License-Identifier: Apache-2.0
// Pipelines at random, each run by the engine with options at random, held to their sequential meaning. HEADPOND_PLANS
// sets another number of pipelines, HEADPOND_PLANS_FIRST the first one's number; each follows from its number alone.
// With HEADPOND_PLANS a pipeline is also run with the numbers of threads that an operator of it has not met before.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>

#include "headpond/base/crc32c.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/stages/stage_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kParts = 4;          // Tests, so that they can run side by side.
constexpr uint64_t kFreshRun = 93;      // Its options: other threads than those of the run before it.
constexpr uint64_t kForThreads = 1000;  // From here on: the options of runs with a number of threads that was not met.

uint32_t digest(const Course& course, size_t from) {
  std::string all;
  for (size_t i = from; i < course.outcomes.size(); ++i) all += course.outcomes[i].bytes + course.outcomes[i].state;
  return crc32c(std::as_bytes(std::span(all)));
}

// What this binary does when it is the other process: the plan HEADPOND_FRESH_PLAN from the state in the file
// HEADPOND_FRESH_STATE on, for as many calls as HEADPOND_FRESH_CALLS says; the digest goes to that file's neighbour.
void run_as_fresh_process(const std::string& state_file) {
  const PlanCase plan_case(number_from("HEADPOND_FRESH_PLAN", 0));
  const auto state = test::get_file(state_file);
  const std::string_view saved(reinterpret_cast<const char*>(state.data()), state.size());
  auto loader = Loader::restored(plan_case.plan(), plan_case.options(kFreshRun, int64_t{1} << 20), saved);
  ASSERT_TRUE(loader) << loader.error();
  ASSERT_EQ(loader->state(), saved);
  Course rest;
  for (uint64_t i = 0; i < number_from("HEADPOND_FRESH_CALLS", 0); ++i) rest.outcomes.push_back(outcome_of(*loader));
  std::ofstream(state_file + ".digest") << digest(rest, 0);
}

// The digest of what a new process gives from `state` on.
std::string digest_of_fresh_process(const PlanCase& plan_case, const std::string& state, size_t calls) {
  const test::TempFolder folder;
  const std::string file = folder.file("state");
  test::put_file(file, test::to_bytes(state));
  std::vector<std::string> variables = {fmt::format("HEADPOND_FRESH_PLAN={}", plan_case.number),
                                        fmt::format("HEADPOND_FRESH_CALLS={}", calls), "HEADPOND_FRESH_STATE=" + file};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
  std::string program = "/proc/self/exe", filter = "--gtest_filter=Plans.GoOnInAFreshProcess",
              brief = "--gtest_brief=1";
  std::vector<char*> arguments = {program.data(), filter.data(), brief.data(), nullptr}, environment;
  environment.reserve(variables.size() + 1);
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, (file + ".out").c_str(), O_WRONLY | O_CREAT, 0600);
  pid_t child = 0;
  int status = posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (status == 0) waitpid(child, &status, 0);
  std::ifstream in(file + (status == 0 ? ".digest" : ".out"));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// Bytes of an element, as far as its fields are of fixed size.
int64_t known_size(const Spec& spec) {
  int64_t size = 0;
  for (const FieldSpec& field : spec) {
    if (field.shape.is_full() && field.dtype != DType::bytes) {
      size += *field.shape.size() * static_cast<int64_t>(item_size(field.dtype));
    }
  }
  return size;
}

class PlanRuns {
 public:
  explicit PlanRuns(const PlanCase& plan_case, Watchdog& watchdog)
      : case_(plan_case), watchdog_(watchdog), pace_(RandomKey{plan_case.number}, 4) {
    Sequence sequence(case_.plan(), case_.sequential());
    begin_ = sequence.state();
    course_ = course_of(sequence, kMostOutcomes);
    const Dataset plan = case_.plan();
    course_.largest = std::max({course_.largest, known_size(plan.spec()), element_bytes(*plan.node())});
  }
  bool check(Met& met) {
    return unbroken(next_options(), met) && in_pieces() && sequence_from_any_place() && after_the_end();
  }
  // So that an operator that is seldom in a stage of some kind meets all numbers of threads there, too.
  bool with_threads_not_met(Met& met) {
    const std::vector<Pair> pairs = pairs_of(case_.plan());
    return std::ranges::all_of(kThreads, [&](int threads) {
      if (std::ranges::all_of(pairs, [&](const Pair& pair) { return met[pair].contains(threads); })) return true;
      LoaderOptions options = case_.options(kForThreads + static_cast<uint64_t>(threads), course_.largest);
      options.threads = threads;
      return unbroken(options, met);
    });
  }

 private:
  std::string describe(const char* what, const LoaderOptions& options) const {
    return fmt::format("plan {} {} with {}:\n{}", case_.number, what, to_string(options), case_.plan().plan());
  }
  LoaderOptions next_options() { return case_.options(run_++, course_.largest); }

  bool unbroken(const LoaderOptions& options, Met& met) {
    const std::string what = describe("unbroken", options);
    SCOPED_TRACE(what);
    watchdog_.in(what);
    const Dataset plan = case_.plan();
    for (const Pair& pair : pairs_of(plan)) ++met[pair][options.threads];
    Loader loader(plan, options);
    EXPECT_EQ(loader.state(), begin_);
    return follow(loader, course_, 0, course_.outcomes.size(), pace_) && !testing::Test::HasFailure();
  }

  // Runs that each take the state of the one before, with other options; at some places in another process.
  bool in_pieces() {
    std::string state = begin_;
    size_t from = 0;
    for (size_t shortest = 1; from < course_.outcomes.size(); ++shortest) {
      const size_t left = course_.outcomes.size() - from;
      if (case_.number / 4 % 20 == 7 && shortest == 2 && !in_fresh_process(state, from)) return false;
      const size_t to = from + std::min(left, stop_after(from, shortest));
      if (!piece(state, from, to)) return false;
      if (to == course_.outcomes.size()) return true;
      from = course_.after(to - 1);
    }
    return true;
  }

  // How many calls a piece has: one, up to the last element of the epoch or of all, or any number.
  size_t stop_after(size_t from, size_t shortest) {
    const auto& all = course_.outcomes;
    size_t end_of_epoch = from + 1;
    while (end_of_epoch < all.size() && all[end_of_epoch].epoch == all[from].epoch) ++end_of_epoch;
    switch (pace_.below(5)) {
      case 0:
        return shortest;
      case 1:
        return end_of_epoch - from;
      case 2:
        return std::max(all.size() - 1 - from, shortest);
      default:
        return shortest + pace_.below(all.size() - from);
    }
  }

  bool piece(std::string& state, size_t from, size_t to) {
    const LoaderOptions options = next_options();
    const std::string what = describe(fmt::format("from {} to {}", from, to).c_str(), options);
    SCOPED_TRACE(what);
    watchdog_.in(what);
    auto loader = Loader::restored(case_.plan(), options, state);
    EXPECT_TRUE(loader) << loader.error();
    if (!loader) return false;
    EXPECT_EQ(loader->state(), state) << "saved at once after the restore";
    if (!follow(*loader, course_, from, to, pace_)) return false;
    state = loader->state();
    EXPECT_EQ(loader->state(), state) << "saved twice";
    return !testing::Test::HasFailure();
  }

  bool in_fresh_process(const std::string& state, size_t from) {
    const std::string what = describe("in a fresh process", case_.options(kFreshRun, int64_t{1} << 20));
    SCOPED_TRACE(what);
    watchdog_.in(what);
    EXPECT_EQ(digest_of_fresh_process(case_, state, course_.outcomes.size() - from),
              fmt::format("{}", digest(course_, from)));
    return !testing::Test::HasFailure();
  }

  // A Loader's states are a Sequence's too.
  bool sequence_from_any_place() {
    const size_t i = pace_.below(course_.outcomes.size());
    auto sequence = Sequence::restored(case_.plan(), case_.sequential(), course_.outcomes[i].state);
    EXPECT_TRUE(sequence) << sequence.error();
    if (!sequence) return false;
    for (size_t k = course_.after(i); k < course_.outcomes.size(); ++k) {
      const Outcome got = outcome_of(*sequence);
      EXPECT_TRUE(got.bytes == course_.outcomes[k].bytes && got.state == course_.outcomes[k].state)
          << "plan " << case_.number << ", a Sequence restored after " << i << ", call " << k << ": " << got.text;
      if (testing::Test::HasFailure()) return false;
    }
    return true;
  }

  bool after_the_end() {
    if (!course_.ends()) return true;
    const LoaderOptions options = next_options();
    SCOPED_TRACE(describe("restored at its end", options));
    auto loader = Loader::restored(case_.plan(), options, course_.outcomes.back().state);
    EXPECT_TRUE(loader) << loader.error();
    if (!loader) return false;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(outcome_of(*loader).text, "end");
    EXPECT_EQ(loader->state(), course_.outcomes.back().state);
    return !testing::Test::HasFailure();
  }

  const PlanCase case_;
  Watchdog& watchdog_;
  Random pace_;
  Course course_;
  std::string begin_;
  uint64_t run_ = 0;
};

class PlansInParts : public testing::TestWithParam<uint64_t> {};

TEST_P(PlansInParts, DeliverWhatTheyMean) {
  const uint64_t plans = number_from("HEADPOND_PLANS", test::quick_or(150, 300)),
                 first = number_from("HEADPOND_PLANS_FIRST", 0);
  const bool is_long = std::getenv("HEADPOND_PLANS") != nullptr;
  Watchdog watchdog;
  Met met;
  for (uint64_t i = GetParam(); i < plans; i += kParts) {
    const PlanCase plan_case(first + i);
    watchdog.in(fmt::format("plan {}, sequentially", plan_case.number));
    PlanRuns runs(plan_case, watchdog);
    if (!runs.check(met) || (is_long && !runs.with_threads_not_met(met))) break;
  }
  for (const auto& [what, threads] : met) {
    for (const auto& [count, times] : threads) {
      std::cout << fmt::format("met {}|{}|{}|{}\n", what.first, what.second, count, times);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, PlansInParts, testing::Range<uint64_t>(0, kParts));

TEST(Plans, GoOnInAFreshProcess) {
  if (const char* const state_file = std::getenv("HEADPOND_FRESH_STATE"); state_file != nullptr) {
    return run_as_fresh_process(state_file);
  }
  const PlanCase plan_case(4);
  Sequence sequence(plan_case.plan(), plan_case.sequential());
  const std::string begin = sequence.state();
  const Course course = course_of(sequence, kMostOutcomes);
  const std::string all = fmt::format("{}", digest(course, 0)), rest = fmt::format("{}", digest(course, 1));
  EXPECT_EQ(digest_of_fresh_process(plan_case, begin, course.outcomes.size()), all);
  EXPECT_EQ(digest_of_fresh_process(plan_case, course.outcomes[0].state, course.outcomes.size() - 1), rest);
  EXPECT_NE(digest_of_fresh_process(plan_case, begin, course.outcomes.size() - 1), rest)
      << "control: a run from another place has the same digest";
}

// What the numbers promise: without that the other tests say little.
TEST(Plans, MeetEveryOperatorEndErrorAndEdge) {
  std::map<std::string, int> operators;
  int values = 0, errors = 0, ends = 0, endless = 0, epochs = 0, bytes = 0, ragged = 0;
  for (uint64_t number = 0; number < 2000; ++number) {
    const PlanCase plan_case(number);
    const Dataset plan = plan_case.plan();
    std::string text = plan.plan();
    for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      at = text.find_first_not_of(' ', at);
      ++operators[text.substr(at, text.find('(', at) - at)];
    }
    for (const FieldSpec& field : plan.spec()) {
      bytes += field.dtype == DType::bytes ? 1 : 0;
      ragged += field.shape.is_full() ? 0 : 1;
    }
    Sequence sequence(plan, plan_case.sequential());
    const Course course = course_of(sequence, kMostOutcomes);
    ends += course.ends() ? 1 : 0;
    endless += plan_case.endless ? 1 : 0;
    for (const Outcome& outcome : course.outcomes) {
      values += outcome.kind == Outcome::value ? 1 : 0;
      errors += outcome.kind == Outcome::error ? 1 : 0;
      epochs += outcome.kind == Outcome::value && outcome.epoch > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(operators.size(), 20U) << fmt::format("{}", fmt::join(operators, " "));
  for (const auto& [name, count] : operators) EXPECT_GE(count, 10) << name;
  EXPECT_GT(values, 16000);
  EXPECT_GT(errors, 600);
  EXPECT_GT(epochs, 4000) << "elements of later epochs";
  EXPECT_GT(ends, 400);
  EXPECT_GT(endless, 20);
  EXPECT_GT(bytes, 40);
  EXPECT_GT(ragged, 40);
}

}  // namespace
}  // namespace headpond::internal
