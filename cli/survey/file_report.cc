// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/in_words.h"
#include "cli/text_table.h"
#include "headpond/plan/without_path.h"

namespace headpond::cli {
namespace {

void write_number(JsonWriter& json, std::string_view name, std::optional<uint64_t> number) {
  json.key(name);
  if (number) {
    json.value(*number);
  } else {
    json.value(nullptr);
  }
}

// `of`: what the counts are.
void write_features(JsonWriter& json, std::string_view key, const FeatureTable& features, std::string_view of) {
  json.key(key).begin_object();
  for (const auto& [name, row] : features.rows()) {
    json.key(name).begin_object().key("dtype");
    if (row.dtype.empty()) {
      json.value(nullptr);
    } else {
      json.value(row.dtype);
    }
    json.member(fmt::format("{}_min", of), row.count_min).member(fmt::format("{}_max", of), row.count_max);
    json.member("missing", features.missing(row)).end_object();
  }
  json.end_object();
  if (features.has_left_out()) json.member(fmt::format("{}_left_out", key), true);
}

std::string place(const Damage& damage) {
  std::string text;
  if (damage.record) text += fmt::format("record {}", *damage.record);
  if (damage.offset) text += fmt::format("{}offset {}", text.empty() ? "" : " at ", *damage.offset);
  return text.empty() ? text : text + ": ";
}

// The error without the file and the place, with which its line begins.
std::string error_text(const Damage& damage, std::string_view path) {
  std::string text = plan::without_path(damage.error.to_string(), path);
  const std::string place =
      fmt::format(" at offset {}, record {}", damage.offset.value_or(0), damage.record.value_or(0));
  const size_t at = damage.record && damage.offset ? text.find(place) : std::string::npos;
  const bool is_whole = at != std::string::npos && text.substr(at + place.size()).find_first_of("0123456789") != 0;
  if (is_whole) text.erase(at, place.size());
  return text;
}

// Keys come from data, and terminals obey control characters.
std::string printable(std::string key) {
  std::ranges::replace_if(
      key, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return key;
}

std::string table_of(const FeatureTable& features, std::string_view what, std::string_view counted) {
  if (features.rows().empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [key, row] : features.rows()) {
    const std::string counts = row.count_min == row.count_max ? fmt::to_string(row.count_max)
                                                              : fmt::format("{} to {}", row.count_min, row.count_max);
    rows.push_back({"  " + printable(key), std::string(row.dtype.empty() ? "-" : row.dtype), counts,
                    fmt::to_string(features.missing(row))});
  }
  return format_table({{.head = fmt::format("  {}", what)},
                       {.head = "dtype"},
                       {.head = std::string(counted), .right = true},
                       {.head = "missing in", .right = true}},
                      rows);
}

}  // namespace

FeatureTable::Row* FeatureTable::find_or_make(std::string_view key) {
  auto found = rows_.find(key);
  if (found == rows_.end()) {
    if (rows_.size() == kMost) has_left_out_ = true;
    if (rows_.size() == kMost) return nullptr;
    found = rows_.emplace(key, Row()).first;
  }
  return &found->second;
}

void FeatureTable::add(const std::vector<FeatureInfo>& features, uint64_t times) {
  records_ += times;
  for (const FeatureInfo& feature : features) {
    Row* const found = find_or_make(feature.key);
    if (found == nullptr || !feature.dtype) continue;
    Row& row = *found;
    const std::string_view dtype = name(*feature.dtype);
    row.dtype = row.present == 0 || row.dtype == dtype ? dtype : "mixed";
    row.count_min = row.present == 0 ? feature.count : std::min(row.count_min, feature.count);
    row.count_max = std::max(row.count_max, feature.count);
    row.present += times;
  }
}

void FeatureTable::add_column(std::string_view key, DType dtype, uint64_t present) {
  Row* const row = find_or_make(key);
  if (row != nullptr && present > 0) *row = {name(dtype), present, 1, 1};
}

void FileReport::add_damage(Damage found) {
  if (damage.size() < kMostDamage) damage.push_back(std::move(found));
  ++damage_count;
}

void write_damage(JsonWriter& json, const Damage& damage, std::string_view path) {
  json.begin_object();
  if (!path.empty()) json.member("path", path);
  write_number(json, "record", damage.record);
  write_number(json, "offset", damage.offset);
  json.member("kind", to_string(damage.error.kind())).member("message", damage.error.message());
  if (damage.lost_bytes) json.member("lost_bytes", *damage.lost_bytes);
  json.end_object();
}

void write_report(JsonWriter& json, const FileReport& report, bool with_features) {
  json.begin_object().member("path", report.path).member("format", report.format);
  json.member("compression", report.compression).member("records", report.records).member("bytes", report.bytes);
  if (report.groups) json.member("groups", *report.groups);
  if (report.skipped) json.member("skipped", *report.skipped);
  if (report.image) {
    const auto& [height, width, channels] = *report.image;
    json.key("image").begin_object().member("height", height).member("width", width);
    json.member("channels", channels).end_object();
  }
  if (with_features) {
    json.member("limited", report.is_limited);
    write_features(json, "features", report.features, "count");
    if (!report.lists.rows().empty()) write_features(json, "feature_lists", report.lists, "steps");
  } else {
    json.member("ok", report.damage_count == 0);
  }
  json.key("damage").begin_array();
  for (const Damage& damage : report.damage) write_damage(json, damage);
  json.end_array().member("damage_more", report.damage_count - report.damage.size()).end_object();
}

std::string report_line(const FileReport& report) {
  std::string line = fmt::format("{}: {}", report.path, report.format == "unknown" ? "unknown format" : report.format);
  if (report.compression != "none") line += fmt::format(" ({})", report.compression);
  if (report.format != "unknown") {
    const uint64_t read = report.records + report.damage_count;  // What --limit counts.
    if (report.is_limited) line += fmt::format(", first {} only", in_words(read, "record"));
    if (report.is_limited && report.damage_count > 0) line += fmt::format(", {} damaged", report.damage_count);
    if (!report.is_limited) line += ", " + in_words(report.records, "record");
  }
  if (report.image) {
    const auto& [height, width, channels] = *report.image;
    line += fmt::format(", {} x {} pixels, {}", width, height, in_words(static_cast<uint64_t>(channels), "channel"));
  }
  if (report.groups) line += ", " + in_words(*report.groups, "group");
  if (report.skipped.value_or(0) > 0) line += fmt::format(", {} skipped", *report.skipped);
  return line + ", " + in_words(report.bytes, "byte");
}

std::vector<std::string> damage_lines(const FileReport& report) {
  std::vector<std::string> lines;
  for (const Damage& damage : report.damage) {
    lines.push_back(fmt::format("{}: {}{}", report.path, place(damage), error_text(damage, report.path)));
    if (damage.lost_bytes) lines.back() += fmt::format("; lost: {}", in_words(*damage.lost_bytes, "byte"));
  }
  const uint64_t more = report.damage_count - report.damage.size();
  if (more > 0) lines.push_back(fmt::format("{}: {} more damaged", report.path, more));
  return lines;
}

std::string feature_table(const FileReport& report) {
  return table_of(report.features, "feature", "values") + table_of(report.lists, "feature list", "steps");
}

}  // namespace headpond::cli
