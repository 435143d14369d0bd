#pragma once
#include <cstdint>
#include <string>

#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// Most calls of layers, and most ops, of a model whose file has that many bytes. A call in a config takes 2 bytes or
/// more, but repeated layers that contain repeated layers multiply.
std::int64_t most_calls(std::uint64_t file_bytes);
std::int64_t most_ops(std::uint64_t file_bytes);

/// Throws a ValueError if a call of the model of the config makes more than most_calls() calls of layers. It checks
/// only the number of calls; the readers report a malformed config.
void check_calls(const Json& model, std::uint64_t file_bytes, const std::string& where);

}  // namespace mezzo::detail
