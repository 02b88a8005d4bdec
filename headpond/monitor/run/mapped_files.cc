// SPDX-License-Identifier: Apache-2.0
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "headpond/monitor/run/mapped_files_internal.h"

namespace headpond::internal {
namespace {

struct MappedFile {
  int64_t bytes = 0;
  bool is_program = false;
};

// Shared memory has names like those of files, but the system does not count it with them.
bool is_file(std::string_view path) {
  for (const std::string_view shared : {"/dev/shm/", "/dev/zero", "/memfd:", "/SYSV"}) {
    if (path.starts_with(shared)) return false;
  }
  return path.starts_with('/');
}

}  // namespace

// Each mapping has a line "7f00-7f10 r--p 00000000 08:01 4711   /data/a b", then lines "Pss:   12 kB".
int64_t mapped_data_bytes(std::istream& smaps) {
  std::map<std::string, MappedFile> files;
  MappedFile* now = nullptr;
  for (std::string line; std::getline(smaps, line);) {
    std::istringstream words(line);
    std::string first, access, offset, device, inode, path;
    words >> first;
    if (first == "Pss:") {
      int64_t kib = 0;
      if (now != nullptr && words >> kib) now->bytes += kib << 10;
    } else if (first.find('-') != std::string::npos && first.back() != ':') {
      words >> access >> offset >> device >> inode >> std::ws;
      std::getline(words, path);
      now = is_file(path) ? &files[path] : nullptr;
      if (now != nullptr && access.find('x') != std::string::npos) now->is_program = true;
    }
  }
  int64_t bytes = 0;
  for (const auto& [path, file] : files) bytes += file.is_program ? 0 : file.bytes;
  return bytes;
}

int64_t mapped_data_bytes() {
  std::ifstream smaps("/proc/self/smaps");
  return mapped_data_bytes(smaps);
}

}  // namespace headpond::internal
