// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/random.h"

#include <Random123/philox.h>
#include <sys/random.h>

#include <cerrno>
#include <random>

namespace headpond {

namespace {

__extension__ using uint128_t = unsigned __int128;

constexpr uint64_t finish(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

constexpr uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
constexpr uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

}  // namespace

uint64_t mix(uint64_t a, uint64_t b) { return finish(finish(a + 0x9e3779b97f4a7c15U) ^ b); }

RandomKey random_key(uint64_t seed, std::string_view op, uint32_t occurrence, uint64_t epoch) {
  return {mix(mix(mix(seed, fnv1a(op)), occurrence), epoch)};
}

std::array<uint32_t, 4> philox(RandomKey key, uint64_t element, uint64_t block) {
  const philox4x32_ctr_t counter{{low(block), high(block), low(element), high(element)}};
  const philox4x32_ctr_t words = philox4x32_R(10, counter, {{low(key.value), high(key.value)}});
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

uint64_t entropy() {
  uint64_t value = 0;
  ssize_t count = 0;
  do count = getrandom(&value, sizeof value, 0);
  while (count < 0 && errno == EINTR);
  if (count == sizeof value) return value;
  std::random_device device;  // a kernel or sandbox without getrandom
  return device() | uint64_t{device()} << 32;
}

void Random::refill() {
  words_ = philox(key_, element_, block_++);
  next_ = 0;
}

// The low half of word * n shows whether this word is one of the 2^bits mod n that would prefer some results.
uint64_t Random::below(uint64_t n) {
  if (high(n) == 0) {
    const auto bound = static_cast<uint32_t>(n);
    uint64_t product = uint64_t{u32()} * bound;
    if (low(product) < bound) {
      const uint32_t surplus = (0U - bound) % bound;
      while (low(product) < surplus) product = uint64_t{u32()} * bound;
    }
    return product >> 32;
  }
  uint128_t product = uint128_t{u64()} * n;
  if (static_cast<uint64_t>(product) < n) {
    const uint64_t surplus = (uint64_t{0} - n) % n;
    while (static_cast<uint64_t>(product) < surplus) product = uint128_t{u64()} * n;
  }
  return static_cast<uint64_t>(product >> 64);
}

}  // namespace headpond
