// SPDX-License-Identifier: Apache-2.0
// Which files a source reads.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"

namespace headpond {

/// One pattern or several (io/file/glob.h): what a source of files takes. Made of a name, a list of names, or a
/// std::filesystem::path: `tfrecord("train-*.tfrecord")`, `tfrecord({"a", "b"})`.
class Patterns {
 public:
  Patterns() = default;
  Patterns(const char* pattern) : all_{pattern} {}
  Patterns(std::string pattern) : all_{std::move(pattern)} {}
  Patterns(std::initializer_list<std::string> patterns) : all_(patterns) {}
  /// {{"a", "b"}} is {"a", "b"}; its inner list must not become one string (base/list_of_names.h).
  Patterns(std::initializer_list<internal::ListOfNames> lists) {
    for (const internal::ListOfNames& list : lists) all_.insert(all_.end(), list.begin(), list.end());
  }
  Patterns(std::vector<std::string> patterns) : all_(std::move(patterns)) {}
  template <class Path>
    requires requires(const Path& path) {
      { path.generic_string() } -> std::same_as<std::string>;
    }
  Patterns(const Path& path) : all_{path.string()} {}

  const std::vector<std::string>& all() const { return all_; }

 private:
  std::vector<std::string> all_;
};

}  // namespace headpond
