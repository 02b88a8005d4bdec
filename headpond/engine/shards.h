// SPDX-License-Identifier: Apache-2.0
// Writes what a dataset delivers into files, once, so that no later run prepares it again:
//
//   auto records = idx(images, labels) | map(to_example, {.name = "to_example"});
//   write_shards(records, {.folder = "digits", .name = "train", .shards = 4});  // digits/train-00000-of-00004.tfrecord
//   auto train = tfrecord("digits/train-*.tfrecord") | shuffle() | map(parse_example({{"image", u8, {784}}}));
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/dataset/dataset.h"
#include "headpond/io/file/compression.h"

namespace headpond {

enum class ShardFormat : uint8_t {
  tfrecord,  ///< An element is a record's payload.
  tar,       ///< An element is members, each as append_tar_member (io/archive/tar_writer.h) writes it.
};

struct ShardOptions {
  std::string folder = {};    ///< Made if need be.
  std::string name = "data";  ///< Of the data set, without a slash.
  int64_t shards = 1;         ///< 1 to 99,999.
  ShardFormat format = ShardFormat::tfrecord;
  Compression compression = Compression::none;  ///< none or gzip, and gzip for tfrecord only.
  /// Goes on where an interrupted call of the same dataset and options stopped. Else it starts over, and replaces what
  /// is there of these names.
  bool resume = false;
  /// What the records depend on that the dataset's plan does not say; one line. Resuming compares it too.
  std::string made_from = {};
  int threads = -1;  ///< As LoaderOptions::threads.
  uint64_t seed = 0;
  /// Called behind each record with the number of those that are written or were found; false ends with Cancelled.
  std::function<bool(int64_t records)> progress = {};
};

struct Shard {
  std::string path;
  int64_t records = 0;
  uint64_t bytes = 0;
  uint64_t digest = 0;  ///< XXH3 (64 bits) of the file.
};

struct ShardReport {
  std::vector<Shard> shards = {};
  int64_t records = 0;
  uint64_t bytes = 0;
  int64_t resumed_from = 0;  ///< Records that were there.
};

/// Shard s of S has the elements from floor(n s / S) to floor(n (s + 1) / S) of n. Files have the same bytes whatever
/// the threads, the machine and the interruptions, a kill at any moment included: a shard is written under the name
/// "....partial", and has its own when it is whole. ".<name>.plan" beside them says what they were made of, and of each
/// whole shard the size and digest. Resuming with something else is FailedPrecondition, the difference named, and so is
/// a second writer of the same shards; a shard that is not as it was written is written again. What an interruption
/// leaves of a shard is gone on with where it is plain TFRecord, else written again.
///
/// Throws Exception(InvalidArgument) unless `records` has positions and one field, a scalar of dtype bytes, and the
/// options can be. FailedPrecondition if the folder has shards of this name but of another number or kind, which a
/// reader would take for one set. An element's error ends it; what is written stays, for a resume.
Result<ShardReport> write_shards(const Dataset& records, const ShardOptions& options);

/// Of the file that says what the shards of `name` were made of: no pattern such as "*" means it.
inline std::string shards_plan_name(const std::string& name) { return "." + name + ".plan"; }

}  // namespace headpond
