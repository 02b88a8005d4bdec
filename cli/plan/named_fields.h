// SPDX-License-Identifier: Apache-2.0
// Names of fields in pipeline files: each field has one, and a field without a name is called x.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// "x" for a field without a name.
std::string shown_name(const FieldSpec& field);

/// The same elements with other names: an operator that costs nothing while running. Throws Exception(InvalidArgument)
/// for a name that occurs twice. REQUIRES: as many names as fields.
Dataset renamed(const Dataset& dataset, const std::vector<std::string>& names);

/// `dataset`, its field without a name named x: before it gets neighbours.
Dataset named(const Dataset& dataset);

/// What the library calls the field `name` of a file: "" for the only one.
std::string library_name(const Spec& spec, const std::string& name);

}  // namespace headpond::cli
