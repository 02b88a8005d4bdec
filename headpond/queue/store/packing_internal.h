// SPDX-License-Identifier: Apache-2.0
// How a queue stores its elements in plain memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "headpond/tensor/element.h"

namespace headpond::internal {

/// pack() moves an element into memory, unpack() moves it out; in between its bytes may be moved with memcpy.
///
/// A packed element begins with 16 bytes: its key and provenance. If all components are small and of known shape, the
/// element is plain: the values themselves follow. Otherwise the 48 bytes of each Tensor follow; an element of one
/// component then fills one cache line.
class Packing {
 public:
  /// `shapes`: one per component, or empty if they are not known.
  Packing(const std::vector<DType>& dtypes, const std::vector<Shape>& shapes);

  size_t components() const { return components_; }
  bool is_plain() const { return !fields_.empty(); }
  size_t bytes() const { return bytes_; }  ///< Size of a packed element; a multiple of 8.

  /// REQUIRES: `element` has the components.
  void pack(Element&& element, std::byte* slot) const {
    write_identity(element, slot);
    if (is_plain()) {
      for (size_t i = 0; i < components_; ++i)
        copy(slot + fields_[i].offset, std::as_const(element)[i].data(), fields_[i].size);
    } else {
      for (size_t i = 0; i < components_; ++i) {
        const Tensor::Rep rep = std::move(element[i]).release();
        std::memcpy(slot + kHeader + i * sizeof(rep), &rep, sizeof(rep));
      }
    }
  }
  /// Bytes of the payload of packed elements that lie side by side. REQUIRES: not is_plain().
  int64_t payload_bytes(std::span<const std::byte> slots) const;
  /// Destroys a packed element.
  void destroy(const std::byte* slot) const;
  /// `element` is empty. REQUIRES: memory for its components is reserved, so that this cannot fail.
  [[gnu::always_inline]] void unpack(const std::byte* slot, Element& element) const {
    read_identity(slot, element);
    if (is_plain()) {
      for (const Field& field : fields_) {  // A value goes where it stays: a tensor just written is slow to copy.
        const Tensor& added = element.append(Tensor::adopt(field.like));
        copy(const_cast<std::byte*>(added.data()), slot + field.offset, field.size);  // Its payload lies inside it.
      }
      return;
    }
    for (size_t i = 0; i < components_; ++i) {
      Tensor::Rep rep;
      std::memcpy(&rep, slot + kHeader + i * sizeof(rep), sizeof(rep));
      element.append(Tensor::adopt(rep));
    }
  }

  /// Packs rows [first, first + count) of a batch, `stride` bytes apart. REQUIRES: is_plain(), `rows` has the
  /// components.
  void pack_rows(const Element& rows, int64_t first, int64_t count, std::byte* slot, size_t stride) const;
  /// Copies the values of `count` elements, `stride` bytes apart, into rows [first, first + count) of `batch`, whose
  /// tensors are large enough. REQUIRES: is_plain().
  void unpack_rows(const std::byte* slot, size_t stride, int64_t first, int64_t count, Element& batch) const;
  /// Sets the key and the provenance of `element` to the packed element's.
  static void read_identity(const std::byte* slot, Element& element) {
    std::memcpy(&element.key, slot, sizeof(element.key));
    std::memcpy(&element.provenance, slot + sizeof(element.key), sizeof(element.provenance));
  }
  /// The first component's value. REQUIRES: it is an int64 scalar.
  int64_t first_value(const std::byte* slot) const;

 private:
  static constexpr size_t kHeader = sizeof(uint64_t) + sizeof(Provenance);
  /// A component of a plain element.
  struct Field {
    size_t offset, size;
    Tensor::Rep like;  // The tensor without its values.
  };

  static void write_identity(const Element& element, std::byte* slot) {
    std::memcpy(slot, &element.key, sizeof(element.key));
    std::memcpy(slot + sizeof(element.key), &element.provenance, sizeof(element.provenance));
  }
  // Most values have 8 or 4 bytes: then this is one instruction.
  static void copy(std::byte* to, const std::byte* from, size_t size) {
    if (size == 8) {
      std::memcpy(to, from, 8);
    } else if (size == 4) {
      std::memcpy(to, from, 4);
    } else if (size != 0) {  // `from` may be null otherwise.
      std::memcpy(to, from, size);
    }
  }

  const size_t components_;
  std::vector<Field> fields_;  // Empty: not plain.
  size_t bytes_;
};

}  // namespace headpond::internal
