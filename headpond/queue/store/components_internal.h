// SPDX-License-Identifier: Apache-2.0
// The components of a queue's elements: checks elements, splits batches into rows, and stacks elements to batches.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue_options.h"

namespace headpond::internal {

/// What a type of queue requires of its components.
enum class Layout : uint8_t {
  fixed,          ///< Shapes, if given, are fully known.
  padded,         ///< Shapes are given; unknown dimensions are padded in batches.
  with_priority,  ///< Like fixed, and component 0 is an int64 scalar.
};

/// The components of an element that is assembled, or taken apart: one entry per component.
using ComponentValues = std::vector<std::optional<Tensor>>;
bool is_complete(const ComponentValues& parts);

/// A copy of row `i`: sharing the memory would keep the whole batch alive. REQUIRES: as Tensor::row.
Tensor own_row(const Tensor& rows, int64_t i);

/// Bytes of the payload of `element`.
inline int64_t byte_size(const Element& element) {
  size_t total = 0;
  for (size_t i = 0; i < element.size(); ++i) total += element[i].byte_size();
  return static_cast<int64_t>(total);
}

class Components {
 public:
  /// Throws Exception(InvalidArgument) if there is no component, if there are more or fewer shapes or names, if a name
  /// occurs twice, or if the shapes do not fit the layout.
  explicit Components(const QueueOptions& options, Layout layout = Layout::fixed);

  size_t count() const { return dtypes_.size(); }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const Element::Names& names() const { return names_; }
  /// Bytes of an element's payload; -1 iff elements differ.
  int64_t element_bytes() const;

  /// Returns ok iff `element` fits; its fields are then in the order of the components. InvalidArgument names the
  /// component and what was expected and received.
  Result<void> check(Element& element) const {
    return fits_as_is(element, false) ? Result<void>() : check_fields(element, false);
  }
  /// The same for a batch; returns the number of its rows.
  Result<int64_t> check_rows(Element& rows) const;
  /// The same for one component of an element or a batch. REQUIRES: component < count().
  Result<void> check_field(size_t component, const Tensor& field, bool is_batch) const;
  /// Bytes of the payload of row `i` of a checked batch.
  int64_t row_bytes(const Element& rows, int64_t i) const;
  /// Row `i` of a checked batch, with memory of its own.
  Element row(const Element& rows, int64_t i) const;
  /// Returns ok iff elements can be stacked. InvalidArgument without shapes; Unimplemented for padding above rank 4.
  Result<void> check_can_stack() const;
  /// Appends to `batch`, which is empty, tensors for `count` stacked elements, without values. REQUIRES:
  /// check_can_stack(), no strings, no padding.
  void append_rows(int64_t count, Element& batch) const;
  /// Memory for `elements` stacked along a new first dimension, with the first one's key and provenance; strings are in
  /// it already. REQUIRES: check_can_stack(). Allocates all that the stack needs. Throws Exception(ResourceExhausted)
  /// for a padded shape that no memory holds.
  Element batch_for(std::span<const Element> elements) const;
  /// Copies the other values. REQUIRES: `batch` is batch_for(elements).
  void fill(Element& batch, std::span<const Element> elements) const;

 private:
  bool fits_as_is(const Element& element, bool is_batch) const {
    if (element.names() != names_ || element.size() != dtypes_.size() || shapes_.empty()) return false;
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      const Tensor& field = element[i];
      if (field.dtype() != dtypes_[i]) return false;
      if (!(is_batch ? field.has_rows_of(shapes_[i]) : field.has_shape(shapes_[i]))) return false;
    }
    return true;
  }
  Result<void> check_fields(Element& element, bool is_batch) const;
  Result<void> order_by_name(Element& element) const;
  std::string label(size_t component) const;
  void check_shapes() const;
  std::string_view counted_in() const { return layout_ == Layout::with_priority ? ", the priority counted in" : ""; }
  bool fits(size_t component, const Tensor& field, bool is_batch) const;
  Shape batch_shape(std::span<const Element> elements, size_t component) const;
  bool pads(size_t component) const { return layout_ == Layout::padded && !shapes_[component].is_full(); }

  const Layout layout_;
  std::vector<DType> dtypes_;
  std::vector<Shape> shapes_;
  Element::Names names_;
};

}  // namespace headpond::internal
