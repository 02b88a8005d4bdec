// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/verdict_json.h"

#include "headpond/monitor/run/record_fields_internal.h"

namespace headpond {

void write_verdict(JsonWriter& json, const Verdict& verdict) {
  internal::FieldWriter write(json);
  json.member("verdict", verdict.to_string());
  internal::fields(write, verdict);
  json.key("change");
  if (verdict.changes.empty()) {
    json.value(nullptr).key("forecast_gain").value(nullptr);
    return;
  }
  write.value(verdict.changes.front());
  json.member("forecast_gain", verdict.changes.front().gain);
}

}  // namespace headpond
