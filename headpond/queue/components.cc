// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

#include "headpond/queue/components_internal.h"

namespace headpond::internal {
namespace {

[[noreturn]] void refuse(std::string why) { throw Exception(Error(ErrorKind::InvalidArgument, std::move(why))); }

Tensor stack_bytes(std::span<const Element> elements, size_t component, const Shape& shape) {
  std::vector<std::string_view> values;
  for (const Element& element : elements) {
    for (int64_t i = 0; i < element[component].size(); ++i) values.push_back(element[component].bytes_at(i));
  }
  return Tensor::from(values, shape);
}

}  // namespace

Components::Components(const QueueOptions& options) : dtypes_(options.dtypes), shapes_(options.shapes) {
  if (dtypes_.empty()) refuse("a queue without dtypes: its elements have at least one component");
  if (!shapes_.empty() && shapes_.size() != dtypes_.size()) {
    refuse(fmt::format("{} shapes for {} dtypes: give none, or one per component", shapes_.size(), dtypes_.size()));
  }
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (!shapes_[i].is_full()) {
      refuse(fmt::format("shape {} of component {}: an unknown dimension needs a PaddingFIFOQueue",
                         shapes_[i].to_string(), i));
    }
  }
  if (options.names.empty()) return;
  if (options.names.size() != dtypes_.size()) {
    refuse(
        fmt::format("{} names for {} dtypes: give none, or one per component", options.names.size(), dtypes_.size()));
  }
  if (std::set<std::string>(options.names.begin(), options.names.end()).size() != options.names.size()) {
    refuse(fmt::format("a name occurs twice in: {}", fmt::join(options.names, ", ")));
  }
  names_ = std::make_shared<const std::vector<std::string>>(options.names);
}

int64_t Components::element_bytes() const {
  if (shapes_.empty()) return -1;
  int64_t total = 0;
  for (size_t i = 0; i < count(); ++i) {
    int64_t own = 0;
    if (dtypes_[i] == DType::bytes || !shapes_[i].size() ||
        __builtin_mul_overflow(*shapes_[i].size(), static_cast<int64_t>(item_size(dtypes_[i])), &own) ||
        __builtin_add_overflow(total, own, &total)) {
      return -1;
    }
  }
  return total;
}

std::string Components::label(size_t component) const {
  return names_ ? fmt::format("component {} ('{}')", component, (*names_)[component])
                : fmt::format("component {}", component);
}

Result<void> Components::order_by_name(Element& element) const {
  const Element::Names& given = element.names();
  if (given == names_) return {};
  if (!given || !names_) {
    return fail(
        ErrorKind::InvalidArgument,
        names_ ? fmt::format("expected an element named {{{}}}, received one without names", fmt::join(*names_, ", "))
               : fmt::format("expected an element without names, received {{{}}}", fmt::join(*given, ", ")));
  }
  if (!std::is_permutation(given->begin(), given->end(), names_->begin(), names_->end())) {
    return fail(ErrorKind::InvalidArgument, fmt::format("expected an element named {{{}}}, received {{{}}}",
                                                        fmt::join(*names_, ", "), fmt::join(*given, ", ")));
  }
  Element ordered;
  ordered.key = element.key;
  ordered.origin = element.origin;
  for (const std::string& name : *names_) ordered.append(std::move(element[name]));
  ordered.set_names(names_);
  element = std::move(ordered);
  return {};
}

Result<void> Components::check_fields(Element& element, bool is_batch) const {
  if (element.names() || names_) HEADPOND_TRY(order_by_name(element));
  if (element.size() != count()) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("expected {} components, received {}", count(), element.size()));
  }
  for (size_t i = 0; i < count(); ++i) {
    const Tensor& field = element[i];
    if (field.dtype() != dtypes_[i]) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected dtype {}, received {}", label(i),
                                                          headpond::name(dtypes_[i]), headpond::name(field.dtype())));
    }
    if (is_batch && field.rank() == 0) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected a batch of rows, received a scalar", label(i)));
    }
    if (shapes_.empty()) continue;
    if (is_batch ? field.shape().row() == shapes_[i] : field.has_shape(shapes_[i])) continue;
    const Shape expected = is_batch ? shapes_[i].stacked(kUnknown) : shapes_[i];
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected shape {}, received {}", label(i),
                                                        expected.to_string(), field.shape().to_string()));
  }
  return {};
}

Result<void> Components::check(Element& element) const { return check_fields(element, false); }

Result<int64_t> Components::check_rows(Element& rows) const {
  HEADPOND_TRY(check_fields(rows, true));
  const int64_t count_of_first = rows[0].dim(0);
  for (size_t i = 1; i < count(); ++i) {
    if (rows[i].dim(0) == count_of_first) continue;
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected {} rows as component 0 has, received {}",
                                                        label(i), count_of_first, rows[i].dim(0)));
  }
  return count_of_first;
}

Element Components::row(const Element& rows, int64_t i) const {
  Element element;
  element.key = rows.key;
  element.origin = rows.origin;
  for (size_t c = 0; c < count(); ++c) {
    Tensor shared = rows[c].row(i);
    if (shared.owner() != rows[c].owner() || dtypes_[c] == DType::bytes) {
      element.append(std::move(shared));  // Small ones and strings are copies already.
      continue;
    }
    // A row that shared its batch's memory would keep all of it alive.
    Tensor copy = Tensor::empty(dtypes_[c], shared.shape());
    if (shared.byte_size() != 0) std::memcpy(copy.mutable_data(), shared.data(), shared.byte_size());
    element.append(std::move(copy));
  }
  return element;
}

Result<void> Components::check_can_stack() const {
  if (!shapes_.empty()) return {};
  return fail(ErrorKind::InvalidArgument, "elements of unknown shapes cannot be stacked: give the queue its shapes");
}

Element Components::batch_for(std::span<const Element> elements) const {
  Element batch;
  if (!elements.empty()) {
    batch.key = elements.front().key;
    batch.origin = elements.front().origin;
  }
  for (size_t c = 0; c < count(); ++c) {
    const Shape shape = shapes_[c].stacked(static_cast<int64_t>(elements.size()));
    batch.append(dtypes_[c] == DType::bytes ? stack_bytes(elements, c, shape) : Tensor::empty(dtypes_[c], shape));
  }
  batch.set_names(names_);
  return batch;
}

void Components::fill(Element& batch, std::span<const Element> elements) const {
  for (size_t c = 0; c < count(); ++c) {
    if (dtypes_[c] == DType::bytes) continue;
    std::byte* to = batch[c].mutable_data();
    for (const Element& element : elements) {
      const size_t size = element[c].byte_size();
      if (size != 0) std::memcpy(to, element[c].data(), size);
      to += size;
    }
  }
}

}  // namespace headpond::internal
