// SPDX-License-Identifier: Apache-2.0
// A report of one run on one page: why the program waited, what to change, and the figures that show it.
#pragma once

#include <string>

#include "headpond/monitor/run/run_record.h"

namespace headpond {

/// One HTML file without scripts and without requests, for screens of any width, light and dark, and for paper. At most
/// 500 kB, however long the run was: charts show its time in 240 pieces at most.
std::string report_html(const RunRecord& run);

}  // namespace headpond
