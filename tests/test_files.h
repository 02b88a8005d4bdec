// SPDX-License-Identifier: Apache-2.0
// What tests need of files: a folder that goes away, bytes in and out, real data if it is there.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headpond::test {

/// A new folder, in memory if the machine has a place for that, removed with its content in the destructor.
class TempFolder {
 public:
  TempFolder() : path_((access("/dev/shm", W_OK) == 0 ? "/dev/shm/" : ::testing::TempDir()) + "headpond-test-XXXXXX") {
    if (mkdtemp(path_.data()) == nullptr) std::perror(path_.c_str());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// The number of files and folders directly inside.
  size_t count() const { return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), {})); }

 private:
  std::string path_;
};

inline std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline void put_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(out.flush()) << path;
}

inline std::vector<std::byte> get_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return to_bytes(std::string(std::istreambuf_iterator<char>(in), {}));
}

/// What a power failure may leave of a file of which the first `whole` bytes, but not all, reached the disk: it is cut
/// there, or has zeros from there on. Without the latter iff that is the file itself.
inline std::vector<std::vector<std::byte>> torn_after(size_t whole, std::span<const std::byte> file) {
  const std::vector<std::byte> cut(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(whole));
  std::vector<std::byte> zeros = cut;
  zeros.resize(file.size());
  if (std::ranges::equal(zeros, file)) return {cut};
  return {cut, zeros};
}

/// How often `text` contains `part`.
inline size_t times_in(std::string_view text, std::string_view part) {
  size_t times = 0;
  for (size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

/// `short_form`, or `long_form` at night (`HEADPOND_NIGHTLY`, which `./dev nightly` sets): how much of a test is
/// played.
inline size_t quick_or(size_t short_form, size_t long_form) {
  return std::getenv("HEADPOND_NIGHTLY") == nullptr ? short_form : long_form;
}

/// The folder `name` of the real data: $HEADPOND_DATA/name, else ../shared/data/name beside the project. Empty iff it
/// is not there, after saying so; the test then skips itself. On a machine with CI=true that is a failure.
inline std::string test_data(const std::string& name) {
  const char* given = std::getenv("HEADPOND_DATA");
  // The project is above the build folder in which tests run: __FILE__ is relative, as compiler caches want it.
  auto project = std::filesystem::current_path();
  while (project.has_relative_path() && !is_regular_file(project / "headpond" / "headpond.h")) {
    project = project.parent_path();
  }
  const auto folder =
      (given != nullptr ? std::filesystem::path(given) : project.parent_path() / "shared" / "data") / name;
  if (std::filesystem::is_directory(folder)) return folder.string();
  const char* ci = std::getenv("CI");
  if (ci != nullptr && std::string_view(ci) == "true") ADD_FAILURE() << "real data is missing: " << folder;
  std::printf("skipped: no real data at %s (set HEADPOND_DATA)\n", folder.c_str());
  return {};
}

}  // namespace headpond::test
