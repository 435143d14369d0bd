#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/models/pretrained/config_fields.hpp>

namespace mezzo::detail {

/// Keys of a config.json of timm.
struct TimmConfig {
  std::vector<std::string> known{};  ///< architectures of the family
  std::string architecture{};        ///< one of them
  std::int64_t classes = 1000;       ///< size of the output
  std::int64_t channels = 3;         ///< of images
  std::string first_conv{};          ///< name of the first convolution
  std::string classifier{};          ///< name of the last layer
};

/// Reads or writes a config of timm. Other arguments of timm's models than `in_chans` are an error.
void describe_timm(ConfigFields& fields, TimmConfig& config);

/// A written config with the pretrained_cfg of `kept`, which has settings such as the mean of images.
Json with_timm_settings(Json config, const Json& kept);

/// Reads or writes `num_features`, which the architecture determines.
void describe_timm_features(ConfigFields& fields, std::int64_t features);

}  // namespace mezzo::detail
