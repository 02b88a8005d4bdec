// SPDX-License-Identifier: Apache-2.0
// Names of fields in pipeline files: a field without a name is called x, and several are called by their positions.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::plan {

/// Whether a field has one.
bool has_names(const Spec& spec);

/// The name of field `i`. Of one without: "x" if no other is without a name or called so, else its position: "0".
std::string shown_name(const Spec& spec, size_t i);
std::vector<std::string> shown_names(const Spec& spec);

/// The same elements with other names; costs nothing at run time. Throws Exception(InvalidArgument) if a name occurs
/// twice; fields may be without one. REQUIRES: as many names as fields.
Dataset renamed(const Dataset& dataset, const std::vector<std::string>& names);

/// `dataset` with its shown_names(), before other fields are added.
Dataset named(const Dataset& dataset);

/// What an operator joins, by chain name: the datasets as they are if none has names, else each one named().
std::vector<Dataset> alike(std::span<const std::pair<std::string, Dataset>> inputs);

/// The library's name of the field `name` of a file: "" for the only field.
std::string library_name(const Spec& spec, const std::string& name);

}  // namespace headpond::plan
