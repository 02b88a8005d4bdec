// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/course.h"

#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Course, WritesElementsAsText) {
  const std::vector<float> values = {1, 2.5};
  const std::vector<std::string> texts = {"a", ""};
  Element element(Tensor::scalar(int64_t{-3}), Tensor::from(values, {2}), Tensor::from(values, {2, 1}),
                  Tensor::from(texts, {2}));
  element.key = 26;
  EXPECT_EQ(text_with_key(element), "-3, [1 2.5], [2,1][1 2.5], ['a' ''] #1a");
}

TEST(Course, BytesTellNamesDtypesShapesAndKeysApart) {
  const std::vector<int32_t> values = {1, 2};
  const Element element{Tensor::from(values, {2})};
  Element other_key = element;
  other_key.key = 1;
  const std::vector<std::string> all = {
      bytes_of(element, 0, 0),
      bytes_of(element, 0, 1),
      bytes_of(element, 1, 0),
      bytes_of(other_key, 0, 0),
      bytes_of(Element::named({{"x", Tensor::from(values, {2})}}), 0, 0),
      bytes_of(Element{Tensor::from(values, {2, 1})}, 0, 0),
      bytes_of(Element{Tensor::view(values.data(), DType::u32, {2})}, 0, 0),
  };
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t k = 0; k < i; ++k) EXPECT_NE(all[i], all[k]) << i << " " << k;
  }
}

TEST(Course, ErrorsComeAgainAfterTheValueBeforeThem) {
  Sequence sequence(script({"1", "bad", "worse", "2"}));
  const Course course = course_of(sequence, 100);
  ASSERT_EQ(course.outcomes.size(), 5U);
  EXPECT_TRUE(course.ends());
  EXPECT_EQ(course.after(0), 1U);
  EXPECT_EQ(course.after(1), 1U);
  EXPECT_EQ(course.after(2), 1U);
  EXPECT_EQ(course.after(3), 4U);
}

TEST(Course, StopsAtAsManyAsItMayAndAtASourceThatIsLost) {
  Sequence sequence(range(9));
  EXPECT_EQ(course_of(sequence, 4).outcomes.size(), 4U);
  Sequence lost(script(std::vector<std::string>(90, "bad")));
  EXPECT_EQ(course_of(lost, 100).outcomes.size(), 20U);
}

TEST(Course, SaysWhatDiffers) {
  Sequence sequence(range(2));
  const Course course = course_of(sequence, 2);
  Outcome changed = course.outcomes[0];
  EXPECT_EQ(difference(changed, course.outcomes[0]), "");
  EXPECT_EQ(difference(course.outcomes[1], changed), "'0/1 1 #1' instead of '0/0 0 #0'");
  changed.bytes += "x";
  EXPECT_EQ(difference(changed, course.outcomes[0]), "bytes, names or shapes differ in '0/0 0 #0'");
  changed = course.outcomes[0];
  changed.state = course.outcomes[1].state;
  EXPECT_EQ(difference(changed, course.outcomes[0]), "the state after '0/0 0 #0' differs");
}

}  // namespace
}  // namespace headpond::internal
