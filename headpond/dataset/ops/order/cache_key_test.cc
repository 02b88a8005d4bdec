// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>

#include "headpond/dataset/ops/order/cache_key_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string key_of(const Dataset& dataset, const CacheKeyOptions& options = {}) {
  return cache_plan(dataset.node(), options).text;
}
int64_t twice(int64_t x) { return 2 * x; }
Step doubled(int version) { return map(&twice, {.name = "twice", .version = version}); }

TEST(CacheKey, IsAllThatDecidesTheElements) {
  const Dataset base = range(5) | doubled(1);
  EXPECT_EQ(key_of(base), key_of(range(5) | doubled(1)));
  EXPECT_NE(key_of(base), key_of(range(6) | doubled(1)));
  EXPECT_NE(key_of(base), key_of(range(5) | doubled(2)));
  EXPECT_NE(key_of(base), key_of(range(5)));
  EXPECT_NE(key_of(base), key_of(range(5) | map([](int64_t) { return 1.5F; }, {.name = "twice", .version = 1})))
      << "another dtype";
  EXPECT_NE(key_of(base), key_of(base, {.in_order = true}));
  EXPECT_EQ(cache_plan(base.node(), {}).slots, 5);
  EXPECT_EQ(cache_plan(base.node(), {.in_order = true}).slots, -1);
}

TEST(CacheKey, HasTheSeedIfItMatters) {
  const Dataset plain = range(5) | doubled(1), random = range(5) | random_u32() | take(3);
  EXPECT_EQ(key_of(plain, {.seed = 1}), key_of(plain, {.seed = 2}));
  EXPECT_NE(key_of(random, {.seed = 1}), key_of(random, {.seed = 2}));
  const Dataset nested = range(5) | flat_map([](int64_t x) { return range(x) | shuffle(); }, {.name = "shuffled"});
  EXPECT_TRUE(depends_on_seed(*nested.node()));
  EXPECT_TRUE(depends_on_seed(*(range(5) | window(2, shuffle())).node()));
  EXPECT_FALSE(depends_on_seed(*(range(5) | window(2, batch(2))).node()));
  const auto shuffled = [](int64_t, const Dataset& window) { return window | shuffle(); };
  EXPECT_TRUE(depends_on_seed(
      *(range(5) | group_by_window([](int64_t x) { return x % 2; }, shuffled, {.window_size = 2, .name = "shuffled"}))
           .node()));
  EXPECT_FALSE(depends_on_seed(*plain.node()));
}

TEST(CacheKey, HasTheRankAndTheWorldSize) {
  const auto key = [](int64_t world_size, int64_t rank) {
    return key_of(range(12) | batch(4) | distribute(world_size, rank) | random_u32());
  };
  EXPECT_EQ(key(2, 1), key(2, 1));
  EXPECT_NE(key(2, 0), key(2, 1));
  EXPECT_NE(key(2, 1), key(4, 1));
}

TEST(CacheKey, HasTheContentOfFilesButNotTheirFolder) {
  const test::TempFolder folder;
  const auto put = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    test::put_file(folder.file(name), test::to_bytes(text));
  };
  put("a/1.txt", std::string(5000, 'x') + "middle" + std::string(5000, 'x') + "\n");
  const auto key = [&](const std::string& of, bool times = true) {
    return key_of(text_lines(folder.file(of)), {.compare_times = times});
  };
  const std::string first = key("a/*.txt"), by_content = key("a/*.txt", false);
  std::filesystem::copy(folder.file("a"), folder.file("b"), std::filesystem::copy_options::recursive);
  const auto written = std::filesystem::last_write_time(folder.file("a/1.txt"));
  std::filesystem::last_write_time(folder.file("b/1.txt"), written + std::chrono::seconds(5));
  EXPECT_NE(key("b/*.txt"), first) << "a copy, written later";
  EXPECT_EQ(key("b/*.txt", false), by_content);
  std::filesystem::last_write_time(folder.file("b/1.txt"), written);
  EXPECT_EQ(key("b/*.txt"), first) << "a copy that kept its time";
  put("a/1.txt", std::string(5000, 'x') + "MIDDLE" + std::string(5000, 'x') + "\n");
  std::filesystem::last_write_time(folder.file("a/1.txt"), written + std::chrono::milliseconds(20));
  EXPECT_NE(key("a/*.txt"), first) << "what marks of the content do not show";
  put("a/1.txt", "short\n");
  EXPECT_NE(key("a/*.txt", false), by_content);
}

// Their elements are paths: a cache that is told of another folder must not give those.
TEST(CacheKey, HasThePathsOfSourcesThatGivePaths) {
  const test::TempFolder folder;
  for (const std::string name : {"a", "b"}) {
    std::filesystem::create_directories(folder.file(name) + "/class");
    test::put_file(folder.file(name) + "/class/1.png", test::to_bytes("png"));
    std::filesystem::last_write_time(folder.file(name) + "/class/1.png", std::filesystem::file_time_type());
  }
  const auto listed = [&](const std::string& name, bool times = true) {
    return key_of(list_files(folder.file(name) + "/class/*", {.shuffle = false}), {.compare_times = times});
  };
  const auto in_folder = [&](const std::string& name, bool times = true) {
    return key_of(headpond::folder(folder.file(name)), {.compare_times = times});
  };
  for (const bool times : {true, false}) {
    EXPECT_NE(listed("a", times), listed("b", times));
    EXPECT_NE(in_folder("a", times), in_folder("b", times));
  }
  const std::string before = listed("a"), before_folder = in_folder("a"), by_content = listed("a", false);
  std::filesystem::last_write_time(folder.file("a") + "/class/1.png",
                                   std::filesystem::file_time_type() + std::chrono::seconds(1));
  EXPECT_NE(listed("a"), before) << "a function in the input may read them";
  EXPECT_NE(in_folder("a"), before_folder);
  EXPECT_EQ(listed("a", false), by_content);
}

TEST(CacheKey, HasTheFilesOfDatasetsThatAFunctionMakes) {
  const test::TempFolder folder;
  const std::string far = std::string(5000, 'x') + "\n" + std::string(5000, 'y');
  const auto put = [&](const std::string& name, const std::string& text) {
    test::put_file(folder.file(name), test::to_bytes(text));
  };
  put("a.txt", far), put("b.txt", far);
  put("names", folder.file("a.txt") + "\n" + folder.file("b.txt") + "\n");
  const auto lines = [](std::string_view path) { return text_lines(std::string(path)); };
  const auto twice_nested = [&](std::string_view path) {
    return list_files(std::string(path)) | flat_map(lines, {.output = {{"", DType::bytes, {}}}, .name = "lines"});
  };
  const Spec text = {{"", DType::bytes, {}}};
  const Dataset names = text_lines(folder.file("names"));
  const auto written = std::filesystem::last_write_time(folder.file("b.txt"));
  for (const Dataset& dataset : {names | interleave(lines, {.output = text, .name = "lines"}),
                                 names | flat_map(twice_nested, {.output = text, .name = "twice"})}) {
    const auto key = [&](bool times) { return key_of(dataset, {.compare_times = times}); };
    put("b.txt", far);
    std::filesystem::last_write_time(folder.file("b.txt"), written);
    const std::string first = key(true), by_content = key(false);
    EXPECT_EQ(key(true), first);
    put("b.txt", std::string(5000, 'x') + "\r" + std::string(5000, 'y'));
    EXPECT_EQ(key(false), by_content) << "names, sizes and both ends are the same";
    EXPECT_NE(key(true), first) << "written again";
    put("b.txt", far + "!");
    EXPECT_NE(key(false), by_content) << "another size";
  }
}

TEST(CacheKey, MakesFewDatasetsThatReadNoFile) {
  int made = 0;
  const Dataset dataset = range(1000) | flat_map(
                                            [&made](int64_t x) {
                                              ++made;
                                              return range(x % 3);
                                            },
                                            {.kind = Kind::stream, .name = "some"});
  made = 0;
  EXPECT_THAT(key_of(dataset), Not(HasSubstr("files")));
  EXPECT_LE(made, 16);
}

TEST(CacheKey, NeedsNamesOfFunctions) {
  EXPECT_NO_THROW(check_can_be_kept("cache", *(range(5) | doubled(1)).node()));
  try {
    check_can_be_kept("cache", *(range(5) | map(&twice) | shuffle()).node());
    ADD_FAILURE() << "an unnamed function";
  } catch (const Exception& e) {
    EXPECT_EQ(e.error().kind(), ErrorKind::InvalidArgument);
    EXPECT_THAT(e.error().message(),
                testing::AllOf(HasSubstr("cache: "), HasSubstr("map(opaque)"), HasSubstr("options name and version")));
  }
}

}  // namespace
}  // namespace headpond::internal
