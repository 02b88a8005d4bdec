// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "headpond/io/archive/tar_index_internal.h"
#include "headpond/io/archive/tar_names_internal.h"
#include "headpond/io/archive/tar_walker_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond {
namespace {

class ReaderSource final : public internal::TarSource {
 public:
  explicit ReaderSource(ByteReader& reader) : reader_(reader), skipped_(size_t{64} << 10) {}
  Result<size_t> read(std::span<std::byte> to) override { return read_fully(reader_, to); }
  Result<uint64_t> skip(uint64_t count) override {
    for (uint64_t gone = 0; gone < count;) {
      const auto piece = std::span(skipped_).first(std::min<uint64_t>(skipped_.size(), count - gone));
      const auto got = reader_.read(piece);
      if (!got) return fail(got.error());
      if (*got == 0) return gone;
      gone += *got;
    }
    return count;
  }
  uint64_t left_at_most() const override { return reader_.left_at_most(); }

 private:
  ByteReader& reader_;
  std::vector<std::byte> skipped_;
};

}  // namespace

Result<TarIndex> index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits) {
  internal::TarPlaces places;
  return internal::index_tar(archive, name, limits, places);
}

Result<TarIndex> internal::index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits,
                                     TarPlaces& places) try {
  internal::TarMemorySource source(archive);
  internal::TarWalker walker(source, std::string(name), limits);
  TarIndex index;
  uint64_t name_bytes = 0;
  while (true) {
    auto member = walker.next();
    if (!member) return fail(std::move(member).error());
    if (!*member) break;
    name_bytes += (*member)->name.size();
    if (name_bytes > limits.max_all_name_bytes) {
      return fail(ErrorKind::ResourceExhausted, fmt::format("{}: names of more than {} bytes in all, up to offset {}",
                                                            name, limits.max_all_name_bytes, (*member)->offset));
    }
    index.members.push_back(std::move(**member));
    places.begins.push_back(walker.member_begin());
  }
  places.has_global_headers = walker.has_global_headers();
  index.skipped = walker.skipped();
  return index;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

class TarReader::State {
 public:
  State(std::unique_ptr<ByteReader> archive, const TarLimits& limits)
      : archive_(std::move(archive)),
        source_(*archive_),
        walker_(source_, archive_->name(), limits),
        no_memory_(internal::no_memory(archive_->name() + ": out of memory")) {}

  template <class Call>
  auto kept(Call call) -> decltype(call(std::declval<internal::TarWalker&>())) try {
    if (error_) return fail(error_);
    auto result = call(walker_);
    if (!result) error_ = result.error();
    return result;
  } catch (const std::bad_alloc&) {
    error_ = no_memory_;
    return fail(error_);
  }
  uint64_t skipped() const { return walker_.skipped(); }
  bool has_end() const { return walker_.has_end(); }

 private:
  const std::unique_ptr<ByteReader> archive_;
  ReaderSource source_;
  internal::TarWalker walker_;
  const Error no_memory_;  // Made while there is memory.
  Error error_;
};

TarReader::TarReader(std::unique_ptr<ByteReader> archive, const TarLimits& limits) {
  if (archive == nullptr) throw Exception({ErrorKind::InvalidArgument, "TarReader: no archive"});
  state_ = std::make_unique<State>(std::move(archive), limits);
}
TarReader::~TarReader() = default;

Result<std::optional<TarMember>> TarReader::next() {
  return state_->kept([](internal::TarWalker& walker) { return walker.next(); });
}

Result<size_t> TarReader::read(std::span<std::byte> to) {
  return state_->kept([to](internal::TarWalker& walker) { return walker.read(to); });
}

uint64_t TarReader::skipped() const { return state_->skipped(); }
bool TarReader::has_end() const { return state_->has_end(); }

Result<TarSamples> group_tar(const TarIndex& index, std::string_view name) try {
  TarSamples groups;
  std::unordered_set<std::string_view> keys;
  std::unordered_set<std::string> extensions;  // Extensions of the last sample.
  for (size_t i = 0; i < index.members.size(); ++i) {
    const auto parts = internal::split_tar_name(index.members[i].name);
    if (!parts) {
      ++groups.ungrouped;
      continue;
    }
    const auto refuse = [&](const char* what) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("{}: sample {} {}: member {} at offset {}", name, internal::quoted_name(parts->key), what,
                              internal::quoted_name(index.members[i].name), index.members[i].offset));
    };
    if (groups.samples.empty() || groups.samples.back().key != parts->key) {
      if (!keys.insert(parts->key).second) return refuse("appears again after another one");
      groups.samples.push_back({std::string(parts->key), {}});
      // clear(), which `= {}` would call, iterates over the buckets of the largest earlier sample.
      extensions = std::unordered_set<std::string>();
    }
    std::string extension = internal::tar_extension(*parts);
    if (!extensions.insert(extension).second) return refuse("has an extension twice");
    groups.samples.back().parts.push_back({std::move(extension), i});
  }
  return groups;
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<void> check_tar_split(std::span<const TarSample> one, std::string_view name, std::span<const TarSample> next,
                             std::string_view next_name) {
  if (one.empty() || next.empty() || one.back().key != next.front().key) return {};
  return fail(ErrorKind::InvalidArgument,
              fmt::format("sample {} ends {} and begins {}", internal::quoted_name(next.front().key), name, next_name));
}

}  // namespace headpond
