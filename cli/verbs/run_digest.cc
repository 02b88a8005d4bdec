// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/run_digest.h"

#include <fmt/format.h>

#define XXH_STATIC_LINKING_ONLY  // Its state may be a member.
#include <xxhash.h>

namespace headpond::cli {

struct RunDigest::State {
  XXH3_state_t hash;
};

RunDigest::RunDigest() : state_(std::make_unique<State>()) { XXH3_64bits_reset(&state_->hash); }
RunDigest::~RunDigest() = default;

void RunDigest::add(const Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& field = element[i];
    const std::string head = std::string(name(field.dtype())) + field.shape().to_string();
    XXH3_64bits_update(&state_->hash, head.data(), head.size());
    XXH3_64bits_update(&state_->hash, field.data(), field.byte_size());
  }
}

std::string RunDigest::text() const { return fmt::format("{:016x}", XXH3_64bits_digest(&state_->hash)); }

}  // namespace headpond::cli
