// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/dtype.h"

#include <array>

namespace headpond {
namespace {

struct Facts {
  std::string_view name;
  size_t size;
};

constexpr std::array<Facts, 14> kFacts = {{{"uint8", 1},
                                           {"int8", 1},
                                           {"uint16", 2},
                                           {"int16", 2},
                                           {"uint32", 4},
                                           {"int32", 4},
                                           {"uint64", 8},
                                           {"int64", 8},
                                           {"float16", 2},
                                           {"bfloat16", 2},
                                           {"float32", 4},
                                           {"float64", 8},
                                           {"bool", 1},
                                           {"bytes", 0}}};

}  // namespace

size_t item_size(DType dtype) { return kFacts.at(static_cast<size_t>(dtype)).size; }

std::string_view name(DType dtype) { return kFacts.at(static_cast<size_t>(dtype)).name; }

}  // namespace headpond
