// SPDX-License-Identifier: Apache-2.0
// headpond profile: where the time of a pipeline's threads goes.
#include "headpond/engine/verdict/profile.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "cli/session.h"
#include "cli/verbs/take_batches.h"
#include "cli/verbs/verbs.h"

namespace headpond::cli {
namespace {

const std::vector<std::string> kViews = {"op", "scope", "stage"},
                               kOrders = {"time", "self", "cpu", "bytes", "peak", "calls"};

struct ProfileFlags {
  TakeFlags take;
  std::string run, view = "op", order_by = "self";
  ProfileOptions options;
};

void declare(Flags& flags, ProfileFlags& to) {
  declare_take(flags, to.take);
  flags.option("run DIR", to.run, "instead of a pipeline file: profile the run in this folder, ended or not");
  flags.choice("view", to.view, kViews,
               "op: all operators of a name together; scope: each operator, from the sources on; stage: parts that run "
               "as one");
  flags.choice("order-by", to.order_by, kOrders, "sort key, largest first; --view scope keeps the plan's order");
  flags.option("min-ms MS", to.options.min_ms, "leave out rows with less self time");
  flags.option("max-depth N", to.options.max_depth, "with --view scope: show at most N levels of inputs");
  flags.option("show REGEX", to.options.show, "only names with a match");
  flags.option("hide REGEX", to.options.hide, "no names with a match");
}

size_t place_of(const std::vector<std::string>& words, const std::string& word) {
  return static_cast<size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

// Operators of one kind have their titles instead, so that they can be told apart.
std::vector<ProfileRow> told_apart(std::vector<ProfileRow> rows) {
  std::map<std::string, int> uses;
  for (const ProfileRow& row : rows) ++uses[row.name];
  for (ProfileRow& row : rows) {
    if (uses[row.name] > 1 && !row.title.empty()) row.name = row.title;
  }
  return rows;
}

Result<Report> run(Session& session, const ProfileFlags& flags) {
  ProfileOptions options = flags.options;
  options.view = std::array{ProfileView::op, ProfileView::scope, ProfileView::stage}[place_of(kViews, flags.view)];
  options.order_by = static_cast<ProfileOrder>(place_of(kOrders, flags.order_by));
  if (const auto check = profile_of({}, options); !check) throw Exception(check.error());
  const auto taken = taken_or_of_run(session, "profile", flags.take, flags.run, most_waited_for_with_profile);
  if (!taken) return fail(taken.error());
  const LoaderStats& stats = taken->stats;
  if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
  const std::vector<ProfileRow> rows = profile_of(stats, options).value();
  const bool are_all = rows.size() == profile_of(stats, {.view = options.view}).value().size();
  std::string text = to_string(told_apart(rows), are_all);
  text.pop_back();
  session.say((taken->name.empty() ? "" : "the profile of " + taken->name + ":\n") + text);
  return Report{.members = [rows, stats, name = taken->name, view = flags.view](JsonWriter& json) {
    json.member("name", name).member("view", view).key("rows");
    write_profile(json, rows);
    json.member("threads", stats.threads).member("io_threads", stats.io_threads);
    double read = 0;
    for (const StageStats& stage : stats.stages) read += static_cast<double>(stage.totals.read_bytes);
    json.member("read_bytes", read)
        .member("memory_peak_bytes", stats.memory_peak)
        .member("memory_bytes", stats.memory_in_use);
  }};
}

}  // namespace

Verb profile_verb() {
  const auto flags = std::make_shared<ProfileFlags>();
  return {.path = "profile",
          .what = "show where the time of a pipeline's threads goes: by operator, in the plan, by stage",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0",
          .has_progress = true,
          .default_logdir = kNoFolder,
          .writes_none = [flags] { return std::string(flags->run.empty() ? "" : "with --run"); }};
}

}  // namespace headpond::cli
