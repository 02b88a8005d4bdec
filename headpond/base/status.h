// SPDX-License-Identifier: Apache-2.0
// Error, Result and Exception. While a pipeline runs, failures are values (Result). While a program builds its
// pipeline, a wrong argument is a bug in the program and is thrown where it was passed (Exception).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace headpond {

/// Unknown stays the last one: loops over all kinds, and the states of on_error, count up to it. What else a new kind
/// needs: docs/how_to_add.md, "A kind of error".
enum class ErrorKind : uint8_t {
  OutOfRange,          ///< The end of the data.
  Cancelled,           ///< A stop was requested, or the queue was closed for enqueues.
  InvalidArgument,     ///< A wrong value, dtype, shape or count, or file content that contradicts itself.
  DeadlineExceeded,    ///< A timeout passed.
  FailedPrecondition,  ///< A valid call in the wrong state, or refused by the system.
  DataLoss,            ///< Bytes are missing or damaged.
  NotFound,            ///< A file or a name does not exist.
  ResourceExhausted,   ///< No memory, disk space or descriptors, or a limit is exceeded.
  Unimplemented,       ///< Valid, but not supported here.
  Unknown,             ///< An exception that user code threw; never a clean end.
};

/// "OutOfRange", "Cancelled", ...
std::string_view to_string(ErrorKind kind);

/// Where something failed, for programs: messages say it in words. What is unknown is "" or nullopt.
struct ErrorPlace {
  std::string op = "";                            ///< The operator of a pipeline, with its arguments.
  std::string source = "";                        ///< The file.
  std::optional<uint64_t> record = std::nullopt;  ///< Its number in the source, from 0.
  std::optional<uint64_t> offset = std::nullopt;  ///< Where the record begins, in bytes.
  std::optional<uint64_t> key = std::nullopt;     ///< The element's (docs/concepts.md).
};

/// An immutable error with the chain of its causes. Copies share one payload (one pointer wide). Thread-safe as
/// std::shared_ptr is: different threads may use different copies.
class Error {
 public:
  Error() = default;  ///< No error.
  Error(ErrorKind kind, std::string message);
  Error(ErrorKind kind, std::string message, Error cause);
  /// An error of the operating system. `os_error`: the errno of the call that failed.
  static Error of_system(ErrorKind kind, std::string message, int os_error);

  explicit operator bool() const { return payload_ != nullptr; }  ///< True iff this is an error.
  /// True iff this is the end of a source: OutOfRange without a cause.
  bool is_end() const;
  ErrorKind kind() const;              ///< REQUIRES: an error.
  const std::string& message() const;  ///< Empty iff no error.
  const Error* cause() const;          ///< nullptr iff there is none; valid as long as this Error or a copy of it.
  /// "OutOfRange: text; caused by Unknown: text", or "no error". A cause of the same kind whose message ends the one
  /// before it is left out: it is said already.
  std::string to_string() const;

  /// The same error with other words for what happened: its cause, place, errno and object of the host stay. REQUIRES:
  /// an error.
  Error with_message(std::string message) const;

  /// The same error, which says that it happened at `place`. REQUIRES: an error.
  Error at(ErrorPlace place) const;
  /// Where it happened. Each member is that of the innermost cause that has one.
  ErrorPlace place() const;

  /// The same error, which also keeps an object of the host, for example the exception of an interpreter: as long as
  /// this error, a copy, or an error that it is a cause of. REQUIRES: an error.
  Error with_host_object(std::shared_ptr<const void> object) const;
  /// The object of this error, else of its first cause that has one, else null.
  std::shared_ptr<const void> host_object() const;

  /// The errno of this error, else of its first cause that has one, else 0.
  int os_error() const;
  /// True iff os_error() says that the system, not the data, failed, and that a later try may succeed: a network file
  /// system that does not answer (ESTALE, ETIMEDOUT, ENOTCONN, ...), a device (EIO), no memory or descriptors. A policy
  /// that skips damaged or missing data must not skip because of such an error.
  bool is_transient() const;

 private:
  struct Payload;
  std::shared_ptr<const Payload> payload_;
};

std::ostream& operator<<(std::ostream& out, const Error& error);

namespace internal {
struct ErrorInResult : Error {
  using Error::Error;
  ErrorInResult() = default;
  ErrorInResult(Error error) : Error(std::move(error)) {}
};
}  // namespace internal

}  // namespace headpond

/// Result is tl::expected of an Error, specialized only to be [[nodiscard]], which then holds for every function that
/// returns a Result, lambdas included.
template <class T>
class [[nodiscard]] tl::expected<T, headpond::Error> : public tl::expected<T, headpond::internal::ErrorInResult> {
  using Base = tl::expected<T, headpond::internal::ErrorInResult>;

 public:
  using error_type = headpond::Error;
  using Base::Base;
  expected() = default;
  /// From the results of the base's map() and similar functions.
  expected(Base mapped) : Base(std::move(mapped)) {}

  const headpond::Error& error() const& { return base().error(); }
  headpond::Error& error() & { return base().error(); }
  headpond::Error&& error() && { return std::move(base().error()); }

  template <class U = T>
  const U& value() const& {
    refuse_error();
    return **this;
  }
  template <class U = T>
  U& value() & {
    refuse_error();
    return **this;
  }
  template <class U = T>
  U&& value() && {
    refuse_error();
    return *std::move(*this);
  }

 private:
  const Base& base() const { return *this; }
  Base& base() { return *this; }
  void refuse_error() const {
    if (!*this) throw bad_expected_access<headpond::Error>(error());
  }
};

namespace headpond {

/// A value or an error: true iff it has a value. Results must not be ignored; write `(void)` where the error does not
/// matter. ResourceExhausted is also the error if memory for the data cannot be allocated. For small allocations, such
/// as names and error texts, a call may throw std::bad_alloc instead; it leaves its objects as after an Error.
template <class T>
using Result = tl::expected<T, Error>;

/// Makes the return value of a function that fails; converts to any Result<T>.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error(kind, std::move(message)));
}

/// Thrown where a program is built wrongly. User functions may throw it too: its error() is passed on unchanged.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.to_string()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// True iff `result` of a source's next() is the end.
template <class T>
bool at_end(const Result<T>& result) {
  return !result && result.error().is_end();
}

/// The value of `result`. Throws Exception with its error iff it has one: for code that builds a pipeline, not code
/// that runs in it.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Exception(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The exception that is being handled, as an Error: the error() of an Exception; ResourceExhausted for bad_alloc
/// (which allocates nothing); else Unknown with what(). REQUIRES: called inside a catch block.
Error current_exception_error();

}  // namespace headpond

/// Returns from the enclosing function with the error of `expression` (a Result) iff it has one.
#define HEADPOND_TRY(expression)                                                          \
  do {                                                                                    \
    if (auto headpond_try_result = (expression); !headpond_try_result)                    \
      return ::tl::unexpected<::headpond::Error>(std::move(headpond_try_result).error()); \
  } while (false)
