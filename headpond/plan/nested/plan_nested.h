// SPDX-License-Identifier: Apache-2.0
// flat_map and interleave in pipeline files: the dataset of an element is a chain, in which the element's values stand
// for "{field}".
#pragma once

#include "headpond/plan/plan_step.h"
#include "headpond/tensor/element.h"

namespace headpond::plan {

/// A copy of `value`, a chain's argument. A string that is "{field}" becomes the value of that field; in longer strings
/// its text stands in place of "{field}". Only single values are filled in; other braces stay.
PlanValue filled(const PlanValue& value, const Spec& spec, const Element& element);

/// The same text for equal values, whatever their lines.
std::string text_of(const PlanValue& value);

// All throw Exception or PlanError.

Dataset build_flat_map(const PlanStep& step);
Dataset build_interleave(const PlanStep& step);
/// The element that the chain is made for, as a dataset of one element.
Dataset build_element(const PlanStep& step);

}  // namespace headpond::plan
