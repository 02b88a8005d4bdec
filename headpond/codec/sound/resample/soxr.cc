// SPDX-License-Identifier: Apache-2.0
// resample() by libsoxr (sourceforge.net/p/soxr), as the Python packages soxr and librosa call it.
#include <soxr.h>

#include <algorithm>
#include <string>

#include "headpond/codec/sound/resample/resample_internal.h"

namespace headpond {

bool has_soxr() { return true; }

Result<void> sound_internal::resample_by_soxr(std::span<const float> samples, int64_t channels,
                                              const ResampleOptions& rates, std::span<float> to) {
  size_t given = 0;
  if (!samples.empty() && rates.from != rates.to) {
    const soxr_io_spec_t values = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT32_I);
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    const auto many = static_cast<size_t>(channels);
    const soxr_error_t error = soxr_oneshot(static_cast<double>(rates.from), static_cast<double>(rates.to),
                                            static_cast<unsigned>(channels), samples.data(), samples.size() / many,
                                            nullptr, to.data(), to.size() / many, &given, &values, &quality, nullptr);
    if (error != nullptr) return fail(ErrorKind::ResourceExhausted, std::string("resample: libsoxr: ") + error);
    given *= many;
  } else {
    given = static_cast<size_t>(std::ranges::copy(samples, to.begin()).out - to.begin());
  }
  std::ranges::fill(to.subspan(given), 0.0F);
  return {};
}

}  // namespace headpond
