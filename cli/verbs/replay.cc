// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/replay.h"

#include <fmt/core.h>

#include <cstdio>

#include "headpond/dataset/quarantine/quarantine.h"
#include "headpond/plan/element_json.h"

namespace headpond::cli {
namespace {

struct Totals {
  int64_t entries = 0;
  int64_t readable = 0;            // The element can be read now.
  int64_t failing = 0;             // It fails again.
  int64_t other = 0;               // The pipeline has another element there, or none.
  int64_t of_other_pipelines = 0;  // Whatever became of them.
  int64_t broken_lines = 0;
};

void write_source(JsonWriter& json, const QuarantineEntry& entry) {
  json.key("source");
  entry.source.empty() ? json.value(nullptr) : json.value(entry.source);
  json.key("record");
  entry.record ? json.value(*entry.record) : json.value(nullptr);
}

std::string line_of(const QuarantineReplay& replay, const QuarantineEntry& entry, int64_t number,
                    const Result<Element>& element) {
  JsonWriter json;
  json.begin_object().member("entry", number).member("epoch", entry.epoch).member("element", entry.element);
  write_source(json, entry);
  if (element) {
    json.key("fields");
    plan::write_fields(json, replay.spec_of(entry), *element);
  } else {
    write_error(json, element.error());
  }
  json.end_object();
  return json.take() + "\n";
}

void count(const Result<Element>& element, Totals& totals) {
  ++totals.entries;
  const bool is_other = !element && element.error().kind() == ErrorKind::FailedPrecondition;
  ++(element ? totals.readable : is_other ? totals.other : totals.failing);
}

std::string summary(const Totals& totals) {
  std::string text =
      fmt::format("{} {}: {} can be read now, {} {}", totals.entries, totals.entries == 1 ? "entry" : "entries",
                  totals.readable, totals.failing, totals.failing == 1 ? "fails" : "fail");
  const auto is = [](int64_t count) { return count == 1 ? "is" : "are"; };
  if (totals.other > 0) text += fmt::format(", {} {} not in this pipeline", totals.other, is(totals.other));
  if (totals.of_other_pipelines > 0)
    text += fmt::format("; {} {} written by another pipeline or for other data", totals.of_other_pipelines,
                        totals.of_other_pipelines == 1 ? "was" : "were");
  const int64_t broken = totals.broken_lines;
  if (broken > 0) text += fmt::format("; {} {} {} broken", broken, broken == 1 ? "line" : "lines", is(broken));
  return text;
}

void write_members(JsonWriter& json, const Totals& totals) {
  json.member("entries", totals.entries).member("readable", totals.readable).member("failing", totals.failing);
  json.member("other", totals.other).member("of_other_pipelines", totals.of_other_pipelines);
  json.member("broken_lines", totals.broken_lines);
}

}  // namespace

Result<Report> replay(Session& session, const Dataset& dataset, const std::string& file, std::optional<int64_t> limit) {
  const auto quarantine = read_quarantine(file);
  if (!quarantine) return fail(quarantine.error());
  QuarantineReplay again(dataset);
  Totals totals{.broken_lines = quarantine->broken_lines};
  const TextOutput output = session.element_output();
  for (const QuarantineEntry& entry : quarantine->entries) {
    if (session.stop().stop_requested() || (limit && totals.entries == *limit)) break;
    const auto element = again.read(entry);
    count(element, totals);
    if (!again.is_of_this_pipeline(entry)) ++totals.of_other_pipelines;
    HEADPOND_TRY(output.write(line_of(again, entry, totals.entries, element)));
  }
  HEADPOND_TRY(output.flush());
  if (session.interrupt().requested()) return fail(ErrorKind::Cancelled, "interrupted");
  if (totals.entries > 0 && totals.other == totals.entries) {
    return fail(ErrorKind::FailedPrecondition, fmt::format("{}: {}", file, summary(totals)));
  }
  if (!session.common().quiet) put_on_stderr(summary(totals) + "\n");
  return Report{.members = [totals](JsonWriter& json) { write_members(json, totals); }};
}

}  // namespace headpond::cli
