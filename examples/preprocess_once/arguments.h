// SPDX-License-Identifier: Apache-2.0
// The program's arguments.
#pragma once

#include <span>

#include "examples/preprocess_once/measure.h"

namespace preprocess_once {

inline constexpr const char* kUsage =
    "usage: preprocess_once [--data DIR] [--images N] [--rounds N] [--json] [--check]\n"
    "  --data DIR   other pictures, laid out as the Data Science Bowl 2018 has them\n"
    "  --images N   the first so many only\n"
    "  --rounds N   of all ways in turn; the figures are medians [3]\n"
    "  --json       the figures as one JSON object\n"
    "  --check      exit code 3 iff a target is missed, and a line for each one\n";

struct Arguments {
  MeasureOptions options;
  bool json = false, check = false, help = false;
};

/// InvalidArgument, with the word, iff it is unknown, lacks its value, or its value is wrong: not an integer above 0,
/// or an empty folder name.
hp::Result<Arguments> parse_arguments(std::span<char* const> words);

}  // namespace preprocess_once
