// SPDX-License-Identifier: Apache-2.0
// What a sample looks like: its image with mask, boxes and points, or its sound.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/view/picture.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/tensor/element.h"
#include "headpond/tensor/kernel.h"

namespace headpond::cli {

/// What a person sees of a sample.
struct Tile {
  std::string source = "";           ///< The file; empty if it is not known.
  int64_t record = -1;               ///< In it; -1 if it is not known.
  bool is_whole = false;             ///< The record is all of it.
  std::optional<uint64_t> key = {};  ///< None: it is not known.
  int64_t epoch = 0;
  std::vector<std::string> draws = {};  ///< Kernels and operators that drew random numbers.
  std::string shape = "";               ///< The shape of the field that is shown: "float32[3,224,224]".
  double min = 0, max = 0, mean = 0;    ///< Statistics of its values, NaN left out; 0 without values.
  std::string error = "";               ///< The sample could not be made.
  std::string note = "";                ///< "shown from its least to its largest value".
  std::vector<std::pair<std::string, Picture>> pictures = {};
  std::vector<std::byte> wav = {};                               ///< The sound, to listen to.
  std::vector<std::pair<std::string, std::string>> others = {};  ///< Other fields and their values.
};

/// The places of fields in an element, and what each is; the first is the image or the sound.
using TileRoles = std::vector<std::pair<size_t, FieldRole>>;

/// How fields are to be understood.
struct TileReading {
  Spec spec;
  TileRoles roles = {};                             ///< Roles of the fields that kernels saw; may be empty.
  const NormalizeOptions* normalization = nullptr;  ///< How the image was normalized; null: not known.
  bool is_sound = false;                            ///< The first of `roles` is a sound,
  bool is_spectrum = false;                         ///< or a spectrum,
  bool is_transposed = false;                       ///< whose bands come before its frames.
  int64_t rate = 0;                                 ///< Rate of sound, in Hz; 0: not known.
};

/// Fills in shape, values, pictures, sound and other fields. Each channel of an image after its third is a grey
/// picture of its own.
void show(const TileReading& reading, const Element& element, Tile& tile);

/// Adds the waveform of a sound, and the sound to listen to.
void add_sound(const TileReading& reading, const Tensor& sound, Tile& tile);

/// True iff the field is shown as a sound: `reading` says so, or it has the shape of one.
bool is_sound(const TileReading& reading, const Tensor& field);

/// The first three channels of an image of any layout and number dtype, with 1 to 16 channels, as RGB: one is grey, two
/// have no blue. False if the tensor is none. `note` gets how values were mapped.
bool to_picture(const Tensor& image, const NormalizeOptions* normalization, Picture& picture, std::string& note);

/// The values as doubles; empty for bytes.
std::vector<double> values_of(const Tensor& tensor);

}  // namespace headpond::cli
