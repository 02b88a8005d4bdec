// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/element_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using Bytes = std::span<const std::byte>;

// A record at an aligned address, as in a mapped file.
struct Aligned {
  explicit Aligned(const std::vector<std::byte>& record) : size(record.size()) {
    buffer = BufferPool::shared().allocate(record.size());
    if (!record.empty()) std::memcpy(buffer->data(), record.data(), record.size());
  }
  Bytes bytes() const { return {buffer->data(), size}; }
  BufferRef buffer;
  size_t size;
};

Element sample() {
  const std::vector<std::string_view> texts = {"one", "", "three"};
  std::vector<float> many(40);
  for (size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i) / 4;
  Element element{Tensor::scalar(int64_t{-5}),
                  Tensor::from(std::span<const float>(many), {5, 8}),
                  Tensor::from(std::span<const std::string_view>(texts), {3, 1}),
                  Tensor::scalar(true),
                  Tensor::empty(DType::f64, {0, 7}),
                  Tensor::scalar(std::string_view("x"))};
  element.key = 0x123456789abcdef0;
  element.provenance = {.source = register_source("a.tfrecord"), .record = 17};
  return element;
}

void expect_equal(const Element& a, const Element& b) {
  ASSERT_EQ(a.size(), b.size());
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(to_string(a.provenance), to_string(b.provenance));
  for (size_t f = 0; f < a.size(); ++f) {
    EXPECT_EQ(a[f].dtype(), b[f].dtype());
    EXPECT_EQ(a[f].shape(), b[f].shape());
    ASSERT_EQ(a[f].byte_size(), b[f].byte_size());
    if (a[f].byte_size() != 0) {
      EXPECT_EQ(std::memcmp(a[f].data(), b[f].data(), a[f].byte_size()), 0);
    }
  }
}

TEST(ElementRecord, GivesTheSameElement) {
  const Aligned record(to_record(sample()));
  EXPECT_EQ(record.size % kRecordAlign, 0U);
  const auto element = from_record(record.bytes(), record.buffer);
  ASSERT_TRUE(element) << element.error();
  expect_equal(*element, sample());
  EXPECT_EQ(to_string(element->provenance), "a.tfrecord, record 17");
}

TEST(ElementRecord, KeepsAnElementWithoutFieldsAndOneOfUnknownProvenance) {
  for (const Element& each : {Element(), Element{Tensor::scalar(1.5F)}}) {
    const Aligned record(to_record(each));
    const auto element = from_record(record.bytes(), record.buffer);
    ASSERT_TRUE(element);
    expect_equal(*element, each);
    EXPECT_EQ(element->provenance.source, 0U);
  }
}

TEST(ElementRecord, KeepsManyDimensions) {
  const Element deep{Tensor::empty(DType::u8, {1, 1, 1, 1, 1, 1, 1})};
  const Aligned record(to_record(deep));
  const auto element = from_record(record.bytes(), record.buffer);
  ASSERT_TRUE(element);
  EXPECT_EQ((*element)[0].shape(), deep[0].shape());
}

TEST(ElementRecord, LargeFieldsBorrowTheRecordAndKeepItAlive) {
  Aligned record(to_record(sample()));
  const Bytes bytes = record.bytes();
  auto element = from_record(bytes, record.buffer);
  ASSERT_TRUE(element);
  const std::byte* const large = (*element)[1].data();
  EXPECT_TRUE(large > bytes.data() && large < bytes.data() + bytes.size());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large) % kRecordAlign, 0U);
  EXPECT_FALSE((*element)[0].owner());
  record.buffer = BufferRef();
  EXPECT_EQ((*element)[1].as<float>()[39], 9.75F);
}

// Whatever the bytes are: refused, or an element that can be read.
TEST(ElementRecord, RefusesOtherBytes) {
  const std::vector<std::byte> good = to_record(sample());
  for (size_t at = 0; at < good.size(); ++at) {
    for (const uint8_t mask : {0x01, 0x80, 0xff}) {
      std::vector<std::byte> bad = good;
      bad[at] ^= std::byte{mask};
      const Aligned record(bad);
      const auto element = from_record(record.bytes(), record.buffer);
      if (!element) continue;
      for (size_t f = 0; f < element->size(); ++f) {
        const Tensor& field = (*element)[f];
        size_t sum = 0;
        for (int64_t i = 0; i < field.size() && field.dtype() == DType::bytes; ++i) sum += field.bytes_at(i).size();
        EXPECT_LE(sum + field.byte_size(), 2 * bad.size());
      }
    }
  }
  for (size_t size = 0; size < good.size(); size += kRecordAlign) {
    const Aligned cut(std::vector<std::byte>(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)));
    const auto element = from_record(cut.bytes(), cut.buffer);
    ASSERT_FALSE(element);
    EXPECT_THAT(element.error().message(), HasSubstr("not the record of an element"));
  }
}

}  // namespace
}  // namespace headpond::internal
