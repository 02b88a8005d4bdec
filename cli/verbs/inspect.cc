// SPDX-License-Identifier: Apache-2.0
// headpond inspect: what is in files.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "cli/session.h"
#include "cli/survey/file_survey.h"
#include "cli/verbs/verbs.h"

namespace headpond::cli {
namespace {

struct InspectFlags {
  std::vector<std::string> files;
  std::optional<int64_t> limit;
};

void declare(Flags& flags, InspectFlags& to) {
  flags.words("FILE...", to.files,
              "files, wildcard patterns, name@N for N shards, or - for stdin (docs/checking_files.md)");
  flags.option_from(0, "limit", to.limit, "look only at the first N records of each file, damaged ones included");
}

void say(const Session& session, const FileReport& report) {
  if (report.is_readable) session.say(report_line(report));
  std::string table = feature_table(report);
  if (!table.empty()) table.pop_back();
  if (!table.empty()) session.say(table);
  for (const auto& line : damage_lines(report)) session.say(line);
}

Result<Report> inspect(Session& session, const InspectFlags& flags) {
  check_files_given("inspect", flags.files);
  SurveyOptions options{.with_features = true, .stop = session.stop()};
  if (flags.limit) options.limit = static_cast<uint64_t>(*flags.limit);
  std::vector<FileReport> reports;
  HEADPOND_TRY(survey_files(flags.files, options, {"inspect", session.progress()}, [&](FileReport report) {
    say(session, report);
    reports.push_back(std::move(report));
  }));
  const bool all_readable = std::ranges::all_of(reports, &FileReport::is_readable);
  return Report{.exit_code = all_readable ? kOk : kFailed, .members = [reports = std::move(reports)](JsonWriter& json) {
                  json.key("files").begin_array();
                  for (const FileReport& report : reports) write_report(json, report, true);
                  json.end_array();
                }};
}

}  // namespace

void check_files_given(const std::string& verb, const std::vector<std::string>& files) {
  if (files.empty())
    throw Exception(
        Error(ErrorKind::InvalidArgument, fmt::format("{0} needs at least one FILE; see `headpond {0} --help`", verb)));
}

Verb inspect_verb() {
  const auto flags = std::make_shared<InspectFlags>();
  return {.path = "inspect",
          .what = "show what is in files: format, records, features of Examples, damage",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return inspect(session, *flags); },
          .takes_files = true,
          .has_progress = true};
}

}  // namespace headpond::cli
