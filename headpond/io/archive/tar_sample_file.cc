// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/archive/tar_sample_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "headpond/io/archive/tar_index_internal.h"
#include "headpond/io/archive/tar_names_internal.h"
#include "headpond/io/archive/tar_walker_internal.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/mapping_guard_internal.h"
#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/index/cached_index_internal.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kLeastIndexed = uint64_t{64} << 10;  // The headers of less are read sooner than an index is.

}  // namespace

Result<std::unique_ptr<TarSampleFile>> TarSampleFile::open(const std::string& path,
                                                           std::shared_ptr<const RecordIndex> known) try {
  auto mapped = MappedFile::open(path);
  if (!mapped) return fail(std::move(mapped).error());
  std::unique_ptr<TarSampleFile> file(new TarSampleFile(std::move(*mapped)));
  HEADPOND_TRY(file->find_samples(std::move(known)));
  return file;
} catch (const std::bad_alloc&) {
  return fail(exception_error_of(path));
}

Result<void> TarSampleFile::find_samples(std::shared_ptr<const RecordIndex> known) {
  const auto bytes = file_->bytes();
  const CachedIndex cached(*file_, "tar", bytes.size() >= kLeastIndexed);
  index_ = cached.find(std::move(known));
  was_cached_ = index_ != nullptr && index_->offset(index_->size()) == bytes.size();
  if (was_cached_) return file_->check();
  index_ = nullptr;
  TarPlaces places;
  auto members = index_tar(bytes, file_->path(), {}, places);
  if (!members) return fail(std::move(members).error());
  auto groups = group_tar(*members, file_->path());
  if (!groups) return fail(std::move(groups).error());
  HEADPOND_TRY(file_->check());
  if (places.has_global_headers) {
    members_ = std::move(*members);
    samples_ = std::move(groups->samples);
    return {};
  }
  RecordIndex index = cached.begin();
  index.reserve(groups->samples.size() + 1);
  for (const TarSample& sample : groups->samples) index.add(places.begins[sample.parts[0].member]);
  index.add(bytes.size());
  index_ = std::make_shared<const RecordIndex>(std::move(index));
  cached.keep(*index_);
  return {};
}

int64_t TarSampleFile::size() const {
  return static_cast<int64_t>(index_ != nullptr ? index_->size() : samples_.size());
}

Result<TarSampleFile::Sample> TarSampleFile::at(int64_t i) const {
  const auto k = static_cast<uint64_t>(i);
  if (index_ == nullptr) return in_memory(k);
  const uint64_t end = std::min<uint64_t>(index_->offset(k + 1), file_->bytes().size());
  auto sample = parse(std::min(index_->offset(k), end), end);
  if (sample && !sample->parts.empty()) return sample;
  return fail(changed(i));
}

TarSampleFile::Sample TarSampleFile::in_memory(size_t i) const {
  const TarSample& grouped = samples_[i];
  Sample sample{.key = grouped.key, .parts = {}};
  for (const TarSample::Part& part : grouped.parts) {
    const TarMember& member = members_.members[part.member];
    sample.parts.push_back({part.extension, member.offset, member.size});
  }
  return sample;
}

std::string_view TarSampleFile::lasting_key(int64_t i, const Sample& sample) const {
  if (index_ == nullptr) return samples_[static_cast<size_t>(i)].key;
  const uint64_t content = sample.parts[0].offset;
  const auto headers = file_->bytes().subspan(sample.offset, content - sample.offset);
  const std::string_view text(reinterpret_cast<const char*>(headers.data()), headers.size());
  if (const size_t at = text.find(sample.key); at != std::string_view::npos) return text.substr(at, sample.key.size());
  const MutexLock lock(mu_);
  return keys_.try_emplace(i, sample.key).first->second;
}

// Without parts iff there is not exactly one sample, or it does not begin at `begin`.
Result<TarSampleFile::Sample> TarSampleFile::parse(uint64_t begin, uint64_t end) const {
  TarMemorySource source(file_->bytes().subspan(begin, end - begin));
  TarWalker walker(source, file_->path(), {});
  Sample sample{.key = {}, .offset = begin, .parts = {}};
  while (true) {
    const auto member = walker.next();
    if (!member) return fail(member.error());
    if (!*member) return sample;
    count_read((*member)->offset - walker.member_begin());
    const auto name = split_tar_name((*member)->name);
    if (sample.parts.empty() && (!name || walker.member_begin() != 0)) return sample;
    if (!name) continue;
    if (sample.parts.empty()) sample.key = name->key;
    if (name->key != sample.key) return Sample();
    sample.parts.push_back({tar_extension(*name), begin + (*member)->offset, (*member)->size});
  }
}

bool TarSampleFile::can_be_read(std::string_view content) const {
  touch_pages(std::as_bytes(std::span(content)));
  return !file_->lost();
}

Error TarSampleFile::changed(int64_t i) const {
  if (const auto whole = file_->check(); !whole) return whole.error();
  return {ErrorKind::DataLoss, fmt::format("{}: sample {} at offset {}: the file is not the one that was indexed",
                                           file_->path(), i, index_->offset(static_cast<uint64_t>(i)))};
}

}  // namespace headpond::internal
