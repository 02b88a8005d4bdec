// SPDX-License-Identifier: Apache-2.0
// headpond stalls: how much of a step is lost to preparing data, and how much to fetching it.
#include "headpond/monitor/stalls/stalls.h"

#include <fmt/core.h>

#include <array>
#include <chrono>
#include <memory>
#include <string_view>

#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/io/file/file.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct StallsFlags {
  std::vector<std::string> files;
  double step_ms = -1;
  int64_t records = 10'000, batches = 50, rounds = 3;
};

void declare(Flags& flags, StallsFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.option_from(0, "step-ms MS", to.step_ms, "how long a step of the training takes, in ms (required)");
  flags.option_from(1, "records", to.records, "how many elements of the file's first step to use (default: 10000)");
  flags.option_from(1, "batches", to.batches, "batches for each of the four ways and each round (default: 50)");
  flags.option_from(1, "rounds", to.rounds, "rounds; in each the ways take turns (default: 3)");
}

// The pipeline of the first elements that its first step gives, kept in memory if `cached`.
plan::PlanFile plan_of(const std::string& text, const std::string& path, int64_t records, bool cached) {
  constexpr std::string_view kStep = "[[step]]";
  const size_t first = text.find(kStep);
  const size_t second = first == std::string::npos ? first : text.find(kStep, first + kStep.size());
  std::string more = fmt::format("[[step]]\nop = \"take\"\nargs = {{ count = {} }}\n", records);
  if (cached) more += "[[step]]\nop = \"cache\"\n";
  std::string made = text;
  second == std::string::npos ? made.append("\n" + more) : made.insert(second, more);
  return plan::parse_plan(made, path);
}

Result<Stalls> measure(Session& session, const StallsFlags& flags) {
  const std::string& path = only_file("stalls", flags.files);
  const auto bytes = read_file(path);
  if (!bytes) return fail(bytes.error());
  const std::string text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
  const auto plan = [&](bool in_memory) { return plan_of(text, path, flags.records, in_memory); };
  const uint64_t seed = session.common().seed_given ? session.common().seed : plan(false).seed.value_or(0);
  session.set_seed(seed);
  const auto step = std::chrono::duration<double, std::milli>(flags.step_ms);
  auto stalls = measure_stalls([&](bool in_memory) { return plan(in_memory).dataset; },
                               {.step = std::chrono::duration_cast<std::chrono::nanoseconds>(step),
                                .batches = flags.batches,
                                .rounds = flags.rounds,
                                .seed = seed,
                                .stop = session.stop()});
  if (stalls || session.stop().stop_requested()) return stalls;
  return fail(stalls.error().kind(), fmt::format("{}: {}", path, with_causes(stalls.error())));
}

struct NamedTime {
  const char *name, *meaning;
  double ms;
};

std::array<NamedTime, 4> times_of(const Stalls& stalls) {
  return {{{"ready", "a batch that is ready", stalls.ready_ms},
           {"memory", "records in memory", stalls.memory_ms},
           {"warm", "warm files", stalls.warm_ms},
           {"cold", "cold files", stalls.cold_ms}}};
}

void tell(const Session& session, const Stalls& stalls) {
  for (const NamedTime& one : times_of(stalls))
    session.say(fmt::format("{:<22} {:9.3f} ms a step", one.meaning, one.ms));
  session.say(
      fmt::format("lost to preparing: {:.1f} % of a step; to fetching: {:.1f} % with warm files, {:.1f} % with "
                  "cold ones; most to gain: {:.2f} times as fast",
                  100 * stalls.preparation, 100 * stalls.fetch_warm, 100 * stalls.fetch_cold, stalls.most_gain));
}

Result<Report> run(Session& session, const StallsFlags& flags) {
  if (flags.step_ms < 0)
    throw Exception(Error(ErrorKind::InvalidArgument, "stalls needs --step-ms MS; see `headpond stalls --help`"));
  const auto stalls = measure(session, flags);
  if (!stalls) return fail(stalls.error());
  tell(session, *stalls);
  return Report{.members = [stalls = *stalls](JsonWriter& json) {
    json.key("step_ms").begin_object();
    for (const NamedTime& one : times_of(stalls)) json.member(one.name, one.ms);
    json.end_object().member("preparation_stall", stalls.preparation).member("fetch_stall_warm", stalls.fetch_warm);
    json.member("fetch_stall_cold", stalls.fetch_cold).member("most_gain", stalls.most_gain);
  }};
}

}  // namespace

Verb stalls_verb() {
  const auto flags = std::make_shared<StallsFlags>();
  return {.path = "stalls",
          .what = "measure how much of a step is lost to preparing data, and how much to fetching it",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0"};
}

}  // namespace headpond::cli
