// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/own_memory_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

TEST(OwnMemory, CopiesWhatIsBorrowed) {
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  std::vector<int32_t> few = {1, 2};
  const std::vector<std::string_view> texts = {"one", "two"};
  const Tensor owned = Tensor::from(std::span<const std::string_view>(texts), {2});
  std::vector<std::byte> layout(owned.data(), owned.data() + owned.byte_size());
  Element element = {Tensor::view(values.data(), DType::i32, {6}), Tensor::view(few.data(), DType::i32, {2}),
                     Tensor::view(layout.data(), DType::bytes, {2}), Tensor(), owned};
  const std::string before = text_of(element);
  own_memory(element);
  std::fill(values.begin(), values.end(), 0);
  std::fill(few.begin(), few.end(), 0);
  std::fill(layout.begin(), layout.end(), std::byte{0});
  EXPECT_EQ(text_of(element), before);
  EXPECT_EQ(element[size_t{4}].owner(), owned.owner()) << "what has an owner is shared";
}

TEST(OwnMemory, WhatIsKeptIsCountedForWhoKeepsIt) {
  MemoryAccount maker, keeper, other;
  const auto make = [&] {
    const MemoryAccount::Scope scope(&maker);
    return Tensor::empty(DType::u8, {1000});
  };
  std::vector<int32_t> values = {1, 2, 3, 4, 5, 6};
  Element element = {make(), Tensor::view(values.data(), DType::i32, {6})};
  {
    const MemoryAccount::Scope scope(&keeper);
    keep_memory(element);
  }
  EXPECT_EQ(maker.bytes(), 0);
  EXPECT_EQ(keeper.bytes(), 1000 + 24 + 2 * 64);
  other.take(*element[size_t{0}].owner());
  EXPECT_EQ(other.bytes(), 0);
}

// Memory of another library is in no pool, so without a copy it would count for nobody.
TEST(OwnMemory, OfMemoryThatNobodyElseUsesACopyIsKept) {
  MemoryAccount keeper;
  std::vector<uint8_t> values(1000, 7);
  int released = 0;
  const auto kept = [&](bool is_only_user) {
    Tensor tensor = Tensor::from_memory(values.data(), DType::u8, {1000}, [&] { ++released; });
    if (is_only_user) MemoryAccount::set_only_user(*tensor.owner());
    Element element = {std::move(tensor)};
    const MemoryAccount::Scope scope(&keeper);
    keep_memory(element);
    return element;
  };
  const Element copy = kept(true);
  EXPECT_EQ(released, 1);
  EXPECT_EQ(keeper.bytes(), 1000 + 64);
  EXPECT_EQ(copy[size_t{0}].as<uint8_t>()[999], 7);
  const Element shared = kept(false);
  EXPECT_EQ(released, 1) << "control: the program has it, too";
  EXPECT_EQ(shared[size_t{0}].data(), reinterpret_cast<const std::byte*>(values.data()));
  EXPECT_EQ(keeper.bytes(), 1000 + 64);
}

TEST(OwnMemory, WhatIsHeldIsCountedUntilItIsGivenAway) {
  MemoryAccount holder, other;
  std::vector<uint8_t> values(1000, 7);
  int released = 0;
  Element element = {Tensor::from_memory(values.data(), DType::u8, {1000}, [&] { ++released; }),
                     Tensor::view(values.data(), DType::u8, {1000})};
  hold_memory(element);
  EXPECT_EQ(released, 0) << "control: the program has it, too";
  MemoryAccount::set_only_user(*element[size_t{0}].owner());
  {
    const MemoryAccount::Scope scope(&holder);
    hold_memory(element);
  }
  EXPECT_EQ(released, 1);
  EXPECT_EQ(holder.bytes(), 1000 + 64);
  EXPECT_EQ(element[size_t{1}].owner(), nullptr) << "what is borrowed stays";
  other.take(*element[size_t{0}].owner());
  EXPECT_EQ(holder.bytes(), 0);
  EXPECT_EQ(other.bytes(), 1000 + 64);
}

}  // namespace
}  // namespace headpond::internal
