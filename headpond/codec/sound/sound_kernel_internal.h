// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "headpond/codec/sound/sound_file.h"
#include "headpond/tensor/kernel.h"

namespace headpond::sound_internal {

/// The kernel decode_wav or decode_sound, by its name. Throws Exception(InvalidArgument) iff an option is out of range.
KernelRef decoder_kernel(const std::string& name, const SoundOptions& options);

}  // namespace headpond::sound_internal
