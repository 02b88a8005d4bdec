// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/map_staging_area.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "headpond/queue/staging/staging_internal.h"

namespace headpond {
namespace internal {
namespace {

struct MapOptions : StagingOptions {
  bool ordered = false;
};

// Components that a call chose, in the components' order, with their names.
struct Chosen {
  std::vector<size_t> components;
  Element::Names names;
};

int64_t byte_size(const ComponentValues& parts) {
  int64_t total = 0;
  for (const auto& part : parts) total += part ? static_cast<int64_t>(part->byte_size()) : 0;
  return total;
}

bool is_empty(const ComponentValues& parts) {
  return std::ranges::none_of(parts, [](const auto& part) { return part.has_value(); });
}

// What one call puts, or what is inside under one key.
struct StagedEntry {
  ComponentValues parts;
  int64_t age = 0;  // The number of keys that were complete before this one.
  uint64_t element_key = 0;
  Provenance provenance = {};
};
using StagedEntries = std::map<int64_t, StagedEntry>;

}  // namespace

class MapStagingState : public std::enable_shared_from_this<MapStagingState> {
 public:
  using Options = MapOptions;

  explicit MapStagingState(Options options)
      : options_(normal(std::move(options))), components_(staging_components(options_, "MapStagingArea")) {}

  Result<void> put(int64_t key, Element element, const std::vector<int64_t>& indices, const Wait& wait);
  Result<Keyed> get(std::optional<int64_t> key, const std::vector<int64_t>& indices, bool takes, const Wait& wait);
  void clear();
  int64_t size();
  int64_t incomplete_size();
  int64_t bytes();
  int64_t waiting(CallKind kind) { return wait_queue_.waiting(kind); }
  StagingStats stats();
  void abandon() { wait_queue_.cancel(); }
  std::string label() const { return fmt::format("MapStagingArea '{}'", options_.name); }
  const std::string& name() const { return options_.name; }
  void must_agree(const Options& given) const {
    const Agreement agreement{fmt::format("shared MapStagingArea '{}'", given.shared_name)};
    agreement.on("ordered", options_.ordered, given.ordered);
    staging_must_agree(agreement, options_, given);
  }

  const HomeProcess home;

 private:
  Result<Chosen> chosen_by(const std::vector<int64_t>& indices) const;
  Result<Chosen> chosen_by_names(const Element& element, const std::vector<int64_t>& indices) const;
  Result<StagedEntry> entry_of(Element element, const std::vector<int64_t>& indices) const;
  bool try_put(int64_t key, StagedEntry& given, int64_t bytes, Result<void>& result) HEADPOND_REQUIRES(wait_queue_.mu);
  Result<void> check_new(int64_t key, const ComponentValues& given) HEADPOND_REQUIRES(wait_queue_.mu);
  void add(int64_t key, StagedEntry& given, bool completes) HEADPOND_REQUIRES(wait_queue_.mu);
  bool try_get(std::optional<int64_t> key, const Chosen& chosen, bool takes, Result<Keyed>& result)
      HEADPOND_REQUIRES(wait_queue_.mu);
  StagedEntries::iterator find(std::optional<int64_t> key) HEADPOND_REQUIRES(wait_queue_.mu);
  void take(StagedEntries::iterator from, const Chosen& chosen) HEADPOND_REQUIRES(wait_queue_.mu);

  std::string text();
  Error invalid(std::string_view why) const {
    return {ErrorKind::InvalidArgument, fmt::format("{}: {}", label(), why)};
  }

  const Options options_;
  const Components components_;
  WaitQueue wait_queue_;
  StagedEntries incomplete_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  StagedEntries complete_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  std::map<int64_t, int64_t> by_age_ HEADPOND_GUARDED_BY(wait_queue_.mu);  // Keys of complete_.
  int64_t completed_ HEADPOND_GUARDED_BY(wait_queue_.mu) = 0;
  int64_t bytes_ HEADPOND_GUARDED_BY(wait_queue_.mu) = 0;
  StagingCounters counters_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  StagingWaits waits_;
};

Result<Chosen> MapStagingState::chosen_by(const std::vector<int64_t>& indices) const {
  Chosen chosen{std::vector<size_t>(components_.count()), components_.names()};
  std::iota(chosen.components.begin(), chosen.components.end(), size_t{0});
  if (indices.empty()) return chosen;
  chosen.components.clear();
  std::vector<std::string> names;
  for (const int64_t index : indices) {
    if (index < 0 || std::cmp_greater_equal(index, components_.count())) {
      return fail(invalid(fmt::format("Index '{}' was out of bounds '{}'.", index, components_.count())));
    }
    const auto component = static_cast<size_t>(index);
    if (!chosen.components.empty() && chosen.components.back() >= component) {
      return fail(invalid(fmt::format("Indices are not strictly ordered: {}", fmt::join(indices, ", "))));
    }
    chosen.components.push_back(component);
    if (chosen.names) names.push_back((*chosen.names)[component]);
  }
  if (chosen.names) chosen.names = std::make_shared<const std::vector<std::string>>(std::move(names));
  return chosen;
}

Result<Chosen> MapStagingState::chosen_by_names(const Element& element, const std::vector<int64_t>& indices) const {
  const Element::Names& ours = components_.names();
  if (!element.names()) {
    return fail(invalid(fmt::format("expected an element named {{{}}} or by some of these, received one without names",
                                    fmt::join(*ours, ", "))));
  }
  std::vector<int64_t> named;
  for (const std::string& name : *element.names()) named.push_back(std::ranges::find(*ours, name) - ours->begin());
  std::ranges::sort(named);
  const bool agree = indices.empty() || indices == named;
  if (named.empty() || named.back() == std::ssize(*ours) || !agree) {
    const std::string at = indices.empty() ? "" : fmt::format(" at indices {}", fmt::join(indices, ", "));
    return fail(invalid(fmt::format("expected an element named {{{}}} or by some of these{}, received {{{}}}",
                                    fmt::join(*ours, ", "), at, fmt::join(*element.names(), ", "))));
  }
  return chosen_by(named);
}

// Checks what one call puts, and sorts its fields by component.
Result<StagedEntry> MapStagingState::entry_of(Element element, const std::vector<int64_t>& indices) const {
  const bool by_name = components_.names() != nullptr;
  if (!by_name && element.names()) {
    return fail(
        invalid(fmt::format("expected an element without names, received {{{}}}", fmt::join(*element.names(), ", "))));
  }
  const Result<Chosen> chosen = by_name ? chosen_by_names(element, indices) : chosen_by(indices);
  if (!chosen) return fail(chosen.error());
  if (element.size() != chosen->components.size()) {
    return fail(
        invalid(fmt::format("expected {} components{}, received {}", chosen->components.size(),
                            indices.empty() ? ", or the indices of some" : " as there are indices", element.size())));
  }
  StagedEntry entry{
      .parts = ComponentValues(components_.count()), .element_key = element.key, .provenance = element.provenance};
  for (size_t i = 0; i < chosen->components.size(); ++i) {
    Tensor& field = by_name ? element[(*chosen->names)[i]] : element[i];
    if (auto fits = components_.check_field(chosen->components[i], field, false); !fits) {
      return fail(invalid(fits.error().message()));
    }
    entry.parts[chosen->components[i]] = std::move(field);
  }
  return entry;
}

Result<void> MapStagingState::put(int64_t key, Element element, const std::vector<int64_t>& indices, const Wait& wait) {
  Result<StagedEntry> entry = entry_of(std::move(element), indices);
  if (!entry) return fail(entry.error());
  const int64_t bytes = byte_size(entry->parts);
  Result<void> result;
  const WaitResult waited = waits_.run(wait_queue_, CallKind::put, wait, [&](bool) HEADPOND_REQUIRES(wait_queue_.mu) {
    return try_put(key, *entry, bytes, result);
  });
  if (waited != WaitResult::go) return fail(wait_error("Put", waited, wait, text()));
  return result;
}

bool MapStagingState::try_put(int64_t key, StagedEntry& given, int64_t bytes, Result<void>& result) {
  result = check_new(key, given.parts);
  if (!result) return true;
  const auto known = incomplete_.find(key);
  ComponentValues all = given.parts;
  for (size_t i = 0; known != incomplete_.end() && i < all.size(); ++i) {
    if (!all[i]) all[i] = known->second.parts[i];
  }
  const int64_t limit = options_.memory_limit;
  if (limit > 0 && byte_size(all) > limit) {
    result = fail(above_memory_limit(byte_size(all), limit, fmt::format("{}, key '{}'", label(), key)));
    return true;
  }
  const bool completes = is_complete(all);
  if (limit > 0 && bytes > limit - bytes_) return false;
  if (completes && options_.capacity > 0 && std::cmp_greater_equal(complete_.size(), options_.capacity)) return false;
  add(key, given, completes);
  bytes_ += bytes;
  counters_.has_put(std::ssize(complete_), bytes_, completes);
  return true;
}

Result<void> MapStagingState::check_new(int64_t key, const ComponentValues& given) {
  const auto known = incomplete_.find(key);
  const bool inside = complete_.contains(key);
  for (size_t i = 0; i < given.size(); ++i) {
    if (!given[i] || (!inside && (known == incomplete_.end() || !known->second.parts[i]))) continue;
    return fail(ErrorKind::InvalidArgument,
                fmt::format("The tensor for index '{}' for key '{}' was already initialized: {} has the key {}", i, key,
                            label(), inside ? "complete" : "incomplete"));
  }
  return {};
}

// What may throw comes first.
void MapStagingState::add(int64_t key, StagedEntry& given, bool completes) {
  StagedEntries fresh;
  if (!incomplete_.contains(key)) {
    fresh.emplace(key, StagedEntry{.parts = ComponentValues(given.parts.size()),
                                   .element_key = given.element_key,
                                   .provenance = given.provenance});
  }
  std::map<int64_t, int64_t> age;
  if (completes) age.emplace(completed_, key);
  incomplete_.merge(fresh);
  StagedEntry& entry = incomplete_.find(key)->second;
  for (size_t i = 0; i < given.parts.size(); ++i) {
    if (given.parts[i]) entry.parts[i] = std::move(given.parts[i]);
  }
  if (!completes) return;
  entry.age = completed_++;
  by_age_.merge(age);
  complete_.insert(incomplete_.extract(key));
}

Result<Keyed> MapStagingState::get(std::optional<int64_t> key, const std::vector<int64_t>& indices, bool takes,
                                   const Wait& wait) {
  const Result<Chosen> chosen = chosen_by(indices);
  if (!chosen) return fail(chosen.error());
  Result<Keyed> result;
  bool is_new = takes;
  const WaitResult waited = waits_.run(wait_queue_, CallKind::take, wait, [&](bool) HEADPOND_REQUIRES(wait_queue_.mu) {
    if (std::exchange(is_new, false)) counters_.begins_to_get(std::ssize(complete_));
    return try_get(key, *chosen, takes, result);
  });
  if (waited == WaitResult::go) return result;
  const std::string operation = takes ? "Get" : "Peek";
  const std::string of = key ? fmt::format("{} of key '{}'", operation, *key) : operation;
  return fail(wait_error(of, waited, wait, text()));
}

bool MapStagingState::try_get(std::optional<int64_t> key, const Chosen& chosen, bool takes, Result<Keyed>& result) {
  const auto at = find(key);
  if (at == complete_.end()) return false;
  const StagedEntry& entry = at->second;
  Element element;
  for (const size_t component : chosen.components) {
    if (!entry.parts[component]) {
      result = fail(
          ErrorKind::InvalidArgument,
          fmt::format("Tensor at index '{}' for key '{}' has already been removed: {}", component, at->first, label()));
      return true;
    }
    element.append(*entry.parts[component]);
  }
  element.set_names(chosen.names);
  element.key = entry.element_key;
  element.provenance = entry.provenance;
  result = Keyed{at->first, std::move(element)};
  if (takes) take(at, chosen);
  return true;
}

StagedEntries::iterator MapStagingState::find(std::optional<int64_t> key) {
  if (key) return complete_.find(*key);
  return options_.ordered || complete_.empty() ? complete_.begin() : complete_.find(by_age_.begin()->second);
}

void MapStagingState::take(StagedEntries::iterator from, const Chosen& chosen) {
  StagedEntry& entry = from->second;
  for (const size_t component : chosen.components) {
    bytes_ -= static_cast<int64_t>(entry.parts[component]->byte_size());
    entry.parts[component].reset();
  }
  if (!is_empty(entry.parts)) return;
  by_age_.erase(entry.age);
  complete_.erase(from);
  counters_.has_taken();
}

void MapStagingState::clear() {
  StagedEntries dropped[2];  // Their memory goes back without the lock.
  MutexLock lock(wait_queue_.mu);
  dropped[0].swap(incomplete_);
  dropped[1].swap(complete_);
  by_age_.clear();
  bytes_ = 0;
  wait_queue_.serve();
}

int64_t MapStagingState::size() {
  MutexLock lock(wait_queue_.mu);
  return std::ssize(complete_);
}

int64_t MapStagingState::incomplete_size() {
  MutexLock lock(wait_queue_.mu);
  return std::ssize(incomplete_);
}

int64_t MapStagingState::bytes() {
  MutexLock lock(wait_queue_.mu);
  return bytes_;
}

StagingStats MapStagingState::stats() {
  MutexLock lock(wait_queue_.mu);
  StagingStats all{.capacity = options_.capacity, .size = std::ssize(complete_), .bytes = bytes_};
  counters_.add_to(all);
  waits_.add_to(all);
  return all;
}

std::string MapStagingState::text() {
  return fmt::format(
      "{} has {} complete keys of capacity {}, {} incomplete ones, {} bytes of memory_limit {} (-1: unbounded)",
      label(), size(), options_.capacity, incomplete_size(), bytes(), options_.memory_limit);
}

}  // namespace internal

using State = internal::MapStagingState;

MapStagingArea::MapStagingArea(StagingOptions options, bool ordered)
    : state_(internal::Stores<State>::instance().find_or_make({std::move(options), ordered}, "MapStagingArea")) {}

Result<void> MapStagingArea::put(int64_t key, Element element, const std::vector<int64_t>& indices, Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.put(key, std::move(element), indices, wait); });
}
Result<Keyed> MapStagingArea::get(std::optional<int64_t> key, const std::vector<int64_t>& indices, Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.get(key, indices, true, wait); });
}
Result<Element> MapStagingArea::peek(int64_t key, const std::vector<int64_t>& indices, Wait wait) const {
  return internal::call_on(state_, [&](State& state) -> Result<Element> {
    Result<Keyed> found = state.get(key, indices, false, wait);
    if (!found) return fail(found.error());
    return std::move(found->element);
  });
}
void MapStagingArea::clear() const { state_->clear(); }
int64_t MapStagingArea::size() const { return state_->size(); }
int64_t MapStagingArea::incomplete_size() const { return state_->incomplete_size(); }
int64_t MapStagingArea::bytes() const { return state_->bytes(); }
int64_t MapStagingArea::waiting_puts() const { return state_->waiting(internal::CallKind::put); }
int64_t MapStagingArea::waiting_gets() const { return state_->waiting(internal::CallKind::take); }
StagingStats MapStagingArea::stats() const { return internal::with_waiting(state_->stats(), *state_); }
const std::string& MapStagingArea::name() const { return state_->name(); }

}  // namespace headpond
