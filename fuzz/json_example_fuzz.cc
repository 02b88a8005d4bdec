// SPDX-License-Identifier: Apache-2.0
// Examples in JSON from any bytes: a message that its own readers take, of at most about twice the text, or an error.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "headpond/io/example/example_schema.h"
#include "headpond/io/example/json_example.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto message = headpond::decode_json_example(text, {.max_features = 100});
  if (!message) {
    const bool is_many = message.error().kind() == headpond::ErrorKind::ResourceExhausted;
    if (!is_many && message.error().kind() != headpond::ErrorKind::InvalidArgument) __builtin_trap();
    return 0;
  }
  const auto infos = headpond::describe_example(std::as_bytes(std::span(*message)));
  if (!infos || infos->size() > 100 || message->size() > 3 * size) __builtin_trap();
  return 0;
}
