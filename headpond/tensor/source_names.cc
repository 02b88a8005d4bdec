// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/source_names.h"

#include <fmt/format.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "headpond/base/mutex.h"

namespace headpond {
namespace {

constexpr size_t kMaxSources = (size_t{1} << 20) - 1;

struct Source {
  std::string name = "";
  bool is_file = false;
  std::string key = "";  // The name, or name, zero byte and identity.
  std::vector<std::weak_ptr<const RecordFiles>> files = {};
};

struct Sources {
  Mutex mu;
  std::unordered_map<std::string, uint64_t> numbers HEADPOND_GUARDED_BY(mu);
  std::vector<Source> sources HEADPOND_GUARDED_BY(mu);

  // 0: there are too many.
  uint64_t number_of(const std::string& key) HEADPOND_REQUIRES(mu) {
    if (const auto found = numbers.find(key); found != numbers.end()) return found->second;
    if (sources.size() >= kMaxSources) return 0;
    const size_t end = key.find('\0');
    sources.push_back({.name = key.substr(0, end), .is_file = end != std::string::npos, .key = key});
    numbers.emplace(key, sources.size());
    return sources.size();
  }
};

Sources& all_sources() {
  static Sources* const instance = new Sources;
  return *instance;
}

Source source_of(uint64_t number) {
  if (number == 0) return {};
  Sources& all = all_sources();
  MutexLock lock(all.mu);
  return number <= all.sources.size() ? all.sources[number - 1] : Source{.name = "?"};
}

}  // namespace

uint64_t register_source(std::string_view name, bool is_file) {
  Sources& all = all_sources();
  MutexLock lock(all.mu);
  const uint64_t number = all.number_of(std::string(name));
  if (number != 0 && is_file) all.sources[number - 1].is_file = true;
  return number;
}

uint64_t register_files(std::string_view name, std::string_view identity, std::weak_ptr<const RecordFiles> files) {
  Sources& all = all_sources();
  MutexLock lock(all.mu);
  const uint64_t number = all.number_of(fmt::format("{}{}{}", name, '\0', identity));
  if (number == 0) return 0;
  auto& known = all.sources[number - 1].files;
  std::erase_if(known, [](const auto& one) { return one.expired(); });
  known.push_back(std::move(files));
  return number;
}

std::string source_key(uint64_t source) { return source_of(source).key; }

uint64_t register_source_key(std::string_view key) {
  Sources& all = all_sources();
  MutexLock lock(all.mu);
  return all.number_of(std::string(key));
}

std::string source_name(uint64_t source) { return source_of(source).name; }

std::string source_file(uint64_t source) {
  Source found = source_of(source);
  return found.is_file ? std::move(found.name) : "";
}

RecordPlace place_of(Provenance provenance) {
  Source source = source_of(provenance.source);
  for (const auto& known : source.files) {
    const auto files = known.lock();
    std::string path = files ? files->path_of(provenance.record) : "";
    if (!path.empty()) return {.source = std::move(path), .is_file = true, .is_whole = true};
  }
  return {.source = std::move(source.name), .record = provenance.record, .is_file = source.is_file};
}

std::string to_string(Provenance provenance) {
  const RecordPlace place = place_of(provenance);
  if (place.source.empty() || place.is_whole) return place.source;
  return fmt::format("{}, record {}", place.source, place.record);
}

}  // namespace headpond
