#pragma once
#include <string>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::detail {

/// Returns read(), which makes an object of a file's config. Errors other than FileErrors and MemoryErrors become
/// FileErrors that start with `where`.
template <class Read>
auto with_file_errors(const std::string& where, Read&& read) {
  try {
    return std::forward<Read>(read)();
  } catch (const FileError&) {
    throw;
  } catch (const MemoryError&) {
    throw;
  } catch (const Error& error) {
    fail<FileError>(where, "{}", error.what());
  } catch (const nlohmann::json::exception& error) {
    fail<FileError>(where, "the config is malformed: {}", error.what());
  }
}

}  // namespace mezzo::detail
