// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/carried_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Carried, ComesBackAsItWas) {
  Element saved{Tensor::scalar(int64_t{7}), Tensor::from(std::vector<std::string>{"a", "", "bcd"}, {3})};
  const Spec spec = spec_of(saved);
  EXPECT_EQ(to_string(spec), "{0: int64[], 1: bytes[3]}");
  StateVisitor saver;
  visit_values(saver, spec, saved);
  Element restored{Tensor::scalar(int64_t{0}), Tensor::from(std::vector<std::string>{"", "", ""}, {3})};
  StateVisitor reader = StateVisitor::restoring(saver.saved());
  visit_values(reader, spec, restored);
  EXPECT_TRUE(reader.complete());
  EXPECT_EQ(text_of(restored), "7, ['a' '' 'bcd']");
}

TEST(Carried, RefusesValuesOfAnotherSize) {
  StateVisitor saver;
  std::string three = "abc";
  saver.text(three);
  Element element{Tensor::scalar(int64_t{7})};
  StateVisitor reader = StateVisitor::restoring(saver.saved());
  visit_values(reader, spec_of(element), element);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(text_of(element), "7");
}

}  // namespace
}  // namespace headpond::internal
