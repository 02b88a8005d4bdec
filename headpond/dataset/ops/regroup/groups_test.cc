// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/groups_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

// Groups of two by the last digit; 9 belongs to none; a 5 does not join a group.
class Digits final : public GroupRules {
 public:
  Result<Member> member(const Element& element) const override {
    const int64_t value = element[size_t{0}].item<int64_t>();
    if (value == 9) return fail(ErrorKind::DataLoss, "nine");
    return Member{.key = value % 10, .size = value};
  }
  Error check(const Member&, const Group& group, const Element& element) const override {
    const bool is_same = !group.elements.empty() && text_of(group.elements[0]) == text_of(element);
    return is_same ? Error(ErrorKind::InvalidArgument, "twice") : Error();
  }
  bool takes(const Member& member, const Group&) const override { return member.key != 5; }
  bool is_full(int64_t, const Group& group) const override { return group.elements.size() == 2; }
};

std::string shown(const Group& group) {
  std::string text;
  for (const Element& element : group.elements) text += (text.empty() ? "" : " ") + text_of(element);
  return fmt::format("{} ({}, {})", text, group.longest, group.total);
}

// Each group as it is given; "|" before those after the end of the input.
std::vector<std::string> groups_of(const std::vector<std::string>& lines, int64_t most) {
  const Dataset bare = script(lines) | map([](int64_t x) { return x; }, {.name = "same"});
  PlainFeed feed;
  Context context;
  const Digits rules;
  Groups groups(*bare.node(), rules, {}, feed, most);
  std::vector<std::string> all;
  while (true) {
    int64_t key = 0;
    const Got got = groups.next(context, key);
    if (got == Got::end) return all;
    if (got == Got::error) all.push_back("!" + context.error.message());
    if (got != Got::value) continue;
    all.push_back((groups.at_end() ? "|" : "") + shown(groups[key]));
    int64_t again = -1;
    EXPECT_EQ(groups.next(context, again), Got::value);
    EXPECT_EQ(again, key) << "until it is removed";
    groups.remove(key);
  }
}

TEST(Groups, AreGivenWhenTheyAreFull) {
  EXPECT_THAT(groups_of({"1", "2", "11", "3", "pending", "12"}, 9),
              ElementsAre("1 11 (11, 12)", "2 12 (12, 14)", "|3 (3, 3)"));
}

TEST(Groups, AreGivenByKeyAtTheEnd) {
  EXPECT_THAT(groups_of({"4", "3", "1"}, 9), ElementsAre("|1 (1, 1)", "|3 (3, 3)", "|4 (4, 4)"));
}

TEST(Groups, AreGivenWithoutTheElementThatTheyDoNotTake) {
  EXPECT_THAT(groups_of({"5", "15", "25"}, 9), ElementsAre("5 (5, 5)", "15 (15, 15)", "|25 (25, 25)"));
}

TEST(Groups, LeaveOutElementsThatFail) {
  EXPECT_THAT(groups_of({"1", "9", "bad", "1", "11"}, 9),
              ElementsAre("!map(same, version=0), element 9: nine", "!bad", "!map(same, version=0), element 1: twice",
                          "1 11 (11, 12)"));
}

TEST(Groups, GiveTheOldestOneIfTooManyAreHeld) {
  EXPECT_THAT(groups_of({"4", "3", "2", "13", "1"}, 2),
              ElementsAre("4 (4, 4)", "3 13 (13, 16)", "|1 (1, 1)", "|2 (2, 2)"));
}

}  // namespace
}  // namespace headpond::internal
