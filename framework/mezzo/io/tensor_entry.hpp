#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <mezzo/core/dtype.hpp>
#include <mezzo/core/shape.hpp>

namespace mezzo {

/// Description of a tensor in a file, without its numbers.
struct TensorEntry {
  std::string name;                             ///< key in the file
  std::optional<DType> dtype = DType::float32;  ///< nullopt: mezzo lacks the dtype, and read() returns bytes
  Shape shape;                                  ///< sizes of the axes, outermost first
  std::uint64_t begin = 0;   ///< offset in bytes: in safetensors from the first tensor, in `.pt` in its storage
  std::uint64_t bytes = 0;   ///< size of the elements in bytes
  std::string type = "F32";  ///< dtype as the file has it: "F8_E4M3", "BFloat16Storage"
};

namespace detail {
/// Name of the entry's dtype for error texts: "float32"; the file's name of a dtype that mezzo lacks.
inline std::string type_text(const TensorEntry& entry) { return entry.dtype ? dtype_name(*entry.dtype) : entry.type; }
}  // namespace detail

}  // namespace mezzo
