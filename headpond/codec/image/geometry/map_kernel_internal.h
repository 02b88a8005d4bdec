// SPDX-License-Identifier: Apache-2.0
// A kernel that moves a sample's fields by a map that follows from the image's size and random numbers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/codec/image/geometry/warp_fields_internal.h"

namespace headpond::warp_internal {

struct MapFunction {
  std::string name;  ///< In errors, and of the random numbers.
  std::string title;
  bool draws = false;
  FieldOptions options;
  /// No map: the sample stays as it is. `random` is used iff `draws`. May throw Exception.
  std::function<std::optional<ImageMap>(WarpSize size, Random& random)> map;
  std::function<ResultSize(int64_t, int64_t)> size = same_size;
};

/// Throws as check_options().
KernelRef map_kernel(const MapFunction& function);

/// "affine(angle=10, fill=[1,2,3])": options that are not the default, in the order in which they are added.
class Title {
 public:
  explicit Title(std::string name) : name_(std::move(name)) {}
  void add(std::string_view option, double value, double unless);
  void add(std::string_view option, const std::vector<double>& values);  ///< One value alone has no brackets.
  void add(std::string_view option, std::string_view word);
  void add(const std::optional<XY>& center);
  void add(const FieldOptions& options);  ///< interpolation, fill, mask_fill and min_area.
  std::string text() const;

 private:
  std::string name_;
  std::vector<std::string> parts_;
};

[[noreturn]] void refuse_option(std::string_view op, const std::string& what);

}  // namespace headpond::warp_internal
