// SPDX-License-Identifier: Apache-2.0
// What the tests of this folder share: a few drawn pictures, and all that a way gives of them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/preprocess_once/nuclei.h"
#include "examples/preprocess_once/straightforward.h"
#include "tests/test_files.h"

namespace preprocess_once::test {

/// Five, one of each size, drawn once.
inline const std::vector<Picture>& drawn() {
  static const hp::test::TempFolder folder;
  static const std::vector<Picture> pictures = [] {
    const auto done = draw_pictures(folder.path(), 5, 7);
    EXPECT_TRUE(done) << done.error();
    return find_pictures(folder.path()).value_or(std::vector<Picture>());
  }();
  return pictures;
}

template <class T>
std::optional<hp::Error> error_of(const hp::Result<T>& result) {
  return result ? std::nullopt : std::optional(result.error());
}

inline std::string bytes_of(const hp::Tensor& tensor) {
  return tensor.shape().to_string() + ":" +
         std::string(reinterpret_cast<const char*>(tensor.data()), tensor.byte_size());
}

/// Input and target of each sample.
using All = std::vector<std::pair<std::string, std::string>>;

/// What every other way must give.
inline All all_straightforwardly(const std::vector<Picture>& pictures, uint64_t seed) {
  All all;
  for (size_t i = 0; i < pictures.size(); ++i) {
    const auto sample = prepare_straightforwardly(pictures[i], seed, static_cast<int64_t>(i));
    EXPECT_TRUE(sample) << sample.error();
    if (sample) all.emplace_back(bytes_of(sample->input), bytes_of(sample->nuclei));
  }
  return all;
}

inline All all_of(const hp::Dataset& samples, int threads) {
  All all;
  hp::Loader loader(samples, {.threads = threads, .io_threads = threads == 0 ? 0 : 256});
  for (const hp::Batch& sample : loader) {
    all.emplace_back(bytes_of(sample["input"]), bytes_of(sample["nuclei"]));
  }
  return all;
}

}  // namespace preprocess_once::test
