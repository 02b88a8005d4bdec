// SPDX-License-Identifier: Apache-2.0
#include "headpond/base/status.h"

#include <array>
#include <cerrno>
#include <new>
#include <ostream>

namespace headpond {

std::string_view to_string(ErrorKind kind) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "OutOfRange", "Cancelled", "InvalidArgument",   "DeadlineExceeded", "FailedPrecondition",
      "DataLoss",   "NotFound",  "ResourceExhausted", "Unimplemented",    "Unknown"};
  return kNames.at(static_cast<size_t>(kind));
}

struct Error::Payload {
  ErrorKind kind;
  std::string message;
  Error cause;
  int os_error = 0;
  std::shared_ptr<const ErrorPlace> place = nullptr;
  std::shared_ptr<const void> host_object = nullptr;
};

Error::Error(ErrorKind kind, std::string message) : Error(kind, std::move(message), Error()) {}

Error::Error(ErrorKind kind, std::string message, Error cause)
    : payload_(std::make_shared<const Payload>(Payload{kind, std::move(message), std::move(cause)})) {}

Error Error::of_system(ErrorKind kind, std::string message, int os_error) {
  Error error;
  error.payload_ = std::make_shared<const Payload>(Payload{kind, std::move(message), Error(), os_error});
  return error;
}

ErrorKind Error::kind() const { return payload_ ? payload_->kind : ErrorKind::Unknown; }

const std::string& Error::message() const {
  static const std::string kEmpty;
  return payload_ ? payload_->message : kEmpty;
}

const Error* Error::cause() const { return payload_ && payload_->cause ? &payload_->cause : nullptr; }

bool Error::is_end() const { return payload_ && kind() == ErrorKind::OutOfRange && !payload_->cause; }

std::string Error::to_string() const {
  if (!payload_) return "no error";
  std::string text;
  const Error* said = nullptr;
  for (const Error* error = this; error != nullptr; error = error->cause()) {
    // An operator puts its name in front of the message of the error that it passes on.
    const bool is_said =
        said != nullptr && said->kind() == error->kind() && said->message().ends_with(error->message());
    if (is_said) continue;
    if (error != this) text += "; caused by ";
    text.append(headpond::to_string(error->kind())).append(": ").append(error->message());
    said = error;
  }
  return text;
}

Error Error::with_message(std::string message) const {
  if (!payload_) return {};
  Payload payload = *payload_;
  payload.message = std::move(message);
  Error error;
  error.payload_ = std::make_shared<const Payload>(std::move(payload));
  return error;
}

namespace {

// What `from` knows replaces what `to` has.
void take_known(ErrorPlace& to, const ErrorPlace& from) {
  if (!from.op.empty()) to.op = from.op;
  if (!from.source.empty()) to.source = from.source;
  if (from.record) to.record = from.record;
  if (from.offset) to.offset = from.offset;
  if (from.key) to.key = from.key;
}

}  // namespace

Error Error::at(ErrorPlace place) const {
  if (!payload_) return {};
  Payload payload = *payload_;
  if (payload.place != nullptr) take_known(place, *payload.place);
  payload.place = std::make_shared<const ErrorPlace>(std::move(place));
  Error error;
  error.payload_ = std::make_shared<const Payload>(std::move(payload));
  return error;
}

ErrorPlace Error::place() const {
  ErrorPlace place;
  for (const Error* error = this; error != nullptr; error = error->cause()) {
    if (error->payload_ && error->payload_->place) take_known(place, *error->payload_->place);
  }
  return place;
}

Error Error::with_host_object(std::shared_ptr<const void> object) const {
  if (!payload_) return {};
  Payload payload = *payload_;
  payload.host_object = std::move(object);
  Error error;
  error.payload_ = std::make_shared<const Payload>(std::move(payload));
  return error;
}

std::shared_ptr<const void> Error::host_object() const {
  for (const Error* error = this; error != nullptr; error = error->cause()) {
    if (error->payload_ && error->payload_->host_object) return error->payload_->host_object;
  }
  return nullptr;
}

int Error::os_error() const {
  for (const Error* error = this; error != nullptr; error = error->cause()) {
    if (error->payload_ && error->payload_->os_error != 0) return error->payload_->os_error;
  }
  return 0;
}

bool Error::is_transient() const {
  switch (os_error()) {
    case EINTR:
    case EIO:
    case EAGAIN:
    case EBUSY:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOLCK:
    case EDEADLK:
    case ESTALE:
    case EREMOTEIO:
    case ECOMM:
    case EPROTO:
    case EKEYEXPIRED:
    case ETIMEDOUT:
    case ENOTCONN:
    case ESHUTDOWN:
    case ECONNABORTED:
    case ECONNREFUSED:
    case ECONNRESET:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETDOWN:
    case ENETRESET:
    case ENETUNREACH:
      return true;
    default:
      return false;
  }
}

std::ostream& operator<<(std::ostream& out, const Error& error) { return out << error.to_string(); }

namespace {

const Error& out_of_memory() {
  static const Error error = Error::of_system(ErrorKind::ResourceExhausted, "out of memory", ENOMEM);
  return error;
}
// Made early, because later there may be no memory for it.
[[maybe_unused]] const Error& made_early = out_of_memory();

}  // namespace

Error current_exception_error() {
  try {
    throw;
  } catch (const Exception& exception) {
    return exception.error();
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  } catch (const std::exception& exception) {
    return {ErrorKind::Unknown, exception.what()};
  } catch (...) {
    return {ErrorKind::Unknown, "an exception that is not a std::exception"};
  }
}

}  // namespace headpond
