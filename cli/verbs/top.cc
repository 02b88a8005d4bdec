// SPDX-License-Identifier: Apache-2.0
// headpond top: what a run does now, while it lasts.
#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/monitor/run/live_run.h"
#include "headpond/monitor/run/run_record.h"
#include "headpond/monitor/run/verdict_json.h"

namespace headpond::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kLeastQuietS = 5;

struct TopFlags {
  std::vector<std::string> runs;
  bool once = false;
};

void declare(Flags& flags, TopFlags& to) {
  flags.words("DIR|PID", to.runs, "the folder of a run, or the process that writes one");
  flags.flag("once", to.once, "print one moment and end");
}

// The folder whose run.jsonl the process has open.
Result<std::string> folder_of_process(const std::string& pid) {
  std::error_code problem;
  for (fs::directory_iterator file("/proc/" + pid + "/fd", problem), end; !problem && file != end;
       file.increment(problem)) {
    std::error_code unreadable;
    const fs::path target = fs::read_symlink(file->path(), unreadable);
    if (!unreadable && target.filename() == "run.jsonl") return target.parent_path().string();
  }
  return fail(ErrorKind::NotFound, fmt::format("process {} writes no run.jsonl, or cannot be looked at", pid));
}

Result<std::string> folder_of(const TopFlags& flags) {
  if (flags.runs.size() != 1) {
    throw Exception(Error(ErrorKind::InvalidArgument, "top needs one folder of a run, or one process"));
  }
  const std::string& run = flags.runs[0];
  const bool is_number = std::all_of(run.begin(), run.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number && !fs::exists(run) ? folder_of_process(run) : Result<std::string>(run);
}

// Where there are several, one without a name is called so.
std::string pipeline_text(const PipelinePoint& point, bool is_only, const RunRecord& run) {
  const std::string name = !point.name.empty() ? point.name + ": " : is_only ? "" : "(no name): ";
  std::string text = fmt::format("  {}waiting {:.0f} %", name, 100 * point.wait_share);
  if (point.ready >= 0) {
    text +=
        fmt::format(", {:.0f} batches ready, {:.1f} MB", point.ready, static_cast<double>(point.memory_bytes) * 1e-6);
  }
  const auto record = std::find_if(run.pipelines.begin(), run.pipelines.end(),
                                   [&](const PipelineRecord& one) { return one.name == point.name; });
  if (record == run.pipelines.end() || record->verdict.code == ReasonCode::none) return text;
  text += fmt::format(", {}", to_string(record->verdict.code));
  return record->verdict.op.empty() ? text : text + ":" + record->verdict.op;
}

// The largest holders of memory, when that was last looked at.
std::string memory_text(const RunRecord& run) {
  const RunPoint* const looked = last_looked_at(run);
  if (looked == nullptr || looked->memory.empty()) return "";
  constexpr size_t kMost = 6;
  std::vector<MemoryUse> uses = looked->memory;
  std::stable_sort(uses.begin(), uses.end(), [](const MemoryUse& a, const MemoryUse& b) { return a.bytes > b.bytes; });
  uses.resize(std::min(uses.size(), kMost));
  std::string text = fmt::format("\n  {:.1f} MB more than at the start:",
                                 static_cast<double>(looked->pss - run.machine.idle_pss) * 1e-6);
  for (const MemoryUse& use : uses) {
    text +=
        fmt::format("{} {} {:.1f} MB", &use == uses.data() ? "" : ",", use.who, static_cast<double>(use.bytes) * 1e-6);
  }
  return text;
}

// Null if there is none. Of a run that has ended the last one with a pipeline, if any has: programs often stop watching
// before the run's end.
const RunPoint* moment_of(const RunRecord& run) {
  if (run.points.empty()) return nullptr;
  const auto watching = std::find_if(run.points.rbegin(), run.points.rend(),
                                     [](const RunPoint& point) { return !point.pipelines.empty(); });
  return run.is_whole && watching != run.points.rend() ? &*watching : &run.points.back();
}

std::string moment_text(const RunRecord& run) {
  const RunPoint* const moment = moment_of(run);
  if (moment == nullptr) return "nothing was sampled yet";
  const RunPoint& point = *moment;
  std::string text =
      fmt::format("{:.0f} s, step {}: {:.2f} processors, others {:.2f}, {:.1f} MB resident", point.seconds, point.step,
                  point.own_cpus, point.other_cpus, static_cast<double>(point.rss) * 1e-6);
  for (const PipelinePoint& one : point.pipelines) text += "\n" + pipeline_text(one, point.pipelines.size() == 1, run);
  text += memory_text(run);
  for (const QueuePoint& one : point.queues) text += fmt::format("\n  {}: {:.2f}", one.tag, one.value);
  return text;
}

void write_members(JsonWriter& json, const RunRecord& run) {
  json.member("ended", run.is_whole).key("point");
  const RunPoint* const moment = moment_of(run);
  if (moment == nullptr) {
    json.value(nullptr);
  } else {
    const std::string line = line_of(*moment);  // {"point":{...}} and its end.
    constexpr size_t kHead = sizeof(R"({"point":)") - 1, kTail = 2;
    json.raw(std::string_view(line).substr(kHead, line.size() - kHead - kTail));
  }
  const RunPoint* const looked = last_looked_at(run);
  json.member("idle_pss", run.machine.idle_pss).key("memory");
  write_memory(json, looked != nullptr ? looked->memory : std::vector<MemoryUse>());
  json.key("pipelines").begin_array();
  for (const PipelineRecord& one : run.pipelines) {
    json.begin_object().member("name", one.name);
    write_verdict(json, one.verdict);
    json.end_object();
  }
  json.end_array();
}

// A run of another machine may be alive, and write rarely: twice the longest time between its points is too long.
double longest_quiet_s(const RunRecord& run) {
  double longest = run.points.empty() ? kLeastQuietS * 6 : kLeastQuietS, before = 0;
  for (const RunPoint& point : run.points)
    longest = std::max(longest, 2 * (point.seconds - std::exchange(before, point.seconds)));
  return longest;
}

// Its process is gone, or one of another machine, and has written nothing for long.
bool is_killed(const RunRecord& run, const std::string& folder) {
  if (run.is_whole || run.machine.pid <= 0) return false;
  if (::kill(static_cast<pid_t>(run.machine.pid), 0) == 0 || errno != ESRCH) return false;
  std::error_code problem;
  const auto written = fs::last_write_time(folder + "/run.jsonl", problem);
  return !problem && fs::file_time_type::clock::now() - written > std::chrono::duration<double>(longest_quiet_s(run));
}

// What the run writes, each second.
Result<RunRecord> follow_files(Session& session, const TopFlags& flags, const std::string& folder) {
  std::optional<RunRecord> seen;
  std::string said;
  while (true) {
    auto now = read_run(folder);
    if (!now) return fail(now.error());
    const bool is_new = !seen || now->points.size() > seen->points.size();
    seen = std::move(*now);
    std::string text = moment_text(*seen);
    if (is_new && text != said) session.say(text);
    said = std::move(text);
    if (flags.once || seen->is_whole || session.stop().stop_requested()) return std::move(*seen);
    if (is_killed(*seen, folder)) {
      session.say("the run was killed");
      return std::move(*seen);
    }
    for (int i = 0; i < 10 && !session.stop().stop_requested(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }
}

// One that was not read for long is dropped by the run.
std::optional<LiveRun> connect_again(const std::string& folder) {
  auto live = LiveRun::connect(folder);
  return live ? std::optional(std::move(*live)) : std::nullopt;
}

// What the run says. None if it is silent for so long that one moment is better read from its files.
Result<std::optional<RunRecord>> follow(Session& session, const TopFlags& flags, const std::string& folder,
                                        std::optional<LiveRun> live) {
  constexpr std::chrono::milliseconds kTurn{100};
  constexpr int kMostTurns = 30;
  RunRecord seen, before_drop;
  for (int turn = 0; !session.stop().stop_requested(); ++turn) {
    const size_t before = seen.points.size();
    const auto read = live->read(seen, kTurn);
    const bool is_new = seen.points.size() > before;
    if (is_new) session.say(moment_text(seen));
    if (flags.once && is_new) break;
    if (at_end(read) && !seen.is_whole) {
      live = connect_again(folder);
      if (live && seen.machine.pid == 0) return std::nullopt;  // It said nothing: too many listen.
      if (live) {
        before_drop = std::exchange(seen, {});
        continue;
      }
      if (auto written = read_run(folder); written && written->is_whole) return std::move(*written);
      session.say("the run was killed");
    }
    if (at_end(read)) break;
    if (!read) return fail(read.error());
    if (flags.once && turn > kMostTurns) return std::nullopt;
  }
  return seen.points.empty() && !before_drop.points.empty() ? before_drop : seen;
}

Result<RunRecord> watch(Session& session, const TopFlags& flags, const std::string& folder) {
  if (auto live = connect_again(folder)) {
    auto seen = follow(session, flags, folder, std::move(live));
    if (!seen) return fail(seen.error());
    if (*seen) return std::move(**seen);
  }
  return follow_files(session, flags, folder);
}

Result<Report> run(Session& session, const TopFlags& flags) {
  const auto folder = folder_of(flags);
  if (!folder) return fail(folder.error());
  const auto seen = watch(session, flags, *folder);
  if (!seen) return fail(seen.error());
  if (seen->is_whole) session.say("the run has ended");
  return Report{.members = [seen = *seen](JsonWriter& json) { write_members(json, seen); }};
}

}  // namespace

Verb top_verb() {
  const auto flags = std::make_shared<TopFlags>();
  return {.path = "top",
          .what = "show what a run does now, each second, until it ends or is killed",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); }};
}

}  // namespace headpond::cli
