// SPDX-License-Identifier: Apache-2.0
// What was found in a file, as JSON and as text.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/base/status.h"
#include "headpond/io/example/example_schema.h"

namespace headpond::cli {

/// What the records of a file have under each key. Keeps at most kMost keys, so memory is bounded.
class FeatureTable {
 public:
  static constexpr size_t kMost = 10'000;
  struct Row {
    std::string_view dtype = {};  ///< "mixed" iff records differ; empty iff it is missing in all.
    uint64_t present = 0, count_min = 0, count_max = 0;
  };

  /// Adds `times` records that have these features.
  void add(const std::vector<FeatureInfo>& features, uint64_t times = 1);
  /// Adds a column of a table: `present` of the records have a value. REQUIRES: a new key.
  void add_column(std::string_view key, DType dtype, uint64_t present);
  const std::map<std::string, Row, std::less<>>& rows() const { return rows_; }
  /// Records in which it is missing or has no dtype.
  uint64_t missing(const Row& row) const { return records_ - row.present; }
  bool has_left_out() const { return has_left_out_; }

 private:
  Row* find_or_make(std::string_view key);  // nullptr iff there are too many.

  std::map<std::string, Row, std::less<>> rows_;
  uint64_t records_ = 0;
  bool has_left_out_ = false;
};

struct Damage {
  std::optional<uint64_t> record = {};  ///< From 0, damaged records included; empty: the whole file.
  std::optional<uint64_t> offset = {};  ///< In the inflated bytes.
  /// Bytes after the damage that cannot be read; unknown for a compressed file.
  std::optional<uint64_t> lost_bytes = {};
  Error error = {};
};

/// The size of an image.
struct SurveyedSize {
  int64_t height = 0, width = 0;
  int channels = 0;
};

struct FileReport {
  static constexpr size_t kMostDamage = 100;

  std::string path;
  std::string_view format = "unknown", compression = "none";
  uint64_t records = 0;  ///< Intact ones.
  uint64_t bytes = 0;    ///< Size of the file as stored.
  bool is_readable = false;
  bool is_limited = false;               ///< The limit left records unread.
  std::optional<uint64_t> groups = {};   ///< In a tar archive: members with the same name except for the extension.
  std::optional<uint64_t> skipped = {};  ///< In a tar archive: links, folders and the like.
  std::optional<SurveyedSize> image = {};
  FeatureTable features = {};
  FeatureTable lists = {};          ///< Feature lists of SequenceExamples; counts are steps.
  std::vector<Damage> damage = {};  ///< The first kMostDamage.
  uint64_t damage_count = 0;

  void add_damage(Damage found);
};

/// {"path":...,"format":...,"damage":[...]}, with "features" or else "ok".
void write_report(JsonWriter& json, const FileReport& report, bool with_features);
/// {"record":5,"offset":80,"kind":"DataLoss","message":...}, with "path" first iff it is not empty.
void write_damage(JsonWriter& json, const Damage& damage, std::string_view path = "");

/// "/x/a: tfrecord (gzip), 1000 records, 5 bytes"
std::string report_line(const FileReport& report);
/// "/x/a: record 5 at offset 80: DataLoss: ...", one line each, then how many more there are.
std::vector<std::string> damage_lines(const FileReport& report);
/// Tables of features and of lists; empty iff there are none.
std::string feature_table(const FileReport& report);

}  // namespace headpond::cli
