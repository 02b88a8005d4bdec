// SPDX-License-Identifier: Apache-2.0
// An array that grows without a copy where the system can move pages, for content of unknown length: a vector that
// grows has its values twice. Not for users.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace headpond {

/// Not thread-safe. Pointers and spans are valid until it grows, shrinks or is moved from.
template <class T>
  requires std::is_trivially_copyable_v<T>
class GrowingArray {
 public:
  GrowingArray() = default;
  GrowingArray(GrowingArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  GrowingArray& operator=(GrowingArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
    return *this;
  }
  ~GrowingArray() { std::free(data_); }

  size_t size() const { return size_; }
  size_t room() const { return room_; }  ///< Values that fit without growing.
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::span<const T> values() const { return {data_, size_}; }

  /// New values have any content. Throws std::bad_alloc, with nothing changed, iff there is no memory.
  void resize(size_t size) {
    reserve(size);
    size_ = size;
  }
  void reserve(size_t room) {
    if (room > room_) set_room(room);
  }
  /// Grows to twice the room, but to no more than `most` values. REQUIRES: size() < most.
  void push_back(T value, size_t most = SIZE_MAX) {
    if (size_ == room_) set_room(std::min(most, std::max(kFirstRoom, room_ > most / 2 ? most : 2 * room_)));
    data_[size_++] = value;
  }
  void shrink_to_fit() {
    if (size_ < room_) set_room(size_);
  }

 private:
  static constexpr size_t kFirstRoom = 64;

  void set_room(size_t room) {
    size_t wanted = 0;
    if (__builtin_mul_overflow(room, sizeof(T), &wanted)) throw std::bad_alloc();
    // At least one byte: of none the result may be null.
    void* const moved = std::realloc(data_, std::max<size_t>(wanted, 1));
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    room_ = room;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t room_ = 0;
};

}  // namespace headpond
