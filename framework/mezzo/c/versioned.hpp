#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>

#include <fmt/format.h>

#include <mezzo/c/status.hpp>

// Structs of the interface, which begin with their size as the caller knows it.
namespace mezzo::detail {

/// Size of a caller's struct. An error unless it has at least its first members, up to `least` bytes.
template <class Struct>
std::size_t size_of(const Struct* given, const char* function, const char* name, std::size_t least) {
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size >= least && size <= 4096) return size;
  throw StatusError{MEZZO_ERROR_ARGUMENT, fmt::format("[{}] struct_size of {} must be its sizeof, {}; got {}", function,
                                                      name, sizeof(Struct), size)};
}

/// Copy of a caller's struct. Members that an older caller does not know are 0. An error if a newer caller has set
/// members that this library does not know.
template <class Struct>
Struct copy_of(const Struct* given, const char* function, const char* name, std::size_t least) {
  const std::size_t size = size_of(given, function, name, least);
  Struct out{};
  std::memcpy(&out, given, std::min(size, sizeof out));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (size > sizeof out &&
      std::any_of(bytes + sizeof out, bytes + size, [](unsigned char byte) { return byte != 0; })) {
    throw StatusError{MEZZO_ERROR_ARGUMENT,
                      fmt::format("[{}] {} has members of a later version that are not 0: struct_size must be at most "
                                  "{}; got {}",
                                  function, name, sizeof(Struct), size)};
  }
  return out;
}

/// Writes the members of a result that the caller knows. Keeps its struct_size.
template <class Struct>
void write_result(Struct result, Struct* out, std::size_t size) {
  result.struct_size = size;
  std::memcpy(out, &result, std::min(size, sizeof result));
}

/// Struct `i` of a list, whose elements have the size that the first one states.
template <class Struct>
Struct* element_of(Struct* list, std::size_t size, std::size_t i) {
  using Byte = std::conditional_t<std::is_const_v<Struct>, const unsigned char, unsigned char>;
  return reinterpret_cast<Struct*>(reinterpret_cast<Byte*>(list) + i * size);
}

}  // namespace mezzo::detail
