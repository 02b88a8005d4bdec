// SPDX-License-Identifier: Apache-2.0
// Spoken digits as log-mel spectra: WAV files named "<digit>_<speaker>_<index>.wav", as those of the Free Spoken Digit
// Dataset. Indices 0 to 4 are its official test.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

/// Sorted by path.
struct SpokenFiles {
  std::vector<std::string> paths;
  std::vector<int64_t> labels;
};
struct SpokenSets {
  SpokenFiles train, test;
};
/// The official sets or, with a speaker, all of this one's files as the test. NotFound iff one of both is empty;
/// InvalidArgument for a WAV file of another name.
Result<SpokenSets> find_spoken(const std::string& folder, const std::string& leave_speaker = "");

/// Reads of the files, by any thread.
struct ReadCounts {
  std::atomic<int64_t> files = 0, bytes = 0;
};

/// f32 "sound" [batch, 101, 40], in decibel, and i64 "label" [batch]: a second of sound at 8 kHz, padded or cut.
/// Training: in another order, at another place of the second, and up to 6 dB louder or quieter in each epoch. Test: in
/// the middle; what was made once is kept in memory.
Dataset spoken_training(const SpokenFiles& files, int64_t batch, const std::shared_ptr<ReadCounts>& counts);
Dataset spoken_test(const SpokenFiles& files, int64_t batch, const std::shared_ptr<ReadCounts>& counts);

/// The same files, orders and cache, but each file is read, and prepared by `prepare` instead: i64 "bytes" [batch], the
/// file's size, and i64 "label".
Dataset paced_training(const SpokenFiles& files, int64_t batch, const std::function<void()>& prepare,
                       const std::shared_ptr<ReadCounts>& counts);
Dataset paced_test(const SpokenFiles& files, int64_t batch, const std::function<void()>& prepare,
                   const std::shared_ptr<ReadCounts>& counts);

}  // namespace headpond
