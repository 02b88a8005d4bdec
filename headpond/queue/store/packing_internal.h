// SPDX-License-Identifier: Apache-2.0
// How a queue's elements lie in plain memory, where they may be copied about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// pack() moves an element's ownership into memory, unpack() moves it out; in between its bytes may be copied about.
///
/// Elements of known small tensors are plain: 16 bytes of identity, then the values themselves, of a line's neighbours
/// side by side. Of others the 48 bytes of each tensor follow the identity: an element of one component is one cache
/// line.
class Packing {
 public:
  /// `shapes`: empty (not known), or one per component.
  Packing(const std::vector<DType>& dtypes, const std::vector<Shape>& shapes);

  size_t components() const { return components_; }
  bool is_plain() const { return !fields_.empty(); }
  size_t bytes() const { return bytes_; }  ///< Of one element; a multiple of 8.

  /// REQUIRES: `element` has the components.
  void pack(Element&& element, std::byte* place) const {
    write_identity(element, place);
    if (is_plain()) {
      for (size_t i = 0; i < components_; ++i)
        copy(place + fields_[i].offset, std::as_const(element)[i].data(), fields_[i].size);
    } else {
      for (size_t i = 0; i < components_; ++i) {
        const Tensor::Rep rep = std::move(element[i]).release();
        std::memcpy(place + kHeader + i * sizeof(rep), &rep, sizeof(rep));
      }
    }
  }
  /// Payload bytes of the packed elements from `places` on. REQUIRES: not is_plain().
  int64_t payload_bytes(std::span<const std::byte> places) const;
  /// Destroys an element.
  void destroy(const std::byte* place) const;
  /// `element` is a new one. Throws std::bad_alloc, having moved nothing, only for more than four components.
  void unpack(const std::byte* place, Element& element) const {
    element.reserve(components_);
    read_identity(place, element);
    if (is_plain()) {
      for (const Field& field : fields_) {  // A value goes where it stays: a tensor just written is slow to copy.
        copy(element.append(Tensor::adopt(field.like)).mutable_data(), place + field.offset, field.size);
      }
      return;
    }
    for (size_t i = 0; i < components_; ++i) {
      Tensor::Rep rep;
      std::memcpy(&rep, place + kHeader + i * sizeof(rep), sizeof(rep));
      element.append(Tensor::adopt(rep));
    }
  }

  /// Rows [first, first + count) of a batch that has the components, `stride` bytes apart. REQUIRES: is_plain().
  void pack_rows(const Element& rows, int64_t first, int64_t count, std::byte* place, size_t stride) const;
  /// Copies the values of `count` elements, `stride` bytes apart, into rows [first, first + count) of `batch`, whose
  /// tensors are large enough. REQUIRES: is_plain().
  void unpack_rows(const std::byte* place, size_t stride, int64_t first, int64_t count, Element& batch) const;
  /// Makes `element` the one that `place` identifies.
  static void read_identity(const std::byte* place, Element& element) {
    std::memcpy(&element.key, place, sizeof(element.key));
    std::memcpy(&element.provenance, place + sizeof(element.key), sizeof(element.provenance));
  }
  /// The first component's value. REQUIRES: it is an int64 scalar.
  int64_t first_value(const std::byte* place) const;

 private:
  static constexpr size_t kHeader = sizeof(uint64_t) + sizeof(Provenance);
  /// Where a plain element's component lies.
  struct Field {
    size_t offset, size;
    Tensor::Rep like;  // The tensor, but for its value.
  };

  static void write_identity(const Element& element, std::byte* place) {
    std::memcpy(place, &element.key, sizeof(element.key));
    std::memcpy(place + sizeof(element.key), &element.provenance, sizeof(element.provenance));
  }
  // Most values are of 8 or 4 bytes: then it is one move.
  static void copy(std::byte* to, const std::byte* from, size_t size) {
    if (size == 8) {
      std::memcpy(to, from, 8);
    } else if (size == 4) {
      std::memcpy(to, from, 4);
    } else if (size != 0) {  // Else `from` may be null.
      std::memcpy(to, from, size);
    }
  }

  const size_t components_;
  std::vector<Field> fields_;  // Empty: not plain.
  size_t bytes_;
};

}  // namespace headpond::internal
