// SPDX-License-Identifier: Apache-2.0
// Writes the elements of a dataset into files once, so that later runs need not prepare them again:
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
#include "headpond/io/compression/compression.h"

namespace headpond {

enum class ShardFormat : uint8_t {
  tfrecord,  ///< An element is a record's payload.
  tar,       ///< An element is members, each as append_tar_member (io/archive/tar_writer.h) writes it.
};

struct ShardOptions {
  std::string folder = {};    ///< Made if need be.
  std::string name = "data";  ///< Name of the data set, without a slash.
  int64_t shards = 1;         ///< 1 to 99,999.
  ShardFormat format = ShardFormat::tfrecord;
  Compression compression = Compression::none;  ///< none or gzip, and gzip for tfrecord only.
  /// true: continues where an interrupted call with the same dataset and options stopped. false: starts over and
  /// replaces files of these names.
  bool resume = false;
  /// One line that names what the records depend on beside the dataset's plan. A resume compares it too.
  std::string made_from = {};
  int threads = -1;  ///< See LoaderOptions::threads.
  uint64_t seed = 0;
  /// Called after each record with the number of records that are written or were found. If it returns false, the call
  /// ends with Cancelled.
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
  int64_t resumed_from = 0;  ///< Records that an earlier call had written.
};

/// Shard s of S has the elements from floor(n s / S) to floor(n (s + 1) / S) of n. The files have the same bytes
/// whatever the threads, the machine and the interruptions, even a kill at any moment: a shard is written under a name
/// that ends in ".partial" and renamed when it is whole. The file ".<name>.plan" beside the shards says what they were
/// made of, and the size and digest of each whole shard. A resume with another dataset or other options returns
/// FailedPrecondition and names the difference; so does a second writer of the same shards. A resume writes a shard
/// again if the file is not as it was written; it continues a partial shard if that is plain TFRecord, else it writes
/// the shard again.
///
/// Throws Exception(InvalidArgument) unless `records` has positions and one field, a scalar of dtype bytes, and the
/// options are valid. FailedPrecondition if the folder has shards of this name but of another number or kind: a reader
/// would take both for one set. The first element that fails ends the call; what is written stays, for a resume.
Result<ShardReport> write_shards(const Dataset& records, const ShardOptions& options);

/// The name of the file that says what the shards of `name` were made of. Patterns such as "*" do not match it.
inline std::string shards_plan_name(const std::string& name) { return "." + name + ".plan"; }

}  // namespace headpond
