// SPDX-License-Identifier: Apache-2.0
// Instead of sound_file.cc where libsndfile is absent.
#include <fmt/format.h>

#include "headpond/codec/sound/sound_file_internal.h"

namespace headpond {
namespace {

tl::unexpected<Error> absent(SoundFormat format, std::string_view file) {
  return fail(ErrorKind::Unimplemented,
              fmt::format("{}: {}, but built without the component sndfile (HEADPOND_SNDFILE)", file, name(format)));
}

}  // namespace

bool has_sndfile() { return false; }

Result<SoundInfo> sound_internal::library_info(Bytes, SoundFormat format, const SoundOptions&, std::string_view name) {
  return absent(format, name);
}

Result<sound_internal::Decoded> sound_internal::library_decode(Bytes, SoundFormat format, const SoundOptions&,
                                                               std::string_view name, Resampler&, const MakeSamples&) {
  return absent(format, name);
}

}  // namespace headpond
