#pragma once
#include <optional>
#include <string>
#include <vector>

#include <mezzo/nn/config_json.hpp>

namespace mezzo::detail {

/// adapter_config.json of PEFT.
struct PeftConfig {
  std::int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  bool use_rslora = false;
  std::vector<std::string> targets{};       ///< names or ends of names of modules
  std::optional<std::string> expression{};  ///< regular expression for whole names, in place of `targets`
  bool all_targets = true;                  ///< false: only some of the layers that match have adapters
  std::vector<std::pair<std::string, std::int64_t>> ranks{};  ///< by expression for ends of names
  std::vector<std::pair<std::string, double>> alphas{};

  std::int64_t rank_of(const std::string& module) const;
  double alpha_of(const std::string& module) const;
  /// True if a module of that name has adapters.
  bool is_target(const std::string& module) const;
};

/// Reads it. Throws a FileError that starts with `where` and names the key if one has another type, is out of range, or
/// changes results in a way that mezzo can't compute.
PeftConfig read_peft_config(const Json& json, const std::string& where);

}  // namespace mezzo::detail
