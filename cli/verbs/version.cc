// SPDX-License-Identifier: Apache-2.0
// headpond --version: the version, the compiler, the components.
#include <fmt/core.h>

#include "cli/session.h"
#include "cli/verbs/verbs.h"
#include "headpond/base/cpu.h"
#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/sound_file.h"

namespace headpond::cli {

Verb version_verb() {
  return {.path = "version",
          .what = "print the version and what was compiled in (also -V, --version)",
          .declare = [](Flags&) {},
          .run = [](Session& session) -> Result<Report> {
            const auto parts = components();
            session.say(fmt::format("headpond {}", HEADPOND_VERSION));
            session.say(fmt::format("{} {}, {}, SIMD target {}", HEADPOND_COMPILER, HEADPOND_BUILD_TYPE, HEADPOND_FLAGS,
                                    simd_target()));
            for (const auto& [name, present] : parts)
              session.say(fmt::format("  {:<16} {}", name, present ? "yes" : "no"));
            return Report{.members = [parts](JsonWriter& json) {
              json.key("components").begin_object();
              for (const auto& [name, present] : parts) json.member(name, present);
              json.end_object();
            }};
          }};
}

std::vector<std::pair<std::string, bool>> components() {
  return {{"torch", HEADPOND_WITH_TORCH},
          {"gzip", true},
          {"isal", true},
          {"highway", true},
          {"peer_onetbb", HEADPOND_WITH_ONETBB},
          {"peer_moodycamel", HEADPOND_WITH_MOODYCAMEL},
          {"records", true},
          {"engine", true},
          {"jpeg", has_jpeg()},
          {"png", has_png()},
          {"webp", has_decoder(ImageFormat::webp)},
          {"gif", has_decoder(ImageFormat::gif)},
          {"wav", true},
          {"sndfile", has_sndfile()},
          {"soxr", has_soxr()},
          {"python", false}};
}

}  // namespace headpond::cli
