// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/verdict_json.h"

namespace headpond::cli {
namespace {

void write_change(JsonWriter& json, const Change& change) {
  json.begin_object().member("what", change.what).member("setting", change.setting).member("value", change.value);
  json.member("gain", change.gain).member("low", change.low).member("high", change.high).end_object();
}

}  // namespace

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  json.member("verdict", verdict.to_string()).member("reason_code", to_string(verdict.code));
  json.member("stage", verdict.stage).member("op", verdict.op).member("confidence", verdict.confidence);
  json.member("wait_share", verdict.wait_share).key("waits").begin_object();
  json.member("startup", verdict.waits.startup).member("epoch_edge", verdict.waits.epoch_edge);
  json.member("burst", verdict.waits.burst).member("sustained", verdict.waits.sustained).end_object();
  json.key("evidence").begin_array();
  for (const Evidence& one : verdict.evidence) {
    json.begin_object().member("figure", one.figure).member("value", one.value);
    json.member("threshold", one.threshold).end_object();
  }
  json.end_array().key("changes").begin_array();
  for (const Change& one : verdict.changes) write_change(json, one);
  json.end_array().key("change");
  if (verdict.changes.empty()) {
    json.value(nullptr).key("forecast_gain").value(nullptr);
  } else {
    write_change(json, verdict.changes.front());
    json.member("forecast_gain", verdict.changes.front().gain);
  }
  json.key("findings").begin_array();
  for (const std::string& one : verdict.findings) json.value(one);
  json.end_array();
}

}  // namespace headpond::cli
