// SPDX-License-Identifier: Apache-2.0
// Scenario 12's files: sounds and images of unusual forms, damaged ones, and TFRecord files with damaged frames.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace headpond::scenarios {

inline constexpr int64_t kHead = 64;   ///< Values that a check looks at: of a sound the first ones.
inline constexpr int64_t kApart = 74;  ///< Of an image each of so many values, from the first row to the last.

/// A sound or an image as it lies in a record: 'W' or 'I', the number, the file.
struct Payload {
  std::string form;
  std::string bytes;
  bool decodes = true;
  /// The first values of what it decodes to, of images as three channels of 8 bits, as they were drawn: a JPEG is near.
  std::array<float, kHead> head = {};
};
/// A plain sound for an even number, a plain JPEG for an odd one.
Payload plain_payload(int64_t number);
/// One of each unusual or damaged form.
std::vector<Payload> planted_payloads(int64_t number);

/// A TFRecord file of 50 sounds, numbered from 0, with one damage.
struct DamagedFile {
  std::string kind;
  std::string path;
  int64_t record = -1;  ///< The damaged one; -1: none.
  int64_t offset = -1;  ///< Where that begins.
  /// The numbers of what can be read all the same.
  std::vector<int64_t> readable = {};
  bool is_error = true;  ///< Under the policy fail.
};
std::vector<DamagedFile> write_damaged_files(const std::string& folder);

}  // namespace headpond::scenarios
