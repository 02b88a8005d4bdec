// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/patterns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headpond/dataset/ops.h"

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Each source of files takes a list of literals.
static_assert(requires {
  tfrecord({"a", "b"});
  text_lines({"a", "b"});
  csv({"a", "b"}, {.header = false});
  npy({"a", "b"});
  fixed_length({"a", "b"}, {.record_bytes = 1});
  tar({"a", "b"});
});

// Where one name is meant, a list does not compile. Text: const char*.
template <class Text>
constexpr bool kAnyTakesTwo =
    requires(Text a) {
      folder({a, a});
    } ||  //
    requires(Text a) {
      folder({a, a}, FolderOptions());
    } ||  //
    requires(Text a) {
      idx({a, a});
    } ||  //
    requires(Text a) {
      idx({a, a}, a);
    } ||  //
    requires(Text a) {
      idx(a, {a, a});
    } ||  //
    requires(Text a) {
      idx({a, a}, {a, a});
    } ||  //
    requires(Text a) {
      map({a, a}, [](int64_t x) { return x; });
    };
template <class Text>
constexpr bool kEachTakesOne = requires(Text a) {
  folder(a);
  folder(std::string(a), {.extensions = {"png"}});
  idx(a);
  idx(a, a);
  map(a, [](int64_t x) { return x; });
};
static_assert(kEachTakesOne<const char*> && !kAnyTakesTwo<const char*>);

std::vector<std::string> given(const Patterns& patterns) { return patterns.all(); }

TEST(Patterns, AreOneNameOrAList) {
  const std::string name = "a";
  const std::vector<std::string> list = {"a", "b"};
  EXPECT_THAT(given("a"), ElementsAre("a"));
  EXPECT_THAT(given(name), ElementsAre("a"));
  EXPECT_THAT(given(std::filesystem::path("a")), ElementsAre("a"));
  EXPECT_THAT(given(list), ElementsAre("a", "b"));
  EXPECT_THAT(given({"a"}), ElementsAre("a"));
  EXPECT_THAT(given({"a", "b"}), ElementsAre("a", "b")) << "not the characters between two addresses";
  EXPECT_THAT(given({"a", name, "c"}), ElementsAre("a", "a", "c"));
  EXPECT_THAT(given({{"a", "b"}}), ElementsAre("a", "b"));
  EXPECT_THAT(given({{"a", "b"}, {"c"}}), ElementsAre("a", "b", "c"));
  EXPECT_THAT(given({}), IsEmpty());
}

}  // namespace
}  // namespace headpond
