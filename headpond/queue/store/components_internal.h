// SPDX-License-Identifier: Apache-2.0
// What a queue's elements are made of: checks them, takes batches apart, and puts batches together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/queue/queue.h"

namespace headpond::internal {

/// What a queue's type asks of its components.
enum class Layout : uint8_t {
  fixed,          ///< Shapes, where given, are known.
  padded,         ///< Shapes are given and may have unknown dimensions, which batches pad.
  with_priority,  ///< As fixed; component 0 is an int64 scalar.
};

/// What there is of an element that is put together, or taken apart: one place per component.
using Parts = std::vector<std::optional<Tensor>>;
bool is_complete(const Parts& parts);

/// Row `i`, copied: one that shared its batch's memory would keep all of it alive. REQUIRES: as Tensor::row.
Tensor own_row(const Tensor& rows, int64_t i);

/// Payload bytes.
inline int64_t byte_size(const Element& element) {
  size_t total = 0;
  for (size_t i = 0; i < element.size(); ++i) total += element[i].byte_size();
  return static_cast<int64_t>(total);
}

class Components {
 public:
  /// Throws Exception(InvalidArgument) if there is no component, if shapes or names are of another count, a name occurs
  /// twice, or the shapes are not those of the layout.
  explicit Components(const QueueOptions& options, Layout layout = Layout::fixed);

  size_t count() const { return dtypes_.size(); }
  const std::vector<DType>& dtypes() const { return dtypes_; }
  const std::vector<Shape>& shapes() const { return shapes_; }
  const Element::Names& names() const { return names_; }
  /// Payload bytes of one element; -1 iff they are not fixed.
  int64_t element_bytes() const;

  /// ok iff `element` fits; then brings its fields into the components' order. InvalidArgument names the component, and
  /// what was expected and received.
  Result<void> check(Element& element) const {
    return fits_as_is(element, false) ? Result<void>() : check_fields(element, false);
  }
  /// The same for a batch; returns its number of rows.
  Result<int64_t> check_rows(Element& rows) const;
  /// The same for one component alone, of an element or a batch. REQUIRES: component < count().
  Result<void> check_field(size_t component, const Tensor& field, bool is_batch) const;
  /// Payload bytes of row `i` of a checked batch.
  int64_t row_bytes(const Element& rows, int64_t i) const;
  /// Row `i` of a checked batch, with memory of its own.
  Element row(const Element& rows, int64_t i) const;
  /// ok iff elements can be stacked: InvalidArgument unless shapes are given, Unimplemented for padding beyond rank 4.
  Result<void> check_can_stack() const;
  /// Makes `batch`, an empty element, memory for `count` elements stacked along a new first dimension. REQUIRES:
  /// check_can_stack(), no strings, no padding.
  void append_rows(int64_t count, Element& batch) const;
  /// Memory for `elements` stacked along a new first dimension, with the first one's key and provenance; strings are in
  /// it already. REQUIRES: check_can_stack(). Allocates all that the stack needs. Throws Exception(ResourceExhausted)
  /// for a padded shape that no memory holds.
  Element batch_for(std::span<const Element> elements) const;
  /// Brings the other values in. REQUIRES: `batch` is batch_for(elements).
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
