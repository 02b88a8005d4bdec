// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/report.h"

#include <cinttypes>
#include <string>

namespace preprocess_once {
namespace {

void print_peaks(std::FILE* to, const char* way, const std::vector<double>& peaks) {
  std::fprintf(to, " %s", way);
  for (const double mib : peaks) std::fprintf(to, " %.0f", mib);
}

void write_peaks(hp::JsonWriter& json, const char* way, const std::vector<double>& peaks) {
  json.key(way).begin_array();
  for (const double mib : peaks) json.value(mib);
  json.end_array();
}

void write_rates(hp::JsonWriter& json, const Measured& m) {
  json.key("images_per_s").begin_object().member("straightforward", m.straightforward);
  json.member("operators", m.operators).member("tfrecord", m.records).member("operators_one_thread", m.one_thread);
  json.member("in_memory", m.in_memory).end_object();
  json.key("speedup").begin_object().member("operators", m.operators_gain).member("tfrecord", m.records_gain);
  json.member("distance_maps", m.distances_gain).end_object();
  json.key("distance_maps_ms").begin_object().member("brute_force", m.brute_force_ms);
  json.member("linear", m.linear_ms).end_object();
  json.member("rounds", m.rounds).key("epochs_a_round").begin_object().member("straightforward", 1);
  json.member("operators", 1).member("operators_one_thread", 1).member("tfrecord", m.record_epochs);
  json.member("in_memory", m.record_epochs).end_object();
}

}  // namespace

std::vector<Target> targets_of(const Measured& m) {
  return {{"tfrecord", "tfrecord over straightforward", 50, m.records_gain},
          {"operators", "operators over straightforward", 1.5, m.operators_gain},
          {"distance_maps", "distance maps in linear time over each pixel and click", 3, m.distances_gain}};
}

void print(std::FILE* to, const Measured& m) {
  std::fprintf(to, "%" PRId64 " images with %" PRId64 " masks%s, %d clicks inside and %d outside\n", m.images, m.masks,
               m.is_drawn ? " (drawn)" : "", kClicks, kClicks);
  std::fprintf(to, "                 images/s, medians of %" PRId64 " in turn\n", m.rounds);
  std::fprintf(to, "straightforward  %8.1f             1 epoch a run\n", m.straightforward);
  std::fprintf(to, "operators        %8.1f  %7.1fx   1 epoch a run (by one thread %.1f)\n", m.operators,
               m.operators_gain, m.one_thread);
  std::fprintf(to,
               "tfrecord         %8.1f  %7.1fx   %" PRId64
               " epochs a run, the file opened in it (from memory %.1f; the loop waits %.0f %% of its time)\n",
               m.records, m.records_gain, m.record_epochs, m.in_memory, 100 * m.records_wait);
  std::fprintf(to, "distance maps of an image: %.3f ms by each pixel and click, %.3f ms in linear time, %.1fx\n",
               m.brute_force_ms, m.linear_ms, m.distances_gain);
  std::fprintf(to, "written once in %.2f s, %.1f MB\nMiB in use at most, mapped files too, round by round:", m.write_s,
               1e-6 * static_cast<double>(m.record_bytes));
  print_peaks(to, "straightforward", m.peak_mib.straightforward);
  print_peaks(to, "| operators", m.peak_mib.operators);
  print_peaks(to, "| tfrecord", m.peak_mib.records);
  std::fprintf(to, "\nthe samples of all ways are %s\n", m.bytes_equal ? "equal" : "NOT equal");
}

void print_json(std::FILE* to, const Measured& m) {
  hp::JsonWriter json;
  json.begin_object();
  write_rates(json, m);
  json.member("images", m.images).member("masks", m.masks).member("clicks", 2 * kClicks).member("drawn", m.is_drawn);
  json.member("write_s", m.write_s).member("record_bytes", m.record_bytes).member("wait_share", m.records_wait);
  json.key("peak_mib").begin_object();
  write_peaks(json, "straightforward", m.peak_mib.straightforward);
  write_peaks(json, "operators", m.peak_mib.operators);
  write_peaks(json, "tfrecord", m.peak_mib.records);
  json.end_object().key("targets").begin_array();
  for (const Target& target : targets_of(m)) {
    json.begin_object().member("id", target.id).member("text", target.text).member("value", target.value);
    json.member("op", ">=").member("bound", target.bound).member("pass", target.is_met()).end_object();
  }
  json.end_array().member("bytes_equal", m.bytes_equal).end_object();
  std::fprintf(to, "%s\n", std::string(json.text()).c_str());
}

bool print_missed(std::FILE* to, const Measured& m) {
  bool all_met = true;
  for (const Target& target : targets_of(m)) {
    if (target.is_met()) continue;
    all_met = false;
    std::fprintf(to, "MISSED: %s %.2fx, at least %gx was expected\n", target.text, target.value, target.bound);
  }
  return all_met;
}

}  // namespace preprocess_once
