// SPDX-License-Identifier: Apache-2.0
// Instead of soxr.cc where libsoxr is absent.
#include "headpond/codec/sound/resample/resample_internal.h"

namespace headpond {

bool has_soxr() { return false; }

Result<void> sound_internal::resample_by_soxr(std::span<const float>, int64_t, const ResampleOptions&,
                                              std::span<float>) {
  return fail(ErrorKind::Unimplemented, "resample: built without the component soxr (HEADPOND_SOXR)");
}

}  // namespace headpond
