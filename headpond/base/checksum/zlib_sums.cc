// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/checksum/zlib_sums.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

#include "headpond/base/checksum/upper_halves.h"

namespace headpond {

uint32_t crc32_extend(uint32_t crc, std::span<const std::byte> data) {
  const uint32_t sum = crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(data.data()), data.size());
  clear_upper_halves();
  return sum;
}

uint32_t adler32_extend(uint32_t adler, std::span<const std::byte> data) {
  const uint32_t sum = isal_adler32(adler, reinterpret_cast<const unsigned char*>(data.data()), data.size());
  clear_upper_halves();
  return sum;
}

}  // namespace headpond
