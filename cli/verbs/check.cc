// SPDX-License-Identifier: Apache-2.0
// headpond check: what can be said of a pipeline file before it is run.
#include "headpond/engine/check/check.h"

#include <fmt/core.h>

#include <memory>

#include "cli/json_members.h"
#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/plan/plan_file.h"

namespace headpond::cli {
namespace {

struct CheckFlags {
  std::vector<std::string> files;
  CheckOptions options;
  bool no_run = false;
};

void declare(Flags& flags, CheckFlags& to) {
  flags.words("FILE.toml", to.files, "a pipeline file (docs/plan_files.md)");
  flags.flag("no-run", to.no_run, "make no element");
  flags.option("label FIELD", to.options.label, "scalar field with the class; report how well batches mix classes");
  flags.option_from(0, "threads", to.options.loader.threads, "compute threads of the run (default: all CPUs)");
  flags.bytes("memory", to.options.loader.memory, "memory for elements of the run, as 64M or 2G (default: 1G)");
}

void write_order(JsonWriter& json, const OrderQuality& order) {
  json.begin_object().member("op", order.op).member("rows", order.rows);
  json.member("span", order.span).member("displacement", order.displacement);
  member_or_null(json, "reach", order.reach);
  member_or_null(json, "mix", order.mix);
  json.end_object();
}

// `shuffle` is the last one before the program; all stand in `orders`.
void write_orders(JsonWriter& json, const CheckReport& report) {
  json.key("shuffle");
  if (report.orders.empty()) {
    json.value(nullptr);
  } else {
    write_order(json, report.orders.front());
  }
  json.key("orders").begin_array();
  for (const OrderQuality& order : report.orders) write_order(json, order);
  json.end_array();
}

void write_label(JsonWriter& json, const std::optional<LabelMix>& label) {
  json.key("label");
  if (!label) {
    json.value(nullptr);
    return;
  }
  json.begin_object().member("field", label->field).member("batches", label->batches);
  json.member("classes", label->classes);
  member_or_null(json, "mix", label->mix);
  json.end_object();
}

void write_members(JsonWriter& json, const CheckReport& report) {
  const bool is_endless = report.cardinality == kEndless;
  json.member("spec", report.spec);
  member_or_null(json, "cardinality", is_endless ? std::nullopt : report.cardinality);
  json.member("endless", is_endless).key("bytes_forecast");
  if (report.memory.empty()) {
    json.value(nullptr);
  } else {
    json.value(report.memory_bytes());
  }
  json.key("memory").begin_array();
  for (const MemoryPart& part : report.memory) {
    json.begin_object().member("what", part.what).member("bytes", part.bytes).end_object();
  }
  json.end_array();
  json.member("mapped_bytes", report.mapped_bytes);
  member_or_null(json, "first_batch_s_forecast", report.first_batch_s);
  member_or_null(json, "fill_s_forecast", report.fill_s);
  write_orders(json, report);
  write_label(json, report.label);
  json.key("prepared");
  if (report.prepared) {
    json.begin_object().member("op", report.prepared->op).member("bytes", report.prepared->bytes);
    json.member("seconds", report.prepared->seconds).end_object();
  } else {
    json.value(nullptr);
  }
  json.member("tried", report.tried).member("left_out", report.left_out).member("failed", report.failed);
  json.member("element_ns", report.element_ns);
  for (const auto& [name, texts] : {std::pair{"errors", &report.errors}, {"findings", &report.findings}}) {
    json.key(name).begin_array();
    for (const std::string& text : *texts) json.value(text);
    json.end_array();
  }
}

Result<Report> run(Session& session, const CheckFlags& flags) {
  const plan::PlanFile plan = plan::read_plan_file(only_file("check", flags.files));
  CheckOptions options = flags.options;
  options.loader.seed = session.common().seed_given ? session.common().seed : plan.seed.value_or(0);
  session.set_seed(options.loader.seed);
  if (flags.no_run) options.elements = 0;
  const InterruptLook look([&session] { return session.stop().stop_requested(); });
  const CheckReport report = check(plan.dataset, options);
  std::string text = report.to_string();
  text.pop_back();
  session.say(text);
  return Report{.exit_code = report.errors.empty() ? kOk : kFailed,
                .members = [report](JsonWriter& json) { write_members(json, report); }};
}

}  // namespace

Verb check_verb() {
  const auto flags = std::make_shared<CheckFlags>();
  return {.path = "check",
          .what = "say before a run what it needs, how well it mixes, and what is likely to be wrong",
          .declare = [flags](Flags& to) { declare(to, *flags); },
          .run = [flags](Session& session) { return run(session, *flags); },
          .default_seed = "the file's, else 0"};
}

}  // namespace headpond::cli
