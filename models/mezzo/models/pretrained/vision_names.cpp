#include <mezzo/models/pretrained/vision_names.hpp>

namespace mezzo::detail {
namespace {

/// A regular expression for a beginning, with a group for each `$`.
std::string as_expression(const std::string& beginning) {
  std::string out = "^";
  for (const char c : beginning) out += c == '.' ? "\\." : c == '$' ? "(\\d+)" : std::string(1, c);
  return out;
}

/// A replacement with the groups in their order.
std::string as_replacement(const std::string& beginning) {
  std::string out;
  char group = '0';
  for (const char c : beginning) {
    out += c;
    if (c == '$') out += ++group;
  }
  return out;
}

}  // namespace

void TwoWayRules::add(const std::string& folder, const std::string& torchvision) {
  read.emplace_back(as_expression(folder), as_replacement(torchvision));
  written.emplace_back(as_expression(torchvision), as_replacement(folder));
}

NamedTensors with_batch_counts(NamedTensors tensors) {
  const std::string variance = "running_var";
  NamedTensors counts;
  for (const auto& [name, tensor] : tensors) {
    if (!name.ends_with(variance)) continue;
    counts.emplace_back(name.substr(0, name.size() - variance.size()) + "num_batches_tracked",
                        Tensor({}, DType::int64));
  }
  tensors.insert(tensors.end(), counts.begin(), counts.end());
  return tensors;
}

}  // namespace mezzo::detail
