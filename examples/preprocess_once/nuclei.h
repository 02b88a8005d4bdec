// SPDX-License-Identifier: Apache-2.0
// The pictures: microscopy images, each with a mask for every nucleus, laid out as the Data Science Bowl 2018 has them,
// <folder>/<id>/images/<id>.png and <folder>/<id>/masks/*.png; or drawn ones if these are missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/preprocess_once/sample.h"

namespace preprocess_once {

/// The files of one picture.
struct Picture {
  std::string image;
  std::vector<std::string> masks;
};

/// Sorted by name; names are not patterns. NotFound iff there are none, or one has no mask.
hp::Result<std::vector<Picture>> find_pictures(const std::string& folder);

/// A fifth of the pictures, at least one, are the test's: by a hash of the image's file name. Both stay sorted by name.
struct Split {
  std::vector<Picture> train, test;
};
Split split_by_name(const std::vector<Picture>& pictures);

/// Draws `count` pictures from the seed: bright blobs on a dark ground, in five sizes in turn.
hp::Result<void> draw_pictures(const std::string& folder, int64_t count, uint64_t seed, const GoOn& go_on = {});

/// Decoded: u8 [height, width, 3].
hp::Result<hp::Tensor> read_image(const Picture& picture);
/// u8 [height, width, 1]. InvalidArgument iff it is not as large as the image.
hp::Result<hp::Tensor> read_mask(const std::string& path, const hp::Tensor& image);

}  // namespace preprocess_once
