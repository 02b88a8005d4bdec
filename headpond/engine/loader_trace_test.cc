// SPDX-License-Identifier: Apache-2.0
// What a trace says of a Loader's run.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/testing/loader_test_internal.h"

namespace headpond::internal {
namespace {

using trace::Event;
using trace::Kind;

// The events of one name, of all threads, while this lived.
class Recording {
 public:
  Recording() { trace::start(); }
  ~Recording() { trace::stop(); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  static std::vector<Event> of(Kind kind, const std::string& name) {
    std::vector<Event> found;
    for (const trace::ThreadEvents& thread : trace::collect()) {
      for (const Event& event : thread.events) {
        if (event.kind == kind && event.name == name) found.push_back(event);
      }
    }
    return found;
  }
};

// kNoArg if it does not say that.
int64_t said(const Event& event, const std::string& name) {
  for (size_t i = 0; event.args.names != nullptr && i < event.args.values.size(); ++i) {
    const char* const own = event.args.names->names[i];
    if (own != nullptr && own == name) return event.args.values[i];
  }
  return trace::kNoArg;
}

TEST(LoaderTrace, TasksSayWhichRowsTheyMake) {
  const Recording recording;
  Loader loader(range(64) | map([](int64_t x) { return x + 1; }) | batch(8), {.epochs = 2, .threads = 1});
  while (loader.next()) {
  }
  std::map<int64_t, int64_t> rows;  // Of each epoch.
  for (const Event& task : Recording::of(Kind::span, "range|map|batch")) {
    const bool are_several = said(task, "last_unit") != trace::kNoArg;
    if (!are_several && said(task, "first") == trace::kNoArg) continue;  // It opens a batch.
    if (are_several) {
      EXPECT_LE(said(task, "count"), 8 * (said(task, "last_unit") - said(task, "unit") + 1));
    } else {
      EXPECT_LE(said(task, "first") + said(task, "count"), 8);
    }
    rows[said(task, "epoch")] += said(task, "count");
  }
  EXPECT_EQ(rows, (std::map<int64_t, int64_t>{{0, 64}, {1, 64}}));
}

// A task asks a stream for several elements, and may get fewer.
TEST(LoaderTrace, TasksOfAStreamSayHowManyCame) {
  const Recording recording;
  const auto make = [](uint64_t) -> Generator {
    return [i = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (i == 7) return std::nullopt;
      if (i == 3) busy_us(2000);  // Longer than a task is to last.
      return Element{Tensor::scalar(i++)};
    };
  };
  Loader loader(from_generator(make, {{"x", DType::i64, {}}}), {.epochs = 3, .threads = 1});
  while (loader.next()) {
  }
  std::map<int64_t, int64_t> elements;  // Of each epoch.
  for (const Event& task : Recording::of(Kind::span, loader.stats().stages.at(0).name)) {
    elements[said(task, "epoch")] += said(task, "count");
  }
  EXPECT_EQ(elements, (std::map<int64_t, int64_t>{{0, 7}, {1, 7}, {2, 7}}));
}

// Padding copies the rows when all are made.
TEST(LoaderTrace, ALongAssemblyIsShown) {
  const auto assemblies = [](int64_t values) {
    const auto make = [values](int64_t x) {
      return Tensor::from(std::vector<int64_t>(static_cast<size_t>(values + x % 2), x), {values + x % 2});
    };
    const Recording recording;
    Loader loader(range(16) | map(make, {.output = {{"", DType::i64, {kUnknown}}}}) | padded_batch(4), {.threads = 1});
    while (loader.next()) {
    }
    return Recording::of(Kind::span, "assemble");
  };
  const std::vector<Event> shown = assemblies(100'000);
  ASSERT_EQ(shown.size(), 4U);
  std::vector<int64_t> batches;
  for (const Event& assembly : shown) batches.push_back(said(assembly, "unit"));
  std::sort(batches.begin(), batches.end());
  EXPECT_EQ(batches, (std::vector<int64_t>{0, 1, 2, 3}));
  for (const Event& assembly : assemblies(1)) EXPECT_GT(assembly.length_ns, trace::internal::kShortTaskNs);
}

TEST(LoaderTrace, LongTasksSayWhichRowsTheyMake) {
  const Recording recording;
  const Step slow = map([](int64_t x) {
    for (const int64_t end = now_ns() + 20'000; now_ns() < end;) {
    }
    return x;
  });
  Loader loader(range(64) | slow | batch(8), {.epochs = 2, .threads = 1});
  while (loader.next()) {
  }
  std::map<std::pair<int64_t, int64_t>, int64_t> rows;  // Of each epoch and batch.
  for (const Event& task : Recording::of(Kind::span, "range|map|batch")) {
    if (said(task, "first") == trace::kNoArg) continue;  // It opens a batch.
    EXPECT_LE(said(task, "first") + said(task, "count"), 8);
    rows[{said(task, "epoch"), said(task, "unit")}] += said(task, "count");
  }
  ASSERT_EQ(rows.size(), 16U);
  for (const auto& [batch, count] : rows) EXPECT_EQ(count, 8) << batch.first << "/" << batch.second;
}

// The trace begins anew, and a program that came to a standstill shows where: no counter changes then.
TEST(LoaderTrace, CountersAreShownWhereTheyChange) {
  const auto shown = [](bool restarts) {
    const Recording recording;
    Loader loader(range(40) | batch(1), {.threads = 0});
    for (int i = 0; i < 40; ++i) {
      if (restarts && i % 10 == 0) trace::start();
      EXPECT_TRUE(loader.next());
    }
    return Recording::of(Kind::counter, "window/range|batch").size();
  };
  EXPECT_GE(shown(true), 1U) << "of the trace that began last";
  EXPECT_LT(shown(false), 20U);
}

// Tasks that make rows, and those of them that show the operator `map`.
std::pair<size_t, size_t> tasks_and_probed() {
  size_t tasks = 0, probed = 0;
  for (const trace::ThreadEvents& thread : trace::collect()) {
    for (const Event& task : thread.events) {
      if (task.kind != Kind::span || said(task, "first") == trace::kNoArg) continue;
      ++tasks;
      const auto lies_within = [&](const Event& event) {
        return std::string(event.name) == "map" && event.start_ns >= task.start_ns &&
               event.start_ns + event.length_ns <= task.start_ns + task.length_ns;
      };
      probed += std::any_of(thread.events.begin(), thread.events.end(), lies_within) ? 1 : 0;
    }
  }
  return {tasks, probed};
}

TEST(LoaderTrace, EachTaskShowsItsOperatorsIfThatIsAsked) {
  const Step compute = map([](int64_t x) {
    for (const int64_t end = now_ns() + 100'000; now_ns() < end;) {
    }
    return x;
  });
  for (const Dataset& dataset : {range(200) | compute | batch(4), range(200) | compute}) {
    for (const bool every : {true, false}) {
      trace::internal::probes_every = every;
      const Recording recording;
      Loader loader(dataset, {.epochs = 2, .threads = 2});
      int64_t sum = 0, elements = 0;
      while (const auto batch = loader.next()) {
        for (const int64_t value : (*batch)[0].as<int64_t>()) {
          sum += value;
          ++elements;
        }
      }
      EXPECT_EQ(elements, 400);
      EXPECT_EQ(sum, 2 * 199 * 100) << "each once";
      const auto [tasks, probed] = tasks_and_probed();
      EXPECT_GE(tasks, 50U);
      if (every) {
        EXPECT_EQ(probed, tasks);
      } else {
        EXPECT_LT(probed, tasks / 2) << "control";
      }
      trace::internal::probes_every = false;
    }
  }
}

TEST(LoaderTrace, ArrowsLeadFromSampledTasksToWhereTheirBatchesAreTaken) {
  const Recording recording;
  const Step compute = map([](int64_t x) {
    for (const int64_t end = now_ns() + 50'000; now_ns() < end;) {
    }
    return x;
  });
  Loader loader(range(256) | compute | batch(8), {.epochs = 2, .threads = 1});
  while (loader.next()) {
  }
  std::map<uint64_t, int64_t> begins, ends;  // When, by their ids.
  for (const Event& begin : Recording::of(Kind::flow_begin, "element")) begins[begin.value] = begin.start_ns;
  const std::vector<Event> takes = Recording::of(Kind::span, "take");
  for (const Event& end : Recording::of(Kind::flow_end, "element")) {
    ends[end.value] = end.start_ns;
    EXPECT_TRUE(std::any_of(takes.begin(), takes.end(), [&](const Event& take) {
      return take.start_ns <= end.start_ns && end.start_ns <= take.start_ns + take.length_ns;
    })) << "an arrow needs a span at its end";
  }
  ASSERT_FALSE(begins.empty());
  EXPECT_LT(begins.size(), 64U) << "only of tasks that are sampled";
  ASSERT_EQ(ends.size(), begins.size());
  for (const auto& [id, began] : begins) {
    ASSERT_TRUE(ends.contains(id));
    EXPECT_LE(began, ends.at(id));
  }
}

TEST(LoaderTrace, WhatHappensIsAnInstant) {
  std::string state;
  {
    const Recording recording;
    Loader loader(range(20) | batch(8), {.epochs = 2, .threads = 1});
    ASSERT_TRUE(loader.next());
    state = loader.state();
    while (loader.next()) {
    }
    loader.close();
  }
  const std::vector<Event> ends = Recording::of(Kind::instant, "epoch end");
  ASSERT_EQ(ends.size(), 2U);
  EXPECT_EQ(said(ends[0], "epoch"), 0);
  EXPECT_EQ(said(ends[0], "batch"), 3);
  EXPECT_EQ(said(ends[1], "epoch"), 1);
  const std::vector<Event> saved = Recording::of(Kind::instant, "checkpoint");
  ASSERT_EQ(saved.size(), 1U);
  EXPECT_EQ(said(saved[0], "batch"), 1) << "the next one";
  EXPECT_EQ(Recording::of(Kind::instant, "stop").size(), 1U);
  EXPECT_TRUE(Recording::of(Kind::instant, "error").empty());
}

TEST(LoaderTrace, AnErrorSaysWhatItIs) {
  const Recording recording;
  Loader loader(range(20) | map([](int64_t x) -> int64_t {
                  if (x == 11) throw Exception(Error(ErrorKind::DataLoss, "eleven is bad"));
                  return x;
                }) | batch(4),
                {.threads = 1});
  EXPECT_EQ(rest(loader).size(), 6U);
  const std::vector<Event> errors = Recording::of(Kind::instant, "error");
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(said(errors[0], "batch"), 2);
  EXPECT_NE(std::string(std::bit_cast<const char*>(said(errors[0], "error"))).find("eleven is bad"), std::string::npos);
}

TEST(LoaderTrace, AWaitSaysForWhichBatch) {
  std::vector<Event> waits;
  EXPECT_TRUE(is_so_in_one_run([&] {  // Where the machine is busy each batch may be ready before it is asked for.
    const Recording recording;
    Loader loader(range(3) | map([](int64_t x) {
                    pause_ms(20);
                    return x;
                  }),
                  {.threads = 1, .run_ahead = 1});
    while (loader.next()) {
    }
    waits = Recording::of(Kind::span, "wait for a batch");
    return !waits.empty();
  }));
  for (const Event& wait : waits) {
    EXPECT_EQ(said(wait, "epoch"), 0);
    EXPECT_GE(said(wait, "batch"), 0);
    EXPECT_LE(said(wait, "batch"), 3);
  }
}

TEST(LoaderTrace, AWaitSaysWhatKindItIs) {
  std::set<std::string> kinds;
  const auto run = [&kinds] {
    const Recording recording;
    Loader loader(range(40) | map([](int64_t x) {
                    pause_ms(2);
                    return x;
                  }),
                  {.epochs = 2, .threads = 1, .run_ahead = 1});
    while (loader.next()) {
    }
    for (const Event& wait : Recording::of(Kind::span, "wait for a batch")) {
      kinds.insert(std::bit_cast<const char*>(said(wait, "kind")));
    }
  };
  // Where the machine is busy the first batch may be ready before it is asked for, so that there is no wait at startup.
  EXPECT_TRUE(is_so_in_one_run([&] {
    run();
    return kinds.contains("startup") && kinds.contains("sustained");
  }));
  for (const std::string& kind : kinds) {
    EXPECT_TRUE(kind == "startup" || kind == "epoch_edge" || kind == "burst" || kind == "sustained") << kind;
  }
}

TEST(LoaderTrace, WhatMemoryRefusesIsSaid) {
  const Step wide = map([](int64_t x) { return Tensor::from(std::vector<int64_t>(10'000, x), {10'000}); },
                        {.output = {{"", DType::i64, {10'000}}}});
  std::vector<Event> refused;
  ASSERT_TRUE(is_so_in_one_run([&] {  // Unless threads get so little of the processors that memory is never short.
    const Recording recording;
    Loader loader(range(40) | wide, {.threads = 2, .memory = 250'000});
    while (loader.next()) pause_ms(5);
    refused = Recording::of(Kind::instant, "memory refused");
    return !refused.empty();
  }));
  EXPECT_STREQ(std::bit_cast<const char*>(said(refused[0], "stage")), "range|map");
  EXPECT_FALSE(Recording::of(Kind::span, "wait for memory").empty());
}

}  // namespace
}  // namespace headpond::internal
