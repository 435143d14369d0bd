#pragma once
#include <string>

#include <mezzo/c/mezzo.h>

namespace mezzo::detail {

/// Sets mezzo_last_error() of this thread.
void set_last_error(const char* text) noexcept;
const char* last_error() noexcept;

/// Status of the exception that is being handled. Sets its text as that of the last error.
mezzo_status status_of_exception() noexcept;

/// An error that only the C interface has.
struct StatusError {
  mezzo_status status;
  std::string text;
};

/// Calls `body`. Returns MEZZO_OK, or the status of the exception that it throws.
template <class Body>
mezzo_status guarded(const Body& body) noexcept {
  try {
    body();
    return MEZZO_OK;
  } catch (...) {
    return status_of_exception();
  }
}

/// Throws a StatusError of MEZZO_ERROR_ARGUMENT if the pointer is null.
void require_pointer(const void* pointer, const char* function, const char* name);

}  // namespace mezzo::detail
