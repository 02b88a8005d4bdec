// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/element.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "headpond/base/status.h"

namespace headpond {
namespace {

[[noreturn]] void refuse_field(const std::string& why) { throw Exception(Error(ErrorKind::InvalidArgument, why)); }

}  // namespace

Element::Element(std::vector<Tensor> fields) {
  reserve(fields.size());
  for (Tensor& field : fields) append(std::move(field));
}

Element Element::named(std::initializer_list<std::pair<std::string, Tensor>> fields) {
  Element element;
  std::vector<std::string> names;
  for (const auto& [name, field] : fields) {
    if (std::find(names.begin(), names.end(), name) != names.end())
      refuse_field(fmt::format("the name '{}' twice", name));
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

void Element::refuse_index(size_t i) const { refuse_field(fmt::format("field {} of an element of {}", i, size_)); }

const Tensor& Element::operator[](std::string_view name) const {
  if (!names_) refuse_field(fmt::format("field '{}' of an element whose fields have no names", name));
  const auto found = std::find(names_->begin(), names_->end(), name);
  if (found == names_->end()) refuse_field(fmt::format("no field '{}'; there are: {}", name, fmt::join(*names_, ", ")));
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
