// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/shown/analysis.h"

#include "headpond/base/clock.h"

namespace headpond::plan {

Result<Analysis> analysed(Loader& loader, double seconds, const std::function<bool(int64_t taken)>& is_stopped) {
  const int64_t begin = now_ns();
  const auto passed = [begin] { return static_cast<double>(now_ns() - begin) * 1e-9; };
  Analysis analysis;
  for (; !is_stopped(analysis.elements) && passed() < seconds; ++analysis.elements) {
    const auto batch = loader.next();
    if (at_end(batch)) break;
    if (!batch) return fail(batch.error());
  }
  analysis.seconds = passed();
  analysis.stats = loader.stats();
  return analysis;
}

}  // namespace headpond::plan
