// SPDX-License-Identifier: Apache-2.0
// Names of fields in pipeline files: a field without a name is called x.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::plan {

/// "x" for a field without a name.
std::string shown_name(const FieldSpec& field);

/// The same elements with other names; costs nothing at run time. Throws Exception(InvalidArgument) if a name occurs
/// twice. REQUIRES: as many names as fields.
Dataset renamed(const Dataset& dataset, const std::vector<std::string>& names);

/// `dataset` with its unnamed field named x, before other fields are added.
Dataset named(const Dataset& dataset);

/// What an operator joins, by chain name: the datasets as they are if none has names, else each one named().
std::vector<Dataset> alike(std::span<const std::pair<std::string, Dataset>> inputs);

/// The library's name of the field `name` of a file: "" for the only field.
std::string library_name(const Spec& spec, const std::string& name);

}  // namespace headpond::plan
