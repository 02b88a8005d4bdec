// SPDX-License-Identifier: Apache-2.0
// Tar archives (docs/formats/tar.md): ustar, pax, GNU long names and base-256 sizes. Members are bytes with a name; a
// name is data and never opened as a path. Links, devices, FIFOs and folders are skipped and counted. Sources: POSIX.1
// pax, "ustar Interchange Format" and "pax Header Block"; GNU tar's manual, "Basic Tar Format".
//
// DataLoss, naming the archive, the offset and the cause, iff a header is damaged or the bytes end too early (missing
// end blocks are fine, what follows them is read and not looked at); Unimplemented iff a member is sparse,
// or the first bytes are no header but begin gzip, zlib, zstd or xz; ResourceExhausted iff it is beyond TarLimits or
// there is no memory.
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
  std::string name;     ///< As stored; may be anything, "../x" too.
  uint64_t offset = 0;  ///< Of its content in the (inflated) archive.
  uint64_t size = 0;
};

struct TarLimits {
  uint64_t max_name_bytes = 4096;
  uint64_t max_all_name_bytes = uint64_t{1} << 30;  ///< Of all members of an index: one header may name them all.
  uint64_t max_header_bytes = uint64_t{1} << 20;    ///< Of one pax header.
  uint64_t max_headers = 16;                        ///< Headers in front of one member.
};

struct TarIndex {
  std::vector<TarMember> members;  ///< In the order of the archive; each lies inside it.
  uint64_t skipped = 0;            ///< Members that are no regular files.
};

/// The index of a whole archive, of which only the headers are read: member m is archive.subspan(m.offset, m.size).
/// Thread-safe.
Result<TarIndex> index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits = {});

/// Reads an archive in order, plain or through an inflating reader, in constant memory. The reader's errors are passed
/// on: one that inflates to more than its limit is ResourceExhausted. One thread at a time.
class TarReader {
 public:
  /// Throws Exception, InvalidArgument, iff `archive` is nullptr.
  explicit TarReader(std::unique_ptr<ByteReader> archive, const TarLimits& limits = {});
  ~TarReader();
  TarReader(const TarReader&) = delete;
  TarReader& operator=(const TarReader&) = delete;

  /// The next regular file, whatever of the last one's content was not read; nullopt at the end. Errors stay. Behind
  /// the last member all is read to the end, so that a damage that only the check values of a compressed archive tell
  /// of is an error, though late: the members before it were given.
  Result<std::optional<TarMember>> next();
  /// Fills the front of `to` with what comes next of the member's content and returns how many bytes: fewer than asked
  /// for iff the content ends. Errors stay.
  Result<size_t> read(std::span<std::byte> to);
  /// Members so far that are no regular files.
  uint64_t skipped() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// WebDataset's convention: members that follow one another and have the same key are one sample. The key is the name
/// up to the first dot of its last part, the extension what follows, in lower case (ASCII): "a/b.Seg.PNG" is "seg.png"
/// of "a/b". Names whose first part is in double underscores, "__info__" or "__meta__/a.json", are no samples'. What
/// differs from WebDataset: docs/formats/tar.md.
struct TarSample {
  struct Part {
    std::string extension;
    size_t member;  ///< In TarIndex::members.
  };
  std::string key;
  std::vector<Part> parts;
};
struct TarSamples {
  std::vector<TarSample> samples;
  uint64_t ungrouped = 0;  ///< Members without a key or without an extension, and those in double underscores.
};
/// InvalidArgument, naming `name` and the key, iff a key has an extension twice, or comes again after another key;
/// ResourceExhausted iff there is no memory.
Result<TarSamples> group_tar(const TarIndex& index, std::string_view name);
/// For archives that are read one behind the other: InvalidArgument, naming the key and both archives, iff the last
/// sample of one has the key of the first of the next, a sample that was split.
Result<void> check_tar_split(std::span<const TarSample> one, std::string_view name, std::span<const TarSample> next,
                             std::string_view next_name);

}  // namespace headpond
