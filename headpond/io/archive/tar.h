// SPDX-License-Identifier: Apache-2.0
// Tar archives (docs/formats/tar.md): ustar, pax, GNU long names and base-256 sizes. Members are bytes with a name; a
// name is data and never opened as a path. Links, devices, FIFOs and folders are skipped and counted. Sources: POSIX.1
// pax, "ustar Interchange Format" and "pax Header Block"; GNU tar's manual, "Basic Tar Format".
//
// DataLoss, with the archive, the offset and the cause, iff a header is damaged or the bytes end too early (missing end
// blocks are allowed, and bytes after them are ignored); Unimplemented iff a member is sparse, or the first bytes are
// no header but those of gzip, zlib, bzip2, xz or zstd; ResourceExhausted iff the archive exceeds TarLimits or there is
// no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/io/file/file.h"

namespace headpond {

/// A regular file in an archive.
struct TarMember {
  std::string name;     ///< Stored name; may be anything, also "../x".
  uint64_t offset = 0;  ///< Where its content begins in the (inflated) archive.
  uint64_t size = 0;
};

struct TarLimits {
  uint64_t max_name_bytes = 4096;
  /// Names of all members of an index together, because one header may apply to all of them.
  uint64_t max_all_name_bytes = uint64_t{1} << 30;
  uint64_t max_header_bytes = uint64_t{1} << 20;  ///< Size of one pax header.
  uint64_t max_headers = 16;                      ///< Headers before one member.
};

struct TarIndex {
  std::vector<TarMember> members;  ///< In the order of the archive; each lies in it.
  uint64_t skipped = 0;            ///< Members that are not regular files.
};

/// Indexes a whole archive; only the headers are read. Member m is archive.subspan(m.offset, m.size). Thread-safe.
Result<TarIndex> index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits = {});

/// Reads an archive in order, plain or through an inflating reader, in constant memory. Errors of that reader are
/// passed on, ResourceExhausted for its limit among them. One thread at a time.
class TarReader {
 public:
  /// Throws Exception(InvalidArgument) iff `archive` is nullptr.
  explicit TarReader(std::unique_ptr<ByteReader> archive, const TarLimits& limits = {});
  ~TarReader();
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  /// The next regular file, whether or not the last one was read to its end; nullopt at the end. Errors are sticky.
  /// After the last member the rest is read to the end, so that damage which only the checksums of a compressed archive
  /// reveal is an error, if a late one: the members before it were returned.
  Result<std::optional<TarMember>> next();
  /// Reads the next bytes of the member's content into the front of `to` and returns how many: fewer than requested iff
  /// the content ends. Errors are sticky.
  Result<size_t> read(std::span<std::byte> to);
  /// Members so far that are not regular files.
  uint64_t skipped() const;
  /// After next() has returned nullopt: true iff both end blocks are there. Without them the archive may have been
  /// truncated after a member.
  bool has_end() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// WebDataset's convention: consecutive members with the same key are one sample. The key is the name up to the first
/// dot of its last part, and the rest, in lower case (ASCII), is the extension: "a/b.Seg.PNG" is "seg.png" of "a/b".
/// Names whose first part is in double underscores, such as "__info__" or "__meta__/a.json", belong to no sample.
/// Differences from WebDataset: docs/formats/tar.md.
struct TarSample {
  struct Part {
    std::string extension;
    size_t member;  ///< The index in TarIndex::members.
  };
  std::string key;
  std::vector<Part> parts;
};
struct TarSamples {
  std::vector<TarSample> samples;
  uint64_t ungrouped = 0;  ///< Members without a key or an extension, and those in double underscores.
};
/// InvalidArgument, with `name` and the key, iff a key has an extension twice, or appears again after another key;
/// ResourceExhausted iff there is no memory.
Result<TarSamples> group_tar(const TarIndex& index, std::string_view name);
/// For archives that are read one after the other: InvalidArgument, with the key and both archives, iff the last sample
/// of one has the key of the first sample of the next, which means that a sample was split.
Result<void> check_tar_split(std::span<const TarSample> one, std::string_view name, std::span<const TarSample> next,
                             std::string_view next_name);

}  // namespace headpond
