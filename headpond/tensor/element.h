// SPDX-License-Identifier: Apache-2.0
// Element: a sample or a batch, as a few tensors, with names or without, and where they came from.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// A field of the elements of a queue or a dataset. Dimensions may be kUnknown.
struct FieldSpec {
  std::string name;
  DType dtype;
  Shape shape;
};
using Spec = std::vector<FieldSpec>;

/// Memory to which the caller would like a field to be written, for example a row of a batch.
struct OutputSlot {
  std::byte* data = nullptr;        ///< Null: none.
  const FieldSpec* spec = nullptr;  ///< The field's; its shape is full.
};
using OutputSlots = std::span<const OutputSlot>;  ///< One per field, or none.

/// Where an element came from, for error messages: a record of a registered source. 8 bytes.
struct Provenance {
  uint64_t source : 20 = 0;  ///< From register_source; 0: unknown.
  uint64_t record : 44 = 0;  ///< The record's number in the source.
};

/// The number of a source (a file, a generator); equal names give equal numbers. 0, "unknown", for all sources after
/// the first 2^20 - 1. `is_file`: the name is that of a file; once said, it holds. Thread-safe.
uint64_t register_source(std::string_view name, bool is_file = false);
/// The name that was registered; empty iff the source is unknown. Thread-safe.
std::string source_name(uint64_t source);
/// The name of a file; empty iff the source is unknown or no file. Thread-safe.
std::string source_file(uint64_t source);
/// "train.tfrecord, record 17"; empty iff the source is unknown. Thread-safe.
std::string to_string(Provenance provenance);

/// A tuple of tensors. Up to four lie inside the element, so that making and moving one allocates nothing. Several
/// threads may read an element at once; changing it requires exclusive access.
class Element {
 public:
  using Names = std::shared_ptr<const std::vector<std::string>>;

  Element() {}                // Not defaulted: that would clear 192 bytes.  NOLINT(modernize-use-equals-default)
  template <class... Fields>  // Not an initializer_list: tensors could only be copied out of it.
    requires(sizeof...(Fields) > 0 && (std::same_as<std::remove_cvref_t<Fields>, Tensor> && ...))
  Element(Fields&&... fields) {
    reserve(sizeof...(fields));
    (append(std::forward<Fields>(fields)), ...);
  }
  explicit Element(std::vector<Tensor> fields);
  /// Throws Exception(InvalidArgument) iff a name occurs twice.
  static Element named(std::initializer_list<std::pair<std::string, Tensor>> fields);
  Element(const Element& other);
  Element(Element&& other) noexcept
      : key(other.key),
        provenance(other.provenance),
        size_(std::exchange(other.size_, 0)),
        names_(std::move(other.names_)),
        more_(std::move(other.more_)) {
    // A tensor may be moved as plain memory.
    for (size_t i = 0; i < size_ && more_ == nullptr; ++i) {
      std::memcpy(inline_ + i * sizeof(Tensor), other.inline_ + i * sizeof(Tensor), sizeof(Tensor));
    }
  }
  Element& operator=(Element other) noexcept;
  ~Element() { clear(); }

  size_t size() const { return size_; }
  /// Throws Exception(InvalidArgument) for an index or a name that does not exist, and for any name if the fields have
  /// none.
  const Tensor& operator[](size_t i) const {
    if (i >= size_) [[unlikely]]
      refuse_index(i);
    return fields()[i];
  }
  const Tensor& operator[](std::string_view name) const;
  void operator[](internal::ListOfNames) const = delete;
  Tensor& operator[](size_t i) { return const_cast<Tensor&>(std::as_const(*this)[i]); }
  Tensor& operator[](std::string_view name) { return const_cast<Tensor&>(std::as_const(*this)[name]); }

  /// Null iff the fields have no names.
  const Names& names() const { return names_; }
  /// REQUIRES: null, or one name for each field.
  void set_names(Names names) {
    assert(names == nullptr || names->size() == size_);
    names_ = std::move(names);
  }
  /// Allocates for `size` fields, so that append() cannot fail. Throws std::bad_alloc.
  void reserve(size_t size) {
    if (size > kInline) [[unlikely]]
      reserve_more(size);
  }
  /// Returns a reference to the appended field, valid until the next append().
  Tensor& append(Tensor field) {
    if (size_ >= kInline || more_ != nullptr) [[unlikely]]
      return append_more(std::move(field));
    return *new (inline_ + size_++ * sizeof(Tensor)) Tensor(std::move(field));
  }
  void clear() {
    if (more_ == nullptr) std::destroy_n(const_cast<Tensor*>(inline_fields()), size_);
    more_.reset();
    size_ = 0;
    names_.reset();
  }

  /// The element's identity, from which random operators draw: its position in the source, changed by operators that
  /// repeat or combine elements (docs/concepts.md).
  uint64_t key = 0;
  Provenance provenance;

 private:
  static constexpr size_t kInline = 4;
  Tensor& append_more(Tensor field);
  void reserve_more(size_t size);
  [[noreturn]] void refuse_index(size_t i) const;
  const Tensor* fields() const { return more_ ? more_->data() : inline_fields(); }
  const Tensor* inline_fields() const { return reinterpret_cast<const Tensor*>(inline_); }

  uint32_t size_ = 0;
  Names names_;
  std::unique_ptr<std::vector<Tensor>> more_;  // All fields, iff there are more than kInline.
  alignas(Tensor) std::byte inline_[kInline * sizeof(Tensor)];
};

}  // namespace headpond
