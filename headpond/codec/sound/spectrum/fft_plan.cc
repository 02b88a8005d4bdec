// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numbers>

#include "headpond/base/math/portable.h"
#include "headpond/codec/sound/spectrum/fft_plan_internal.h"

namespace headpond::spectrum_internal {
namespace {

std::vector<int64_t> radices_of(int64_t size) {
  std::vector<int64_t> radices;
  for (const int64_t radix : {5, 3, 4, 2}) {
    for (; size % radix == 0; size /= radix) radices.push_back(radix);
  }
  for (int64_t radix = 7; size > 1; radix += 2) {
    for (; size % radix == 0; size /= radix) radices.push_back(radix);
  }
  return radices;
}

// scale exp(-2 pi i part / whole).
template <class T>
void push_root(std::vector<T>& to, int64_t part, int64_t whole, double scale = 1) {
  const double angle = 2 * std::numbers::pi * static_cast<double>(part % whole) / static_cast<double>(whole);
  to.push_back(static_cast<T>(scale * portable::cos(angle)));
  to.push_back(static_cast<T>(-scale * portable::sin(angle)));
}

void push_stage(FftPlan& plan, int64_t radix, int64_t span) {
  FftStage stage = {.radix = radix, .span = span, .twiddles = plan.wide_factors.size(), .roots = 0};
  for (int64_t j = 0; j < span; ++j) {
    for (int64_t q = 1; q < radix; ++q) push_root(plan.wide_factors, j * q, radix * span);
  }
  if (radix > 5) {
    stage.roots = plan.wide_factors.size();
    for (int64_t q = 0; q < radix; ++q) push_root(plan.wide_factors, q, radix);
    plan.spare_rows = std::max(plan.spare_rows, 2 * radix);
  }
  const bool is_next = plan.wide_stages == plan.stages.size();
  if (is_next && radix <= 5 && plan.wide * radix <= kMostWide) {
    ++plan.wide_stages;
    plan.wide *= radix;
  }
  plan.stages.push_back(stage);
}

// The last stage splits its input by the remainder of the index, each part likewise.
int64_t place_of(const FftPlan& plan, int64_t index) {
  int64_t place = 0;
  for (auto stage = plan.stages.rbegin(); stage != plan.stages.rend(); ++stage) {
    place += index % stage->radix * stage->span;
    index /= stage->radix;
  }
  return place;
}

}  // namespace

FftPlan make_fft_plan(int64_t points) {
  const bool even = points % 2 == 0;
  FftPlan plan = {.points = points, .size = even ? points / 2 : points, .rows = 0, .spare_rows = 0};
  plan.rows = 2 * plan.size + (even ? 2 : 0);
  int64_t span = 1;
  for (const int64_t radix : radices_of(plan.size)) {
    push_stage(plan, radix, span);
    span *= radix;
  }
  for (const double factor : plan.wide_factors) plan.factors.push_back(static_cast<float>(factor));
  for (int64_t k = 0; even && k <= plan.size / 2; ++k) push_root(plan.split, k, points, 0.5);
  for (int64_t i = 0; i < points; ++i) {
    const int64_t row = even ? 2 * place_of(plan, i / 2) + i % 2 : 2 * place_of(plan, i);
    plan.row_of.push_back(static_cast<uint32_t>(row));
  }
  return plan;
}

}  // namespace headpond::spectrum_internal
