// SPDX-License-Identifier: Apache-2.0
// What a sample looks like: its image with mask, boxes and points, or its sound.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "cli/view/picture.h"
#include "headpond/codec/image/normalize/normalize_kernel.h"
#include "headpond/tensor/element.h"
#include "headpond/tensor/kernel.h"

namespace headpond::cli {

/// What a person sees of a sample.
struct Tile {
  std::string source = "";  ///< The file; empty if it is not known.
  int64_t record = -1;      ///< In it; -1 if it is not known.
  uint64_t key = 0;
  int64_t epoch = 0;
  std::vector<std::string> draws = {};  ///< Kernels and operators that drew random numbers.
  std::string shape = "";               ///< Of the field that is shown: "float32[3,224,224]".
  double min = 0, max = 0, mean = 0;    ///< Of its values, NaN left out; 0 without values.
  std::string error = "";               ///< The sample could not be made.
  std::string note = "";                ///< "shown from its least to its largest value".
  std::vector<std::pair<std::string, Picture>> pictures = {};
  std::vector<std::byte> wav = {};                               ///< The sound, to listen to.
  std::vector<std::pair<std::string, std::string>> others = {};  ///< Other fields and their values.
};

/// How fields are to be understood.
struct TileReading {
  Spec spec;
  std::vector<std::pair<size_t, FieldRole>> roles = {};  ///< Of the fields that kernels saw; may be empty.
  const NormalizeOptions* normalization = nullptr;       ///< How the image was normalized; null: not known.
  bool is_sound = false;                                 ///< The first of `roles` is a sound,
  bool is_spectrum = false;                              ///< or a spectrum.
  int64_t rate = 0;                                      ///< Of sound, in Hz; 0: not known.
};

/// Fills in shape, values, pictures, sound and other fields.
void show(const TileReading& reading, const Element& element, Tile& tile);

/// An image of any layout and number dtype as RGB; false if the tensor is none. `note` gets how values were mapped.
bool to_picture(const Tensor& image, const NormalizeOptions* normalization, Picture& picture, std::string& note);

/// The values as doubles; empty for bytes.
std::vector<double> values_of(const Tensor& tensor);

}  // namespace headpond::cli
