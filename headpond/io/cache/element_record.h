// SPDX-License-Identifier: Apache-2.0
// One element as bytes, laid out so that a mapped file can be used as its memory (docs/formats/cache.md).
// Not for users.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/element.h"

namespace headpond::internal {

/// Records begin at multiples of this, and their length is one. So is the begin of each field that is not small.
inline constexpr size_t kRecordAlign = 64;

/// The fields, the key and the provenance of `element`; not the fields' names, which are those of its dataset.
std::vector<std::byte> to_record(const Element& element);

/// The element of a record. Fields of more than 16 bytes borrow `record`, and own a count of `owner`, which keeps it
/// alive. InvalidArgument, with the reason, unless `record` is what to_record() makes of some element: any bytes may be
/// given. REQUIRES: `record` begins at an address that is a multiple of kRecordAlign.
Result<Element> from_record(std::span<const std::byte> record, const BufferRef& owner);

}  // namespace headpond::internal
