// SPDX-License-Identifier: Apache-2.0
// Patterns of file names from any text, in a folder of its own: existing files in order, without folders; or numbered
// shards; or the text itself.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "headpond/io/file/glob.h"

namespace {

void require(bool holds) {
  if (!holds) __builtin_trap();
}

// A folder with a few files, which stays when the process ends.
struct Folder {
  Folder() : path((std::filesystem::temp_directory_path() / "headpond-pattern-XXXXXX").string()) {
    require(mkdtemp(path.data()) != nullptr);
    path += '/';
    for (const char* name : {"d/e", "a b"}) std::filesystem::create_directories(path + name);
    for (const char* name : {"a", "b.tfrecord", "*", "[x]", "d/1.png", "d/e/2.png", ".hidden", "a@2"})
      std::ofstream(path + name) << name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path;  // Ends with a slash.
};

bool is_file(const std::string& name) {
  struct stat status = {};
  return lstat(name.c_str(), &status) == 0 && !S_ISDIR(status.st_mode);
}

// ".*" matches "..", too.
bool leaves_the_folder(const std::string& pattern) {
  return pattern.starts_with('.') || pattern.find("/.") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Folder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t digits = size - std::min(size, text.rfind('@'));
  const bool is_costly = digits > 5;  // Up to a million names.
  if (size > 300 || is_costly || leaves_the_folder(text)) return 0;
  const std::string pattern = folder.path + text;
  const size_t at = pattern.rfind('@');
  const auto files = headpond::expand_files(pattern);
  if (!files) {
    const auto kind = files.error().kind();
    require(kind == headpond::ErrorKind::InvalidArgument || kind == headpond::ErrorKind::NotFound ||
            kind == headpond::ErrorKind::FailedPrecondition);
    return 0;
  }
  require(!files->empty() && std::is_sorted(files->begin(), files->end()));
  const bool is_itself = files->size() == 1 && files->front() == pattern;
  const bool is_numbered = at != std::string::npos && files->front().starts_with(pattern.substr(0, at) + "-00000-of-");
  require(is_itself || is_numbered || std::all_of(files->begin(), files->end(), is_file));
  return 0;
}
