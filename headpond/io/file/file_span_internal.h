// SPDX-License-Identifier: Apache-2.0
// Spans of a trace for what is done with files.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/base/trace.h"

namespace headpond::internal {

inline constexpr trace::ArgNames kFileArgs{{"file", "offset", "bytes"}, true};

/// While a trace is recorded: a span, as long as it lives.
class FileSpan {
 public:
  FileSpan(const char* name, const std::string& path, uint64_t offset)
      : span_(name, trace::Category::io,
              {&kFileArgs,
               {trace::text_arg(trace::enabled() ? trace::intern_text(path) : nullptr), static_cast<int64_t>(offset),
                trace::kNoArg}}) {}
  void set_bytes(uint64_t bytes) { span_.set(2, static_cast<int64_t>(bytes)); }

 private:
  trace::SpanWithArgs span_;
};

}  // namespace headpond::internal
