// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/verdict/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <regex>
#include <utility>

namespace headpond {
namespace {

// A stage's time, in seconds.
struct StageTime {
  explicit StageTime(const StageTotals& totals)
      : wall((totals.open.wall_ns + totals.make.wall_ns) * 1e-9),
        cpu((totals.open.cpu_ns + totals.make.cpu_ns) * 1e-9),
        blocked((totals.open.blocked_ns + totals.make.blocked_ns) * 1e-9) {}
  double wall, cpu, blocked;
};

ProfileRow row_of(const StageStats& stage) {
  const StageTime time(stage.totals);
  return {.name = stage.name,
          .stage = stage.name,
          .calls = stage.totals.elements,
          .total_s = time.wall,
          .self_s = time.wall,
          .cpu_s = time.cpu,
          .blocked_s = time.blocked,
          .bytes = static_cast<double>(stage.unit_bytes) * static_cast<double>(stage.totals.takes),
          .read_bytes = static_cast<double>(stage.totals.read_bytes),
          .seen = stage.seen};
}

// From its first operator on. Where none was measured, the stage is one. What it read is its source's, if no sample saw
// the reader.
std::vector<ProfileRow> operators_of(const StageStats& stage) {
  const ProfileRow whole = row_of(stage);
  double all_ns = 0, all_cpu_ns = 0, all_other_ns = 0, all_read = 0;
  for (const OperatorCost& one : stage.operators) {
    all_ns += one.ns;
    all_cpu_ns += one.cpu_ns;
    all_other_ns += one.ns - one.cpu_ns;
    all_read += one.read_bytes;
  }
  if (all_ns <= 0) return {whole};
  std::vector<ProfileRow> rows;
  double before_s = 0;
  for (const OperatorCost& one : stage.operators) {
    ProfileRow row{.name = one.op, .title = one.title, .stage = stage.name, .calls = stage.totals.elements};
    row.self_s = whole.self_s * one.ns / all_ns;
    row.cpu_s = all_cpu_ns > 0 ? whole.cpu_s * one.cpu_ns / all_cpu_ns : 0;
    row.blocked_s = all_other_ns > 0 ? whole.blocked_s * (one.ns - one.cpu_ns) / all_other_ns : 0;
    row.total_s = before_s += row.self_s;
    row.bytes = one.bytes * static_cast<double>(stage.totals.elements);
    const double read_share = all_read > 0 ? one.read_bytes / all_read : rows.empty() ? 1 : 0;
    row.read_bytes = whole.read_bytes * read_share;
    row.seen = one.seen;
    rows.push_back(std::move(row));
  }
  return rows;
}

void add(const ThreadsSeen& seen, ThreadsSeen& to) {
  to.runs += seen.runs;
  to.locked += seen.locked;
  to.reads += seen.reads;
  to.sleeps += seen.sleeps;
  to.talks += seen.talks;
  to.other += seen.other;
  to.unknown += seen.unknown;
}

// All rows of one name as one, in order of their first.
std::vector<ProfileRow> merged(const std::vector<ProfileRow>& rows) {
  std::vector<ProfileRow> all;
  std::map<std::string, size_t> place;
  for (const ProfileRow& row : rows) {
    const auto [found, is_new] = place.try_emplace(row.name, all.size());
    if (is_new) {
      all.push_back(row);
      continue;
    }
    ProfileRow& to = all[found->second];
    to.title.clear();
    to.calls += row.calls;
    to.total_s += row.total_s;
    to.self_s += row.self_s;
    to.cpu_s += row.cpu_s;
    to.blocked_s += row.blocked_s;
    to.bytes += row.bytes;
    to.held_bytes += row.held_bytes;
    to.peak_bytes += row.peak_bytes;
    to.read_bytes += row.read_bytes;
    add(row.seen, to.seen);
  }
  return all;
}

double key_of(const ProfileRow& row, ProfileOrder order) {
  switch (order) {
    case ProfileOrder::time:
      return row.total_s;
    case ProfileOrder::self:
      return row.self_s;
    case ProfileOrder::cpu:
      return row.cpu_s;
    case ProfileOrder::given_bytes:
      return row.bytes;
    case ProfileOrder::peak:
      return static_cast<double>(row.peak_bytes);
    case ProfileOrder::calls:
      return static_cast<double>(row.calls);
  }
  return 0;
}

void add(const OperatorMemory& memory, ProfileRow& row) {
  row.held_bytes += memory.bytes;
  row.peak_bytes += memory.peak;
}

// For each operator in `memory` the index of its row, if it has one. Of several of one name in a stage, the last row is
// that of the last operator.
std::vector<std::optional<size_t>> rows_of(const std::vector<OperatorMemory>& memory,
                                           const std::vector<ProfileRow>& rows) {
  std::vector<std::optional<size_t>> found(memory.size());
  for (size_t r = rows.size(); r-- > 0;) {
    for (size_t i = found.size(); i-- > 0;) {
      if (found[i] || memory[i].stage != rows[r].stage || memory[i].op != rows[r].name) continue;
      found[i] = r;
      break;
    }
  }
  return found;
}

// Each row has the memory of its operator; the only row of a stage has all of the stage's. An operator without a sample
// gets a row if it ever held memory: after the one before it in its stage, or at the end if it runs in none.
void add_memory(const LoaderStats& stats, std::vector<ProfileRow>& rows) {
  const std::vector<std::optional<size_t>> found = rows_of(stats.memory, rows);
  std::vector<std::pair<size_t, ProfileRow>> more;  // A row, and the index of the row after it.
  for (size_t i = 0; i < found.size(); ++i) {
    const OperatorMemory& one = stats.memory[i];
    if (found[i]) {
      add(one, rows[*found[i]]);
      continue;
    }
    const auto first = std::find_if(rows.begin(), rows.end(),
                                    [&](const auto& row) { return !one.stage.empty() && row.stage == one.stage; });
    if (first != rows.end() && first->name == first->stage) {
      add(one, *first);
    } else if (one.peak > 0) {
      auto index = static_cast<size_t>(first - rows.begin());
      for (size_t j = 0; j < i && first != rows.end(); ++j) {
        if (found[j] && stats.memory[j].stage == one.stage) index = std::max(index, *found[j] + 1);
      }
      add(one, more.emplace_back(index, ProfileRow{.name = one.op, .stage = one.stage}).second);
    }
  }
  std::stable_sort(more.begin(), more.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto one = more.rbegin(); one != more.rend(); ++one) {
    rows.insert(rows.begin() + static_cast<std::ptrdiff_t>(one->first), std::move(one->second));
  }
}

std::vector<ProfileRow> all_rows(const LoaderStats& stats, ProfileView view) {
  std::vector<ProfileRow> rows;
  for (auto stage = stats.stages.rbegin(); stage != stats.stages.rend(); ++stage) {
    std::vector<ProfileRow> some = view == ProfileView::stage ? std::vector{row_of(*stage)} : operators_of(*stage);
    rows.insert(rows.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  add_memory(stats, rows);
  double all_s = 0;
  for (const ProfileRow& row : rows) all_s += row.self_s;
  int depth = view == ProfileView::scope ? static_cast<int>(rows.size()) : 0;
  for (ProfileRow& row : rows) row.depth = std::max(--depth, 0);
  if (view == ProfileView::op) rows = merged(rows);
  for (ProfileRow& row : rows) row.share = all_s > 0 ? row.self_s / all_s : 0;
  return rows;
}

std::string in_units(double seconds) {
  return seconds >= 1 ? fmt::format("{:.2f} s", seconds) : fmt::format("{:.2f} ms", 1e3 * seconds);
}

}  // namespace

Result<std::vector<ProfileRow>> profile_of(const LoaderStats& stats, const ProfileOptions& options) {
  std::vector<ProfileRow> rows = all_rows(stats, options.view);
  try {
    const std::regex show(options.show), hide(options.hide);
    std::erase_if(rows, [&](const ProfileRow& row) {
      const bool is_shown = options.show.empty() || std::regex_search(row.name, show);
      const bool is_hidden = !options.hide.empty() && std::regex_search(row.name, hide);
      const bool is_deep =
          options.view == ProfileView::scope && options.max_depth >= 0 && row.depth > options.max_depth;
      return !is_shown || is_hidden || is_deep || row.self_s * 1e3 < options.min_ms;
    });
  } catch (const std::regex_error& error) {
    return fail(ErrorKind::InvalidArgument, fmt::format("no regular expression: {}", error.what()));
  }
  if (options.view != ProfileView::scope) {
    std::stable_sort(rows.begin(), rows.end(), [&](const ProfileRow& a, const ProfileRow& b) {
      return key_of(a, options.order_by) > key_of(b, options.order_by);
    });
  }
  return rows;
}

std::string blocked_in(const ThreadsSeen& seen) {
  const std::array<std::pair<const char*, int64_t>, 5> all = {{{"lock", seen.locked},
                                                               {"file", seen.reads},
                                                               {"sleep", seen.sleeps},
                                                               {"network", seen.talks},
                                                               {"other", seen.other}}};
  int64_t blocked = 0;
  for (const auto& [name, count] : all) blocked += count;
  if (blocked == 0) return "";
  const auto& [name, count] =
      *std::max_element(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return fmt::format("{} {:.0f} % of {}", name, 100 * static_cast<double>(count) / static_cast<double>(blocked),
                     blocked);
}

std::string to_string(const std::vector<ProfileRow>& rows, bool are_all) {
  size_t width = 5;
  for (const ProfileRow& row : rows) width = std::max(width, row.name.size());
  std::string text = fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>11} {:>11} {:>7} {:>12} {:>12} {:>12} {:>12}  {}\n",
                                 "name", width, "calls", "total", "self", "~cpu", "~blocked", "share", "~bytes", "held",
                                 "at peak", "~read", "~blocked in");
  ProfileRow all;
  const auto add_line = [&](const ProfileRow& row) {
    text += fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>11} {:>11} {:>5.1f} % {:>12.0f} {:>12} {:>12} {:>12.0f}{}\n",
                        row.name, width, row.calls, in_units(row.total_s), in_units(row.self_s), in_units(row.cpu_s),
                        in_units(row.blocked_s), 100 * row.share, row.bytes, row.held_bytes, row.peak_bytes,
                        row.read_bytes, blocked_in(row.seen).empty() ? "" : "  " + blocked_in(row.seen));
  };
  for (const ProfileRow& row : rows) {
    add_line(row);
    all.self_s += row.self_s;
    all.cpu_s += row.cpu_s;
    all.blocked_s += row.blocked_s;
    all.share += row.share;
    all.read_bytes += row.read_bytes;
    all.held_bytes += row.held_bytes;
  }
  const bool are_some_left_out = !are_all || (all.share > 0 && all.share < 0.9999);
  text += fmt::format("{:<{}} {:>10} {:>11} {:>11} {:>11} {:>11} {:>5.1f} % {:>12} {:>12} {:>12} {:>12.0f}\n",
                      are_some_left_out ? "these" : "all", width, "", "", in_units(all.self_s), in_units(all.cpu_s),
                      in_units(all.blocked_s), 100 * all.share, "", all.held_bytes, "", all.read_bytes);
  return text;
}

void write_profile(JsonWriter& json, const std::vector<ProfileRow>& rows) {
  json.begin_array();
  for (const ProfileRow& row : rows) {
    json.begin_object()
        .member("name", row.name)

        .member("stage", row.stage)
        .member("depth", row.depth);
    json.member("calls", row.calls).member("total_s", row.total_s).member("self_s", row.self_s);
    json.member("cpu_s", row.cpu_s).member("blocked_s", row.blocked_s).member("share", row.share);
    json.member("bytes", row.bytes).member("held_bytes", row.held_bytes).member("peak_bytes", row.peak_bytes);
    json.member("read_bytes", row.read_bytes).key("seen").begin_object();
    json.member("runs", row.seen.runs).member("locked", row.seen.locked).member("reads", row.seen.reads);
    json.member("sleeps", row.seen.sleeps).member("talks", row.seen.talks).member("other", row.seen.other).end_object();
    json.member("title", row.title).end_object();
  }
  json.end_array();
}

}  // namespace headpond
