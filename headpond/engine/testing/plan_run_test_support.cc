// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/random_plan_test_internal.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/made_datasets_internal.h"
#include "headpond/engine/testing/plan_run_test_internal.h"

namespace headpond::internal {
namespace {

std::string readable(const std::string& state) {
  std::string text;
  for (const char c : state.substr(0, 60)) text += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return fmt::format("{} bytes {}", state.size(), text);
}

// Batches that the program still uses: what they hold must stay.
class Held {
 public:
  void hold(std::optional<Batch> batch, const std::string& bytes) { batches_.emplace_back(std::move(batch), bytes); }
  bool let_go() {
    if (batches_.empty()) return true;
    const auto [batch, bytes] = std::move(batches_.front());
    batches_.pop_front();
    const bool same = bytes_of(batch->element(), batch->epoch(), batch->index()) == bytes;
    EXPECT_TRUE(same) << "a batch changed while the program held it";
    return same;
  }
  bool let_all_go() {
    bool same = true;
    while (!batches_.empty()) same = let_go() && same;
    return same;
  }
  size_t size() const { return batches_.size(); }

 private:
  std::deque<std::pair<std::optional<Batch>, std::string>> batches_;
};

bool is_expected(const Outcome& got, const Outcome& expected, size_t i) {
  EXPECT_EQ(got.text, expected.text) << "at call " << i;
  if (got.text != expected.text) return false;
  const bool same = got.kind == expected.kind && got.bytes == expected.bytes && got.state == expected.state;
  EXPECT_TRUE(got.kind == expected.kind && got.bytes == expected.bytes)
      << "bytes, names or shapes differ at call " << i << ": " << got.text;
  EXPECT_EQ(readable(got.state), readable(expected.state)) << "the state differs after call " << i << ": " << got.text;
  return same;
}

}  // namespace

Outcome outcome_of(Loader& loader, std::optional<Batch>* held) {
  auto next = loader.next();
  if (at_end(next)) return {.kind = Outcome::end, .bytes = "", .text = "end", .state = loader.state()};
  if (!next) return outcome_of_error(next.error(), loader.state());
  const Batch& batch = *next;
  Outcome outcome = outcome_of_value(batch.element(), batch.epoch(), batch.index(), loader.state());
  if (held != nullptr) *held = std::move(*next);
  return outcome;
}

bool follow(Loader& loader, const Course& course, size_t from, size_t to, Random& pace) {
  Held held;
  for (size_t i = from; i < to; ++i) {
    if (pace.below(16) == 0) std::this_thread::sleep_for(std::chrono::microseconds(pace.below(150)));
    std::optional<Batch> batch;
    const Outcome got = outcome_of(loader, &batch);
    if (batch && pace.below(4) == 0) held.hold(std::move(batch), got.bytes);
    if (!is_expected(got, course.outcomes[i], i)) return false;
    if ((held.size() > 3 || pace.below(4) == 0) && !held.let_go()) return false;
  }
  return held.let_all_go();
}

PlanCase::PlanCase(uint64_t plan_number) : number(plan_number) {
  Random random(RandomKey{number}, 1);
  depth = 1 + static_cast<int>(random.below(8));
  endless = random.below(16) == 0;
  constexpr std::array<int64_t, 4> kEpochs = {2, 2, 3, 1};
  static const int64_t kUsual = MadeElementTime::dear_ns;
  epochs = endless ? 1 : kEpochs[random.below(kEpochs.size())];
  // From here on, in this process: half of the plans run made datasets ahead, however cheap they are.
  MadeElementTime::dear_ns = random.below(2) == 0 ? 0 : kUsual;
}

Dataset PlanCase::plan() const {
  Random random(RandomKey{number}, 2);
  return random_plan(random, depth, {.errors = number % 2 == 1, .pauses = number % 4 < 2, .endless = endless});
}

LoaderOptions PlanCase::options(uint64_t run, int64_t largest) const {
  Random random(RandomKey{number}, 3, run * 16);
  LoaderOptions options{.epochs = epochs, .seed = number};
  options.threads = kThreads[(number + run + random.below(2)) % kThreads.size()];
  options.io_threads = 1 + static_cast<int>(random.below(16));
  const std::array<int64_t, 5> memory = {largest + 1, 4096 + largest * 2, int64_t{64} << 10, int64_t{1} << 20,
                                         int64_t{64} << 20};
  options.memory = memory[random.below(memory.size())];
  constexpr std::array<int64_t, 6> kAhead = {-1, -1, -1, 0, 1, 2};
  options.run_ahead = kAhead[random.below(kAhead.size())];
  options.consumer_helps = random.below(2) == 0;
  return options;
}

std::string to_string(const LoaderOptions& o) {
  return fmt::format("threads {}, io_threads {}, memory {}, run_ahead {}, consumer_helps {}", o.threads, o.io_threads,
                     o.memory.value_or(0), o.run_ahead, o.consumer_helps);
}

Watchdog::Watchdog() : thread_([this] { watch(); }) {}
Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mu_);
    done_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Watchdog::in(std::string what) {
  const std::lock_guard lock(mu_);
  what_ = std::move(what);
  ++progress_;
}

void Watchdog::watch() {
  const std::chrono::seconds patience(number_from("HEADPOND_PATIENCE", 60));
  std::unique_lock lock(mu_);
  while (!done_) {
    const uint64_t seen = progress_;
    if (changed_.wait_for(lock, patience, [this] { return done_; }) || progress_ != seen) continue;
    std::printf("no progress for %lld s in %s\n", static_cast<long long>(patience.count()), what_.c_str());
    std::fflush(stdout);
    std::_Exit(3);
  }
}

std::vector<Pair> pairs_of(const Dataset& plan) {
  std::vector<Pair> pairs;
  for (const headpond::Stage& stage : explain(plan).stages) {
    std::string names = stage.what;
    std::replace(names.begin(), names.end(), ',', '|');
    std::istringstream what(names);
    for (std::string op; std::getline(what, op, '|');) pairs.emplace_back(op, stage.how);
  }
  return pairs;
}

uint64_t number_from(const char* variable, uint64_t otherwise) {
  const char* const given = std::getenv(variable);
  return given == nullptr ? otherwise : static_cast<uint64_t>(std::atoll(given));
}

}  // namespace headpond::internal
