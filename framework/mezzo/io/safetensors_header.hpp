#pragma once
#include <optional>

#include <mezzo/io/safetensors.hpp>

namespace mezzo::detail {

constexpr std::uint64_t max_header_bytes = 100'000'000;
constexpr std::size_t max_rank = 32;
constexpr const char* metadata_name = "__metadata__";
constexpr const char* checksum_name = "crc32";

struct SafetensorsHeader {
  std::vector<SafetensorsFile::Entry> entries;  ///< in the order of their bytes
  Metadata metadata;
};

/// "F32".
const char* safetensors_name(DType dtype);

/// `[safetensors "x.safetensors"] `, and with a tensor's name `tensor "fc.weight": `.
std::string safetensors_label(const std::string& path, const std::string& tensor = {});

/// Parses and checks the JSON of a header, whose tensors must fill `data_bytes`; a FileError otherwise.
SafetensorsHeader parse_safetensors_header(const std::string& text, std::uint64_t data_bytes, const std::string& path);

/// Checksum of a tensor: of its name, dtype and shape too, so that a damaged header shows.
std::uint32_t safetensors_checksum(const std::string& name, const Tensor& tensor);

}  // namespace mezzo::detail
