// SPDX-License-Identifier: Apache-2.0
// Spans of a trace for what is done with files.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/trace.h"

namespace headpond::internal {

inline constexpr trace::ArgNames kFileArgs{{"file", "offset", "bytes"}, true};

/// A file's name as traces have it.
class TracedPath {
 public:
  /// REQUIRES: `path` outlives this.
  explicit TracedPath(const std::string& path) : path_(path) {}
  /// Null while no trace is recorded. One thread at a time. Takes a lock the first time only.
  const char* get() {
    if (name_ == nullptr && trace::enabled()) name_ = trace::intern_path(path_);
    return name_;
  }

 private:
  const std::string& path_;
  const char* name_ = nullptr;
};

/// While a trace is recorded: a span, as long as it lives.
class FileSpan {
 public:
  FileSpan(const char* name, const char* path, uint64_t offset)
      : span_(name, trace::Category::io,
              {&kFileArgs, {trace::text_arg(path), static_cast<int64_t>(offset), trace::kNoArg}}) {}
  void set_bytes(uint64_t bytes) { span_.set(2, static_cast<int64_t>(bytes)); }

 private:
  trace::SpanWithArgs span_;
};

}  // namespace headpond::internal
