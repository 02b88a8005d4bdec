// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/prepared_row.h"

#include <fmt/core.h>

namespace headpond::cli {
namespace {

// The loop reads each byte of each sample, then asks for the next one. If it does not wait, reading is the limit.
std::string limit_of(const preprocess_once::Measured& m) {
  if (m.records_wait >= 0.05) {
    return fmt::format("the Loader: the loop waits {:.0f} % of its time for samples of {:.1f} MB", 100 * m.records_wait,
                       1e-6 * static_cast<double>(m.record_bytes) / static_cast<double>(m.images));
  }
  std::string loop = "the loop, which reads every byte: data is always ready";
  if (m.records >= 0.9 * m.in_memory) return loop;
  return loop + "; it reads slower beside the Loader's threads than alone";
}

}  // namespace

DemoRow prepared_row(const preprocess_once::Measured& m) {
  return {
      .id = "nuclei.tfrecord",
      .what = "nuclei: images prepared once",
      .article = {50, "images/s",
                  "interactive segmentation from TFRecords; 2.4 images/s when prepared in the feed loop"},
      .flaw = "does not say whether training or reading limits the 50",
      .ours = {m.records, "images/s",
               fmt::format(
                   "{}{} with {}; files in memory; the loop only reads; {} a run, one for the other ways; "
                   "prepared in the loop: {:.1f} images/s by straightforward code on one thread ({:.0f} times slower), "
                   "{:.1f} by operators; written once in {:.1f} s; medians of {}",
                   times(m.images, m.is_drawn ? "drawn image" : "image"), m.is_drawn ? "" : " of nuclei",
                   times(m.masks, "mask"), times(m.record_epochs, "epoch"), m.straightforward, m.records_gain,
                   m.operators, m.write_s, times(m.rounds, "round"))},
      .ceiling = m.in_memory,
      .limited_by = limit_of(m)};
}

}  // namespace headpond::cli
