// SPDX-License-Identifier: Apache-2.0
// Operators that work on one element at a time. Functions must be pure: they are called from many threads, perhaps
// twice for an element, or for elements that are never delivered. For the types that they may take and return see map.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <utility>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

struct MapOptions {
  /// Fields of the result. Required if the function's type does not tell them (Tensor, Element); else only for names.
  Spec output = {};
  std::string name = "";  ///< For explain and the state; "": a restore does not notice that the function changed.
  int version = 0;        ///< Raise it when the function returns other values for equal arguments.
  /// The function waits (files, network, sleep) more than it computes. The engine calls it from separate threads;
  /// values and states stay the same.
  bool blocking = false;
};

/// The fields that kernels work on, by their names; "": there is none with that role.
struct MapFields {
  std::string image = "";
  std::string mask = "";
  std::string boxes = "";
  std::string labels = "";
  std::string points = "";
  /// For explain, errors and the state; kernels draw other numbers under another name. So two branches of a zip() that
  /// have the same kernels make two different views of an image only if they have different names.
  std::string name = "";
  /// false: each kernel runs by itself, with the same bytes. For tests.
  bool join = true;
};

namespace internal {
template <class T>
concept IsKernel = std::convertible_to<T, KernelRef>;
Step map_kernels_step(const MapFields& fields, const std::vector<KernelRef>& kernels);
Step map_kernels_step(const std::string& field, const std::vector<KernelRef>& kernels, const std::string& name = "");
Step map_step(Function function, const MapOptions& options);
Step map_field_step(const std::string& field, Function function, const MapOptions& options);
Step filter_step(Function predicate, const MapOptions& options);
}  // namespace internal

/// Calls `function` for each element. Its arguments are the fields in their order: an arithmetic type takes a scalar,
/// std::span<const T> the values of any shape, std::string_view a scalar of dtype bytes, const Tensor& any field; a
/// single const Element& takes all fields. It returns an arithmetic type, std::string or Tensor, a std::tuple of these,
/// an Element, or a Result of one of them. An error, returned or thrown, replaces the element.
///
/// A function from one arithmetic type to another also takes a field of any shape: it is called for each value. The
/// compiler sees the loop, and can vectorise a function that it sees: map([](uint8_t x) { return x / 255.F; }). Compile
/// without -ffast-math, which may make a value depend on its index in the loop.
template <class F>
Step map(F function, const MapOptions& options = {}) {
  return internal::map_step(internal::make_map_function(std::move(function)), options);
}

/// Calls a function of one argument and one result for the field `field`; the other fields stay as they are.
template <class F>
  requires(!internal::IsKernel<F>)
Step map(const std::string& field, F function, const MapOptions& options = {}) {
  return internal::map_field_step(field, internal::make_map_function(std::move(function)), options);
}
template <class F>
  requires(!internal::IsKernel<F>)
Step map(internal::ListOfNames, F, const MapOptions& = {}) = delete;

/// Runs kernels on the field `field`, one after the other; "": the only field. map(f, a, b) has the bytes of map(f, a)
/// | map(f, b): each kernel draws the numbers of its own name (and MapFields::name). Neighbours that can be joined run
/// as one kernel (explain says which), and the last one writes into the row of the batch if its shape is fixed by the
/// options.
template <std::convertible_to<std::string> Name, internal::IsKernel... K>
  requires(sizeof...(K) > 0)
Step map(const Name& field, K... kernels) {
  return internal::map_kernels_step(std::string(field), {KernelRef(std::move(kernels))...});
}
/// The same on fields that move together: map({.image = "photo", .mask = "labels"}, random_horizontal_flip()). Throws
/// Exception(InvalidArgument) iff there is no image, one field has two roles, or a kernel cannot take the fields.
template <internal::IsKernel... K>
  requires(sizeof...(K) > 0)
Step map(const MapFields& fields, K... kernels) {
  return internal::map_kernels_step(fields, {KernelRef(std::move(kernels))...});
}

/// A function of one tensor as a kernel, to stand among others. `options.output` has one field, its dtype and shape.
/// Throws Exception(InvalidArgument) if it has not.
KernelRef function_kernel(std::function<Result<Tensor>(const Tensor&)> function, const MapOptions& options);

/// Keeps the elements for which `predicate` returns true. It takes arguments as map's function does, and returns bool
/// or Result<bool>. Positions stay: the elements left out are holes. An input with an end may have none that passes.
/// Where an input without an end has 4,194,304 holes in a row, next() returns FailedPrecondition; so it does where an
/// epoch of a Loader with endless epochs has no element.
template <class F>
Step filter(F predicate, const MapOptions& options = {}) {
  return internal::filter_step(internal::make_function(std::move(predicate)), options);
}

struct IgnoreErrorsOptions {
  bool log_warning = false;  ///< A line in the log for each error.
};

/// Leaves out elements that failed; in a batch after which this stands, the good ones are in the next batch. Positions
/// stay: those of errors are holes. Errors that another run might not have are passed on, as elements would differ
/// then: Cancelled, DeadlineExceeded, and those of the system that may pass (Error::is_transient). A stream that gives
/// 1,000 errors in a row may never give anything else: then one of them is passed on.
Step ignore_errors(const IgnoreErrorsOptions& options = {});

/// How on_error treats an element that failed. fail: passes the error on. skip: leaves the element out.
/// substitute: gives another element in its place.
enum class OnErrorPolicy : uint8_t { fail, skip, substitute };

struct OnErrorOptions {
  OnErrorPolicy policy = OnErrorPolicy::skip;
  /// With OnErrorPolicy::substitute: what stands for an element that failed. It has the input's fields, and gets the
  /// key of the element that failed.
  Element substitute = {};
  /// Limits of skip and substitute, for each epoch of the input. The failure that exceeds one ends the run with an
  /// error of kind FailedPrecondition, which each later call returns again.
  int64_t max_errors = -1;  ///< Failures allowed; below 0: any number.
  /// Among the last `window` elements max_error_share * window failures are allowed, 100 by default, also when fewer
  /// elements were read so far. 1: any number.
  double max_error_share = 0.01;
  int64_t window = 10'000;  ///< 1 to 10^9; at most 1,000 failures may be allowed in it.
  /// This many failures in a row end the run; the error names their common cause. 1 to 1,000.
  int64_t give_up_after = 10;
};

/// Handles the elements that fail below: in the operators between this one and the source, or the next on_error. Only
/// bad data is handled. An error of kind Cancelled, DeadlineExceeded or FailedPrecondition and one that may pass
/// (Error::is_transient) go to the program and count nowhere: another run might not have them.
///
/// Its choices depend only on the elements in their order, and are part of the state: they are the same for any number
/// of threads and after a restore. With skip the result is a stream, as its positions are not known ahead. With
/// substitute and fail positions stay, but this operator acts only on elements that are read in order: operators that
/// read by position (shuffle, select, sample_weighted) refuse to stand above it, and at() gives the error itself. Put
/// it after them. docs/bad_samples.md has the rest: what is written down, and how to look at it.
///
/// Throws Exception(InvalidArgument) for a limit out of range, and for a substitute that does not fit or isn't used.
Step on_error(const OnErrorOptions& options = {});

}  // namespace headpond
