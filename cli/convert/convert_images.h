// SPDX-License-Identifier: Apache-2.0
// The images of a folder, decoded by `headpond convert`: stored as pixels or encoded again.
#pragma once

#include <cstdint>
#include <string>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

struct ImageForm {
  std::string image = "";  ///< "raw", "jpeg" or "png"; "": files stay as they are.
  std::string field = "image";
  int64_t size = 0;  ///< Sides of the square that is cut out of the middle; 0: images keep their sizes.
};

/// The samples of a folder with RGB images in place of "file": the shorter side is resized to the size and the middle
/// is cut out.
/// - raw: `field` (bytes, the pixels row by row) and "size" (i64 [height, width]), for raw_image();
/// - jpeg (quality 95), png: `field`, a file of that format.
/// A file that is no image is an error in its place.
Dataset with_images(const Dataset& samples, const ImageForm& form);

/// One more field of the samples, `field`/jpeg_index: the index of the JPEG in `field`
/// (headpond/codec/image/jpeg_index.h) with this interval, or an empty text.
Dataset with_jpeg_index(const Dataset& samples, const std::string& field, int64_t interval);

/// The images of the samples alone, as pixels u8 [size, size, 3]. REQUIRES: size > 0.
Dataset image_rows(const Dataset& samples, int64_t size);

/// The labels of the files in a folder, "label" i64 scalars in the order of its samples. Lists the files now, and reads
/// none. Throws Exception with the error of listing them.
Dataset label_rows(const std::string& folder);

}  // namespace headpond::cli
