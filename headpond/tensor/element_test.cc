// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/element.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "headpond/base/status.h"

namespace headpond {
namespace {

using testing::ElementsAre;

// One name at a time: std::string_view would take two for the characters between two addresses.
template <class Fields, class Name>
constexpr bool kTakesTwoNames = requires(Fields fields, Name name) {
  fields[{name, name}];
};
static_assert(!kTakesTwoNames<Element, const char*> && !kTakesTwoNames<const Element, const char*>);

Tensor number(int64_t value) { return Tensor::scalar(value); }
int64_t value_of(const Tensor& tensor) { return tensor.as<int64_t>()[0]; }

TEST(Element, IsATupleOfTensors) {
  const Element element{{number(1), number(2)}};
  EXPECT_EQ(element.size(), 2U);
  EXPECT_EQ(value_of(element[1]), 2);
  EXPECT_EQ(element.names(), nullptr);
  EXPECT_EQ((Element{{number(5)}}.size()), 1U);
  EXPECT_EQ(Element().size(), 0U);
}

TEST(Element, AnswersToNames) {
  const Element element = Element::named({{"image", number(1)}, {"label", number(2)}});
  EXPECT_EQ(value_of(element["label"]), 2);
  EXPECT_EQ(value_of(element[0]), 1);
  EXPECT_THAT(*element.names(), ElementsAre("image", "label"));
  EXPECT_THROW(element["lable"], Exception);
  EXPECT_THROW((Element{{number(1)}}["image"]), Exception);
  EXPECT_THROW(Element::named({{"x", number(1)}, {"x", number(2)}}), Exception);
}

TEST(Element, RefusesAFieldThatIsNotThere) { EXPECT_THROW((Element{{number(1)}}[1]), Exception); }

TEST(Element, HoldsAnyNumberOfFields) {
  Element element;
  for (int64_t i = 0; i < 20; ++i) {
    element.append(number(i));
    for (int64_t k = 0; k <= i; ++k) ASSERT_EQ(value_of(element[static_cast<size_t>(k)]), k);
  }
  const Element copy = element;
  const Element moved = std::move(element);
  EXPECT_EQ(moved.size(), 20U);
  EXPECT_EQ(value_of(copy[19]), 19);
}

TEST(Element, MovesItsFieldsAndItsIdentity) {
  BufferPool pool;
  Element element{{Tensor::empty(u8, {100}, pool)}};
  element.key = 42;
  const std::byte* const data = element[0].data();
  Element moved = std::move(element);
  EXPECT_EQ(moved[0].data(), data);
  EXPECT_EQ(moved.key, 42U);
  EXPECT_EQ(element.size(), 0U);  // NOLINT(bugprone-use-after-move): it is empty.
  moved = Element();
  EXPECT_EQ(pool.stats().bytes_in_use, 0);
}

TEST(Element, AssignsItselfAway) {
  Element element{{number(1), number(2)}};
  element = Element{{number(3)}};
  EXPECT_EQ(element.size(), 1U);
  EXPECT_EQ(value_of(element[0]), 3);
}

TEST(Provenance, NamesTheSourceAndTheRecord) {
  EXPECT_EQ(to_string(Provenance{}), "");
  const uint64_t source = register_source("train.tfrecord");
  EXPECT_EQ(register_source("train.tfrecord"), source);
  EXPECT_NE(register_source("other.tfrecord"), source);
  EXPECT_EQ(to_string(Provenance{.source = source, .record = 17}), "train.tfrecord, record 17");
}

TEST(Provenance, TellsFilesFromOtherSources) {
  const uint64_t numbers = register_source("numbers"), file = register_source("told.later");
  EXPECT_EQ(source_file(file), "");
  EXPECT_EQ(register_source("told.later", /*is_file=*/true), file);
  EXPECT_EQ(register_source("told.later"), file);
  EXPECT_EQ(source_file(file), "told.later");
  EXPECT_EQ(source_file(numbers), "");
  EXPECT_EQ(source_file(0), "");
}

}  // namespace
}  // namespace headpond
