// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_set>
#include <utility>

#include "headpond/io/archive/tar_walker_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond {
namespace {

class MemorySource final : public internal::TarSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) : left_(bytes) {}
  Result<size_t> read(std::span<std::byte> to) override {
    const size_t count = std::min(to.size(), left_.size());
    if (count != 0) std::memcpy(to.data(), left_.data(), count);
    left_ = left_.subspan(count);
    return count;
  }
  Result<uint64_t> skip(uint64_t count) override {
    count = std::min<uint64_t>(count, left_.size());
    left_ = left_.subspan(count);
    return count;
  }
  uint64_t left_at_most() const override { return left_.size(); }

 private:
  std::span<const std::byte> left_;
};

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

struct SplitName {
  std::string_view key, extension;
};
// WebDataset's metadata: names whose first part is in double underscores.
bool is_metadata(std::string_view name) {
  const std::string_view first = name.substr(0, name.find('/'));
  return first.size() >= 4 && first.starts_with("__") && first.ends_with("__");
}

// Nothing if the last part of the name has no dot, or nothing before it.
std::optional<SplitName> split(std::string_view name) {
  if (is_metadata(name)) return std::nullopt;
  const size_t slash = name.rfind('/');
  const size_t base = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = name.find('.', base);
  if (dot == std::string_view::npos || dot == base) return std::nullopt;
  return SplitName{name.substr(0, dot), name.substr(dot + 1)};
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

}  // namespace

Result<TarIndex> index_tar(std::span<const std::byte> archive, std::string_view name, const TarLimits& limits) try {
  MemorySource source(archive);
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
  }
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
        no_memory_(ErrorKind::ResourceExhausted, archive_->name() + ": out of memory") {}

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

Result<TarSamples> group_tar(const TarIndex& index, std::string_view name) try {
  TarSamples groups;
  std::unordered_set<std::string_view> keys;
  std::unordered_set<std::string> extensions;  // Of the last sample.
  for (size_t i = 0; i < index.members.size(); ++i) {
    const auto parts = split(index.members[i].name);
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
    std::string extension = lower_case(parts->extension);
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
