// SPDX-License-Identifier: Apache-2.0
// headpond verify: whether files are intact.
#include <fmt/core.h>

#include <memory>

#include "cli/session.h"
#include "cli/survey/file_survey.h"
#include "cli/verbs/verbs.h"

namespace headpond::cli {
namespace {

struct VerifyFlags {
  std::vector<std::string> files;
  bool strict = false;
};

void declare(Flags& flags, VerifyFlags& to) {
  flags.words("FILE...", to.files,
              "files, wildcard patterns, name@N for N shards, or - for stdin (docs/checking_files.md)");
  flags.flag("strict", to.strict,
             "also check the content of Examples, PNG chunks, WAV headers, tar samples and a tar archive's end");
}

void write_members(JsonWriter& json, const std::vector<FileReport>& reports) {
  constexpr size_t kMost = 1000;
  uint64_t count = 0, told = 0;
  json.key("files").begin_array();
  for (const FileReport& report : reports) write_report(json, report, false);
  json.end_array().key("damage").begin_array();
  for (const FileReport& report : reports) {
    count += report.damage_count;
    for (const Damage& damage : report.damage) {
      if (told == kMost) break;
      write_damage(json, damage, report.path);
      ++told;
    }
  }
  json.end_array().member("damage_more", count - told).member("ok", count == 0);
}

bool is_not_there(const FileReport& report) {
  return report.damage_count == 1 && report.damage[0].error.kind() == ErrorKind::NotFound;
}

Result<Report> verify(Session& session, const VerifyFlags& flags) {
  check_files_given("verify", flags.files);
  std::vector<FileReport> reports;
  size_t damaged = 0, missing = 0;
  const auto done = survey_files(flags.files, {.needs_format = true, .strict = flags.strict, .stop = session.stop()},
                                 {"verify", session.progress()}, [&](FileReport report) {
                                   for (const auto& line : damage_lines(report)) session.say(line);
                                   if (report.damage_count == 0) session.say(report_line(report) + ": ok");
                                   const bool is_missing = is_not_there(report);
                                   missing += is_missing ? 1 : 0;
                                   damaged += report.damage_count > 0 && !is_missing ? 1 : 0;
                                   reports.push_back(std::move(report));
                                 });
  HEADPOND_TRY(done);
  if (reports.size() > 1) {
    const std::string also = missing > 0 ? fmt::format(", {} missing", missing) : "";
    session.say(fmt::format("{} of {} files {} damaged{}", damaged, reports.size(), damaged == 1 ? "is" : "are", also));
  }
  return Report{.exit_code = damaged + missing > 0 ? kFailed : kOk,
                .members = [reports = std::move(reports)](JsonWriter& json) { write_members(json, reports); }};
}

}  // namespace

Verb verify_verb() {
  const auto flags = std::make_shared<VerifyFlags>();
  return {.path = "verify",
          .what = "check that files are intact, and name everything that is damaged",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return verify(session, *flags); },
          .takes_files = true,
          .has_progress = true};
}

}  // namespace headpond::cli
