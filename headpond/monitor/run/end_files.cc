// SPDX-License-Identifier: Apache-2.0
#include <span>
#include <utility>

#include "headpond/base/json.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/io/file/file.h"
#include "headpond/monitor/run/end_files_internal.h"
#include "headpond/monitor/run/run_report.h"
#include "headpond/monitor/run/verdict_json.h"

namespace headpond::internal {
namespace {

Result<void> write_text_file(const std::string& path, const std::string& text) {
  return write_file_atomically(path, {std::as_bytes(std::span(text))});
}

}  // namespace

Result<void> write_verdicts(const std::string& folder, const std::vector<PipelineRecord>& all) {
  const PipelineRecord* const most = most_waited_for(all);
  JsonWriter json(JsonNonFinite::AsNull);
  json.begin_object().member("schema", "headpond.verdict/1").member("name", most != nullptr ? most->name : "");
  write_verdict(json, most != nullptr ? most->verdict : Verdict());
  json.key("pipelines").begin_array();
  for (const PipelineRecord& one : all) {
    json.begin_object().member("name", one.name);
    write_verdict(json, one.verdict);
    json.end_object();
  }
  json.end_array().end_object();
  return write_text_file(folder + "/verdict.json", json.take() + "\n");
}

Result<void> write_profiles(const std::string& folder, const std::vector<PipelineRecord>& all,
                            const std::vector<MemoryUse>& at_most) {
  JsonWriter json(JsonNonFinite::AsNull);
  json.begin_object().member("schema", "headpond.profile/1").key("pipelines").begin_array();
  for (const PipelineRecord& one : all) {
    json.begin_object().member("name", one.name).key("rows");
    write_profile(json, profile_of(one.loader, {.view = ProfileView::scope}).value());
    json.end_object();
  }
  json.end_array().key("memory");
  write_memory(json, at_most);
  json.end_object();
  return write_text_file(folder + "/profile.json", json.take() + "\n");
}

Result<void> write_report(const std::string& folder) {
  const auto run = read_run(folder);
  if (!run) return fail(run.error());
  return write_text_file(folder + "/report.html", report_html(*run));
}

}  // namespace headpond::internal
