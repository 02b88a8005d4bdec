// SPDX-License-Identifier: Apache-2.0
// Sources of elements that are computed, in memory, or given by a function. For files see files.h.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"

namespace headpond {

/// start, start + step, ..., without stop; scalars of `output_type`, as TensorFlow converts them: an integer that does
/// not fit keeps its low bits, floating point is rounded to nearest. Throws for step 0, bool and bytes.
Dataset range(int64_t stop);
Dataset range(int64_t stop, DType output_type);
Dataset range(int64_t start, int64_t stop, int64_t step = 1, DType output_type = DType::i64);

/// start, start + step, ..., without end; scalars of `dtype`, converted as by range: each from its exact number, where
/// TensorFlow adds in `dtype` and loses more with each step. A number beyond 64 bits is the error of its element,
/// OutOfRange. Throws for bool and bytes.
Dataset counter(int64_t start = 0, int64_t step = 1, DType dtype = DType::i64);

struct RandomSourceOptions {
  std::optional<uint64_t> seed = std::nullopt;  ///< None: the run's.
  bool rerandomize_each_iteration = false;      ///< true: other numbers in each epoch.
  std::string name = "random";                  ///< Name of its random numbers.
};

/// Numbers from [0, 2^32), each as likely as any other, without end; i64 scalars. A number follows from its position.
Dataset random(const RandomSourceOptions& options = {});

/// One element, with these fields. The tensors must not change afterwards.
Dataset from_tensors(const std::vector<std::pair<std::string, Tensor>>& tensors);
Dataset from_tensors(Tensor tensor);

/// Element i has row i of each tensor. Rows of more than 16 bytes are not copied. All tensors have the same first
/// dimension, and must not change afterwards.
Dataset from_tensor_slices(const std::vector<std::pair<std::string, Tensor>>& tensors);
Dataset from_tensor_slices(Tensor tensor);

/// The images and labels of two IDX files, plain or gzip (io/array/idx.h), as fields "image" and "label". This call
/// reads the files, and throws Exception with the reader's error. Their names and a checksum of their values are part
/// of the plan: once they have changed, older states are refused.
Dataset idx(const std::string& images_path, const std::string& labels_path);
void idx(internal::ListOfNames, const std::string&) = delete;
void idx(const std::string&, internal::ListOfNames) = delete;
/// The rows of one IDX file, as an unnamed field.
Dataset idx(const std::string& path);
void idx(internal::ListOfNames) = delete;

struct CifarOptions {
  bool train = true;  ///< Else the test part.
};

/// CIFAR-10 and CIFAR-100 in their binary version (docs/formats/cifar.md): "image" u8 [32, 32, 3], its channels
/// together, then "label" u8, of CIFAR-100 "coarse_label" and "label". This call reads the files of that part into
/// memory; a checksum of their values is part of the plan. Throws Exception, with file and offset: NotFound iff a file
/// is missing, DataLoss iff one is not a whole number of records, InvalidArgument iff a label is too large.
Dataset cifar10(const std::string& folder, const CifarOptions& options = {});
void cifar10(internal::ListOfNames, const CifarOptions& = {}) = delete;
Dataset cifar100(const std::string& folder, const CifarOptions& options = {});
void cifar100(internal::ListOfNames, const CifarOptions& = {}) = delete;

/// Returns the next element, or nullopt at the end. Called by one thread at a time.
using Generator = std::function<Result<std::optional<Element>>()>;

struct GeneratorOptions {
  std::string name = "";  ///< For explain, errors and the state; "": a restore does not notice that it changed.
  int version = 0;        ///< Raise it when the generator returns other elements.
  /// Returns a generator of `epoch` that goes on after its first `position` elements. Without this function a restore
  /// asks a new generator for so many elements and drops them.
  std::function<Result<Generator>(uint64_t epoch, int64_t position)> seek = {};
  /// The generator waits (network, devices, what the program does with earlier elements) more than it computes. The
  /// engine then calls it from separate threads and delivers each element at once. Otherwise it may call it up to 256
  /// times before it delivers the first of these elements. Values and states stay the same.
  bool blocking = false;
};

/// The elements of a generator, one after the other. `make` returns a new generator for an epoch, which gives the same
/// elements each time. An element that does not fit `spec` is replaced by an error. After an error that the generator
/// returns or throws it is not called again: each later call gives that error.
Dataset from_generator(std::function<Generator(uint64_t epoch)> make, Spec spec, const GeneratorOptions& options = {});

}  // namespace headpond
