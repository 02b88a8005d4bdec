// SPDX-License-Identifier: Apache-2.0
// Compresses record files with zlib: the same bytes on every machine with the same zlib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/compression/compression.h"

namespace headpond::internal {

enum class DeflateStep : uint8_t {
  gather,  ///< Output may be delayed.
  flush,   ///< All input so far can be inflated from the output.
  finish,  ///< Ends the stream; nothing may be added afterwards.
};

/// One thread at a time.
class Deflater {
 public:
  /// InvalidArgument iff the level is not 0 to 9 or the compression is neither gzip nor zlib; ResourceExhausted iff
  /// there is no memory (256 KiB).
  static Result<std::unique_ptr<Deflater>> make(Compression compression, int level);
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  /// Appends the output to `to`.
  void add(std::span<const std::byte> plain, DeflateStep step, std::vector<std::byte>& to);

 private:
  struct State;
  explicit Deflater(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace headpond::internal
