// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string_view>

#include "headpond/tensor/kernel.h"

namespace headpond::sound_internal {

inline void require(bool good, std::string_view kernel, std::string_view what) {
  if (!good) throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", kernel, what)));
}

/// Throws Exception(InvalidArgument) iff the first field is no sound of `least` to 2 dimensions.
inline void require_sound(const Spec& spec, std::string_view kernel, int least = 1) {
  const FieldSpec& field = spec[0];
  const bool is_sound = field.dtype == DType::f32 && field.shape.rank() >= least && field.shape.rank() <= 2;
  require(is_sound, kernel,
          fmt::format("takes float32 [frames{}, not {}{}", least == 1 ? "] or [frames, channels]" : ", channels]",
                      name(field.dtype), field.shape.to_string()));
}

}  // namespace headpond::sound_internal
