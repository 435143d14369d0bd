#include <mezzo/c/status.hpp>

#include <new>

#include <fmt/format.h>

#include <mezzo/core/error.hpp>

namespace mezzo::detail {
namespace {

struct LastError {
  std::string text;
  const char* shown = "";
};

LastError& last_error_of_thread() {
  thread_local LastError error;
  return error;
}

mezzo_status keep(mezzo_status status, const char* text) noexcept {
  set_last_error(text);
  return status;
}

}  // namespace

void set_last_error(const char* text) noexcept {
  LastError& last = last_error_of_thread();
  try {
    last.text = text;
    last.shown = last.text.c_str();
  } catch (const std::bad_alloc&) {
    last.shown = "[mezzo] memory is insufficient, also for the text of the error";
  }
}

const char* last_error() noexcept { return last_error_of_thread().shown; }

mezzo_status status_of_exception() noexcept {
  try {
    throw;
  } catch (const StatusError& error) {
    return keep(error.status, error.text.c_str());
  } catch (const ShapeError& error) {
    return keep(MEZZO_ERROR_SHAPE, error.what());
  } catch (const DTypeError& error) {
    return keep(MEZZO_ERROR_DTYPE, error.what());
  } catch (const NameError& error) {
    return keep(MEZZO_ERROR_NAME, error.what());
  } catch (const FileError& error) {
    return keep(MEZZO_ERROR_FILE, error.what());
  } catch (const MemoryError& error) {
    return keep(MEZZO_ERROR_MEMORY, error.what());
  } catch (const std::bad_alloc&) {
    return keep(MEZZO_ERROR_MEMORY, "[mezzo] memory is insufficient");
  } catch (const ValueError& error) {
    return keep(MEZZO_ERROR_VALUE, error.what());
  } catch (const std::exception& error) {
    return keep(MEZZO_ERROR_OTHER, error.what());
  } catch (...) {
    return keep(MEZZO_ERROR_OTHER, "[mezzo] an exception of an unknown type was thrown");
  }
}

void require_pointer(const void* pointer, const char* function, const char* name) {
  if (pointer != nullptr) return;
  throw StatusError{MEZZO_ERROR_ARGUMENT, fmt::format("[{}] {} must not be NULL", function, name)};
}

}  // namespace mezzo::detail
