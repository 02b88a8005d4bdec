// SPDX-License-Identifier: Apache-2.0
// A dataset's elements for a kernel that needs more data than its sample:
//
//   const Dataset noises = folder("noises") | map("file", decode_wav({.desired_channels = 1}));
//   auto noisy = clips | map("file", decode_wav(), mix_noise(tensors_of(noises, "file"), {.low_snr_db = 5}));
#pragma once

#include <string>

#include "headpond/dataset/dataset.h"
#include "headpond/tensor/tensor_list.h"

namespace headpond {

/// The tensors of `field` by position; "": of the only field. Opens the dataset's files to know their number. An
/// element is made each time that it is asked for, by the thread that asks, as in epoch 0 with seed 0. The name of the
/// list stands for the dataset as a fingerprint does, and is "" if the dataset calls a function without a name. Reading
/// returns the error of an element, with its number. Throws Exception(InvalidArgument) unless the dataset has positions
/// without holes, an end, and the field; and the error of a file that can't be opened.
TensorList tensors_of(const Dataset& dataset, const std::string& field = "");

}  // namespace headpond
