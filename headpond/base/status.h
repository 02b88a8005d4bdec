// SPDX-License-Identifier: Apache-2.0
// Error values: Error, Result, Exception. While a pipeline runs, failures are values (Result); while a program builds
// its pipeline, a wrong argument is a bug in the program and is thrown where it was written (Exception).
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace headpond {

enum class ErrorKind : uint8_t {
  OutOfRange,          ///< The end of the data.
  Cancelled,           ///< Somebody asked to stop, or the queue was closed for enqueues.
  InvalidArgument,     ///< A wrong value, dtype, shape, count or file content that contradicts itself.
  DeadlineExceeded,    ///< A timeout passed.
  FailedPrecondition,  ///< Right call, wrong moment or state.
  DataLoss,            ///< Bytes are missing or damaged.
  NotFound,            ///< A file or a name does not exist.
  ResourceExhausted,   ///< Memory, disk or a limit.
  Unimplemented,       ///< Valid, but not supported here.
  Unknown,             ///< An exception of the user's own; never a clean end.
};

/// "OutOfRange", "Cancelled", ...
std::string_view to_string(ErrorKind kind);

/// An immutable error with the chain of errors that caused it. Copies share one payload (one pointer wide). Thread-safe
/// like a std::shared_ptr: different copies may be used by different threads.
class Error {
 public:
  Error() = default;  ///< No error.
  Error(ErrorKind kind, std::string message);
  Error(ErrorKind kind, std::string message, Error cause);
  /// An error of the operating system. `os_error`: the errno of the call that failed.
  static Error of_system(ErrorKind kind, std::string message, int os_error);

  explicit operator bool() const { return payload_ != nullptr; }  ///< True iff this is an error.
  /// True iff this is how a source says that it has no more: OutOfRange without a cause.
  bool is_end() const;
  ErrorKind kind() const;              ///< REQUIRES: an error.
  const std::string& message() const;  ///< Empty iff no error.
  const Error* cause() const;          ///< nullptr iff there is none; lives as long as this Error or a copy of it.
  std::string to_string() const;       ///< "OutOfRange: text; caused by Unknown: text", or "no error".

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

/// What Result is: tl::expected of an Error, and no more. It is a class of its own so that it can be [[nodiscard]],
/// which then holds for every function that returns a Result, lambdas included.
template <class T>
class [[nodiscard]] tl::expected<T, headpond::Error> : public tl::expected<T, headpond::internal::ErrorInResult> {
  using Base = tl::expected<T, headpond::internal::ErrorInResult>;

 public:
  using error_type = headpond::Error;
  using Base::Base;
  expected() = default;
  expected(Base other) : Base(std::move(other)) {}  ///< What map() and its like return.

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

/// A value or an error: true iff there is a value. A call that returns one must be looked at; `(void)` says that its
/// error does not matter. Where there is no memory for what data ask for, an Error says ResourceExhausted. For small
/// pieces, as a name or an error's text, a call may throw std::bad_alloc instead; what it worked on is as after an
/// Error of it.
template <class T>
using Result = tl::expected<T, Error>;

/// What a function returns to fail: converts to any Result<T>.
inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }
inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error(kind, std::move(message)));
}

/// Thrown where a program is built wrongly. A producer function may throw it too: its error is kept as it is.
class Exception : public std::runtime_error {
 public:
  explicit Exception(Error error) : std::runtime_error(error.to_string()), error_(std::move(error)) {}
  const Error& error() const { return error_; }

 private:
  Error error_;
};

/// True iff a source's next() said that it has no more.
template <class T>
bool at_end(const Result<T>& result) {
  return !result && result.error().is_end();
}

/// The value of a result. Throws Exception with its error iff it has one: for code that builds, as opposed to code that
/// runs.
template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Exception(std::move(result).error());
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// The exception that is being handled as an Error: Exception's own error; bad_alloc is ResourceExhausted, which
/// takes no memory; anything else is Unknown with what(). REQUIRES: called inside a catch block.
Error current_exception_error();

}  // namespace headpond

/// Returns the error of `expression` (a Result) from the enclosing function iff it has one.
#define HEADPOND_TRY(expression)                                                          \
  do {                                                                                    \
    if (auto headpond_try_result = (expression); !headpond_try_result)                    \
      return ::tl::unexpected<::headpond::Error>(std::move(headpond_try_result).error()); \
  } while (false)
