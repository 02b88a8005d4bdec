// SPDX-License-Identifier: Apache-2.0
#include "cli/demo/prepared_row.h"

#include <fmt/core.h>

namespace headpond::cli {
namespace {

// The loop reads each byte of each sample, then asks for the next one: where it does not wait, it is that reading.
std::string limit_of(const preprocess_once::Measured& m) {
  if (m.records_wait >= 0.05) {
    return fmt::format("the loader: the loop waits {:.0f} % of its time for samples of {:.1f} MB", 100 * m.records_wait,
                       1e-6 * static_cast<double>(m.record_bytes) / static_cast<double>(m.images));
  }
  std::string loop = "the loop, which reads every byte: data is always ready";
  if (m.records >= 0.9 * m.in_memory) return loop;
  return loop + "; beside the loader's threads it reads slower than alone";
}

}  // namespace

DemoRow prepared_row(const preprocess_once::Measured& m) {
  return {.id = "nuclei.tfrecord",
          .what = "nuclei: images a second, prepared once",
          .article = {50, "images/s", "interactive segmentation, TFRecord; prepared in the feed loop 2.4 images/s"},
          .flaw = "it does not say whether training or reading sets the 50",
          .ours = {m.records, "images/s",
                   fmt::format("{}{} with {}, files in memory; the loop only reads; {} a run, of the other ways one; "
                               "prepared in the loop {:.1f} images/s by straightforward code on one thread ({:.0f} x), "
                               "{:.1f} by operators; written once in {:.1f} s; medians of {}",
                               times(m.images, m.is_drawn ? "drawn image" : "image"), m.is_drawn ? "" : " of nuclei",
                               times(m.masks, "mask"), times(m.record_epochs, "epoch"), m.straightforward,
                               m.records_gain, m.operators, m.write_s, times(m.rounds, "round"))},
          .ceiling = m.in_memory,
          .limited_by = limit_of(m)};
}

}  // namespace headpond::cli
