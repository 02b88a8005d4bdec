// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/batch_rows.h"

#include <cstddef>
#include <string_view>

namespace headpond {

// The first field of a ragged batch has all values; the first one of a sparse batch has the values' indices.
int64_t rows_of_batch(const Spec& spec, const Element& element) {
  for (size_t i = 0; i < element.size(); ++i) {
    if (element[i].rank() == 0) continue;
    const auto has_after = [&](size_t ahead, std::string_view ending) {
      return i + ahead < element.size() && element[i + ahead].rank() == 1 && spec[i + ahead].name.ends_with(ending);
    };
    if (has_after(1, ".row_splits") && spec[i + 1].name == spec[i].name + ".row_splits") {
      return element[i + 1].dim(0) - 1;
    }
    if (has_after(1, ".values") && has_after(2, ".shape") && spec[i].name.ends_with(".indices") &&
        element[i + 2].dtype() == DType::i64 && element[i + 2].dim(0) > 0) {
      return element[i + 2].as<int64_t>()[0];
    }
    return element[i].dim(0);
  }
  return 1;
}

}  // namespace headpond
