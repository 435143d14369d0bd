#pragma once
#include <optional>

#include <mezzo/io/safetensors.hpp>

namespace mezzo::detail {

constexpr std::uint64_t max_header_bytes = 100'000'000;  // limit of the reference library
/// End of errors of files that are too short.
constexpr const char* safetensors_truncated = ": the file is truncated, copy or download it again";
constexpr std::size_t max_rank = 32;
constexpr const char* metadata_name = "__metadata__";

/// Metadata entry with checksums, 8 hexadecimal digits each: of the header, then of each tensor, ordered by offset.
/// Older files have only the checksums of the tensors.
constexpr const char* checksum_name = "crc32";

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;  ///< ordered by offset
  Metadata metadata;
};

/// Name of a dtype in the format: "F32".
const char* safetensors_name(DType dtype);

/// Start of error texts: `[safetensors "x.safetensors"]` or, with a tensor, `[safetensors "x.safetensors"] tensor
/// "fc":`.
std::string safetensors_label(const std::string& path, const std::string& tensor = {});

/// Parses and checks the JSON of a header. Throws a FileError if it is malformed or if the tensors don't fill
/// `data_bytes`.
SafetensorsHeader parse_safetensors_header(const std::string& text, std::uint64_t data_bytes, const std::string& path);

/// Bits of an element of a dtype of the format: 8 for "F8_E4M3", 4 for "F4". 0 for an unknown dtype.
std::uint64_t safetensors_bits(const std::string& type);

/// CRC-32 of a tensor's name, dtype, shape and elements.
class TensorChecksum {
 public:
  /// Starts with name, dtype and shape.
  explicit TensorChecksum(const TensorEntry& entry);

  /// Adds the next elements.
  void add(const void* bytes, std::size_t count);
  std::uint32_t value() const { return value_; }

 private:
  std::uint32_t value_ = 0;
};

/// CRC-32 of the content of a header: all entries, ordered by name, and the metadata without `crc32`.
std::uint32_t safetensors_checksum(const SafetensorsHeader& header);

}  // namespace mezzo::detail
