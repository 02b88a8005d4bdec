// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <string_view>

#include "headpond/queue/store/components_internal.h"
#include "headpond/tensor/padding.h"

namespace headpond::internal {
namespace {

[[noreturn]] void refuse(std::string why) { throw Exception(Error(ErrorKind::InvalidArgument, std::move(why))); }

constexpr int kMostPaddedRank = 4;
constexpr int64_t kMostPaddedValues = int64_t{1} << 56;

Tensor stack_bytes(std::span<const Element> elements, size_t component, const Shape& shape) {
  std::vector<std::string_view> values;
  for (const Element& element : elements) {
    for (int64_t i = 0; i < element[component].size(); ++i) values.push_back(element[component].bytes_at(i));
  }
  return Tensor::from(values, shape);
}

Tensor stack_padded_bytes(std::span<const Element> elements, size_t component, const Shape& shape) {
  std::vector<std::string_view> values;
  const Shape row = shape.row();
  for (const Element& element : elements) append_padded(element[component], row, values);
  return Tensor::from(values, shape);
}

void fill_padded(Tensor& batch, std::span<const Element> elements, size_t component) {
  std::array<int64_t, kMostPaddedRank> dims{};  // Not batch.shape().row(): that may allocate.
  const auto rank = static_cast<size_t>(batch.rank() - 1);
  for (size_t axis = 0; axis < rank; ++axis) dims[axis] = batch.dim(static_cast<int>(axis) + 1);
  const Shape row(std::span<const int64_t>(dims.data(), rank));
  std::byte* to = batch.mutable_data();
  for (const Element& element : elements) {
    write_padded(element[component], row, PaddingValue{}, to);
    to += static_cast<size_t>(row.size().value_or(0)) * item_size(batch.dtype());
  }
}

}  // namespace

Components::Components(const QueueOptions& options, Layout layout)
    : layout_(layout), dtypes_(options.dtypes), shapes_(options.shapes) {
  if (dtypes_.empty()) refuse("without dtypes: elements have at least one component");
  check_shapes();
  if (options.names.empty()) return;
  if (options.names.size() != dtypes_.size()) {
    refuse(fmt::format("{} names for {} dtypes{}: give none, or one per component", options.names.size(),
                       dtypes_.size(), counted_in()));
  }
  if (std::set<std::string>(options.names.begin(), options.names.end()).size() != options.names.size()) {
    refuse(fmt::format("a name occurs twice in: {}", fmt::join(options.names, ", ")));
  }
  names_ = std::make_shared<const std::vector<std::string>>(options.names);
}

void Components::check_shapes() const {
  if (shapes_.empty() && layout_ == Layout::padded) {
    refuse("a PaddingFIFOQueue without shapes: it needs one per component, with kUnknown where a dimension differs");
  }
  if (!shapes_.empty() && shapes_.size() != dtypes_.size()) {
    refuse(fmt::format("{} shapes for {} dtypes{}: give none, or one per component", shapes_.size(), dtypes_.size(),
                       counted_in()));
  }
  for (size_t i = 0; i < shapes_.size(); ++i) {
    if (layout_ == Layout::padded || shapes_[i].is_full()) continue;
    refuse(fmt::format("shape {} of component {}: an unknown dimension needs a PaddingFIFOQueue",
                       shapes_[i].to_string(), i));
  }
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
  ordered.provenance = element.provenance;
  for (const std::string& name : *names_) ordered.append(std::move(element[name]));
  ordered.set_names(names_);
  element = std::move(ordered);
  return {};
}

bool Components::fits(size_t component, const Tensor& field, bool is_batch) const {
  if (shapes_.empty()) {
    return layout_ != Layout::with_priority || component > 0 || field.rank() == (is_batch ? 1 : 0);
  }
  const Shape& shape = shapes_[component];
  if (is_batch) return shape.admits(field.shape().row());
  return field.has_shape(shape) || shape.admits(field.shape());
}

Result<void> Components::check_fields(Element& element, bool is_batch) const {
  if (element.names() || names_) HEADPOND_TRY(order_by_name(element));
  if (element.size() != count()) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("expected {} components, received {}", count(), element.size()));
  }
  for (size_t i = 0; i < count(); ++i) {
    if (auto fits = check_field(i, element[i], is_batch); !fits) return fits;
  }
  return {};
}

Result<void> Components::check_field(size_t component, const Tensor& field, bool is_batch) const {
  if (field.dtype() != dtypes_[component]) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: expected dtype {}, received {}", label(component), headpond::name(dtypes_[component]),
                            headpond::name(field.dtype())));
  }
  if (is_batch && field.rank() == 0) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: expected a batch of rows, received a scalar", label(component)));
  }
  if (fits(component, field, is_batch)) return {};
  const Shape one = shapes_.empty() ? Shape() : shapes_[component];
  const Shape expected = is_batch ? one.stacked(kUnknown) : one;
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected shape {}, received {}", label(component),
                                                      expected.to_string(), field.shape().to_string()));
}

Result<int64_t> Components::check_rows(Element& rows) const {
  if (!fits_as_is(rows, true)) HEADPOND_TRY(check_fields(rows, true));
  const int64_t count_of_first = rows[0].dim(0);
  for (size_t i = 1; i < count(); ++i) {
    if (rows[i].dim(0) == count_of_first) continue;
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected {} rows as component 0 has, received {}",
                                                        label(i), count_of_first, rows[i].dim(0)));
  }
  return count_of_first;
}

bool is_complete(const ComponentValues& parts) {
  return std::ranges::all_of(parts, [](const auto& part) { return part.has_value(); });
}

Tensor own_row(const Tensor& rows, int64_t i) {
  Tensor shared = rows.row(i);
  if (shared.owner() != rows.owner() || rows.dtype() == DType::bytes) return shared;  // A copy already.
  Tensor copy = Tensor::empty(rows.dtype(), shared.shape());
  if (shared.byte_size() != 0) std::memcpy(copy.mutable_data(), shared.data(), shared.byte_size());
  return copy;
}

int64_t Components::row_bytes(const Element& rows, int64_t i) const {
  size_t total = 0;
  for (size_t c = 0; c < count(); ++c) total += rows[c].row(i).byte_size();
  return static_cast<int64_t>(total);
}

Element Components::row(const Element& rows, int64_t i) const {
  Element element;
  element.key = rows.key;
  element.provenance = rows.provenance;
  for (size_t c = 0; c < count(); ++c) element.append(own_row(rows[c], i));
  return element;
}

Result<void> Components::check_can_stack() const {
  if (shapes_.empty()) {
    return fail(ErrorKind::InvalidArgument, "elements of unknown shapes cannot be stacked: give the queue its shapes");
  }
  for (size_t i = 0; layout_ == Layout::padded && i < count(); ++i) {
    if (!pads(i) || shapes_[i].rank() <= kMostPaddedRank) continue;
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: shape {} of rank {} cannot be padded, only up to rank {}", label(i),
                            shapes_[i].to_string(), shapes_[i].rank(), kMostPaddedRank));
  }
  return {};
}

Shape Components::batch_shape(std::span<const Element> elements, size_t component) const {
  const auto rows = static_cast<int64_t>(elements.size());
  if (!pads(component)) return shapes_[component].stacked(rows);
  Shape shape = common_shape(shapes_[component], elements, component).stacked(rows);
  if (shape.size().value_or(kMostPaddedValues) >= kMostPaddedValues) {
    throw Exception(Error(ErrorKind::ResourceExhausted,
                          fmt::format("{}: a batch padded to {} is too large", label(component), shape.to_string())));
  }
  return shape;
}

Element Components::batch_for(std::span<const Element> elements) const {
  Element batch;
  if (!elements.empty()) {
    batch.key = elements.front().key;
    batch.provenance = elements.front().provenance;
  }
  for (size_t c = 0; c < count(); ++c) {
    const Shape shape = batch_shape(elements, c);
    if (dtypes_[c] != DType::bytes) {
      batch.append(Tensor::empty(dtypes_[c], shape));
    } else {
      batch.append(pads(c) ? stack_padded_bytes(elements, c, shape) : stack_bytes(elements, c, shape));
    }
  }
  batch.set_names(names_);
  return batch;
}

void Components::append_rows(int64_t count, Element& batch) const {
  batch.reserve(this->count());
  for (size_t c = 0; c < this->count(); ++c) batch.append(Tensor::empty(dtypes_[c], shapes_[c].stacked(count)));
  batch.set_names(names_);
}

void Components::fill(Element& batch, std::span<const Element> elements) const {
  for (size_t c = 0; c < count(); ++c) {
    if (dtypes_[c] == DType::bytes) continue;
    if (pads(c)) {
      fill_padded(batch[c], elements, c);
      continue;
    }
    std::byte* to = batch[c].mutable_data();
    for (const Element& element : elements) {
      const size_t size = element[c].byte_size();
      if (size != 0) std::memcpy(to, element[c].data(), size);
      to += size;
    }
  }
}

}  // namespace headpond::internal
