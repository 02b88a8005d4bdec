// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>
#include <unordered_map>

#include "headpond/base/mutex.h"
#include "headpond/base/status.h"

namespace headpond {
namespace {

constexpr size_t kMaxSources = (size_t{1} << 20) - 1;

struct Sources {
  Mutex mu;
  std::unordered_map<std::string, uint64_t> numbers HEADPOND_GUARDED_BY(mu);
  std::vector<std::string> names HEADPOND_GUARDED_BY(mu);
  std::vector<bool> are_files HEADPOND_GUARDED_BY(mu);
};

Sources& sources() {
  static Sources* const instance = new Sources;
  return *instance;
}

[[noreturn]] void refuse(const std::string& why) { throw Exception(Error(ErrorKind::InvalidArgument, why)); }

}  // namespace

uint64_t register_source(std::string_view name, bool is_file) {
  Sources& all = sources();
  MutexLock lock(all.mu);
  if (const auto found = all.numbers.find(std::string(name)); found != all.numbers.end()) {
    if (is_file) all.are_files[found->second - 1] = true;
    return found->second;
  }
  if (all.names.size() >= kMaxSources) return 0;
  all.names.emplace_back(name);
  all.are_files.push_back(is_file);
  all.numbers.emplace(name, all.names.size());
  return all.names.size();
}

std::string source_name(uint64_t source) {
  if (source == 0) return "";
  Sources& all = sources();
  MutexLock lock(all.mu);
  return source <= all.names.size() ? all.names[source - 1] : "?";
}

std::string source_file(uint64_t source) {
  if (source == 0) return "";
  Sources& all = sources();
  MutexLock lock(all.mu);
  return source <= all.names.size() && all.are_files[source - 1] ? all.names[source - 1] : "";
}

std::string to_string(Provenance provenance) {
  if (provenance.source == 0) return "";
  return fmt::format("{}, record {}", source_name(provenance.source), static_cast<uint64_t>(provenance.record));
}

Element::Element(std::vector<Tensor> fields) {
  reserve(fields.size());
  for (Tensor& field : fields) append(std::move(field));
}

Element Element::named(std::initializer_list<std::pair<std::string, Tensor>> fields) {
  Element element;
  std::vector<std::string> names;
  for (const auto& [name, field] : fields) {
    if (std::find(names.begin(), names.end(), name) != names.end()) refuse(fmt::format("the name '{}' twice", name));
    names.push_back(name);
    element.append(field);
  }
  element.names_ = std::make_shared<const std::vector<std::string>>(std::move(names));
  return element;
}

Element::Element(const Element& other) : key(other.key), provenance(other.provenance), names_(other.names_) {
  reserve(other.size_);
  for (size_t i = 0; i < other.size_; ++i) append(other.fields()[i]);
}

Element& Element::operator=(Element other) noexcept {
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

void Element::refuse_index(size_t i) const { refuse(fmt::format("field {} of an element of {}", i, size_)); }

const Tensor& Element::operator[](std::string_view name) const {
  if (!names_) refuse(fmt::format("field '{}' of an element whose fields have no names", name));
  const auto found = std::find(names_->begin(), names_->end(), name);
  if (found == names_->end()) refuse(fmt::format("no field '{}'; there are: {}", name, fmt::join(*names_, ", ")));
  return fields()[found - names_->begin()];
}

Tensor& Element::append_more(Tensor field) {
  reserve(size_ + 1);
  ++size_;
  return more_->emplace_back(std::move(field));
}

void Element::reserve_more(size_t size) {
  if (more_ == nullptr) {
    auto all = std::make_unique<std::vector<Tensor>>();
    all->reserve(std::max(size, 2 * kInline));
    auto* const from = const_cast<Tensor*>(inline_fields());
    all->assign(std::make_move_iterator(from), std::make_move_iterator(from + size_));
    std::destroy_n(from, size_);
    more_ = std::move(all);
  } else if (size > more_->capacity()) {
    more_->reserve(std::max(size, 2 * more_->capacity()));
  }
}

}  // namespace headpond
