// SPDX-License-Identifier: Apache-2.0
// What `headpond convert` reads, and how one sample becomes the bytes that it writes.
#pragma once

#include <string>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::cli {

/// What the files `words` of the kind `from` hold, a sample an element, with names for all fields:
/// - idx: "image" and "label", or "data" of one file;
/// - folder: "path" below it, "file" and "label";
/// - tar: "__key__" and a field for each extension;
/// - csv: a field for each column, whose type follows from all files: i64, f32 or bytes;
/// - wav: "name" of the file, "file", "sample_rate", "channels" and "frames", the header checked.
/// No name or path of this machine's folders is in a sample. Throws Exception with InvalidArgument for words that do
/// not fit, else with the reader's error.
Dataset convert_samples(const std::string& from, const std::vector<std::string>& words);

/// Each sample as one scalar of dtype bytes: a tf.train.Example (integers as int64, u8 as one value of bytes, missing
/// cells, which are NaN, INT64_MIN and empty texts, left out), or its members in a tar archive: "<key>.<field>", arrays as .npy, numbers as text,
/// labels as .cls. The key is "__key__", else the sample's number with eight digits.
Dataset as_examples(const Dataset& samples);
Dataset as_tar_members(const Dataset& samples);

}  // namespace headpond::cli
