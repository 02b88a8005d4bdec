// SPDX-License-Identifier: Apache-2.0
// The implementations of CRC-32C. All take and return the register, without the inversions at both ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace headpond::crc32c_internal {

/// One table look-up a byte: the reference for tests, and used for short input on processors without a CRC instruction.
uint32_t by_table(uint32_t state, std::span<const std::byte> bytes);

/// True iff by_instruction() may be called.
bool has_instruction();

/// The CRC instruction of the processor, eight bytes at a time: best for short input.
uint32_t by_instruction(uint32_t state, std::span<const std::byte> bytes);

/// ISA-L's folding: best for long input. Leaves the upper halves of the vector registers clean.
uint32_t by_folding(uint32_t state, std::span<const std::byte> bytes);

}  // namespace headpond::crc32c_internal
