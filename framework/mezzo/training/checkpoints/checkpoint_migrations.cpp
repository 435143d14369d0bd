#include <mezzo/training/checkpoints/checkpoint_migrations.hpp>

#include <charconv>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <nlohmann/json.hpp>

namespace mezzo::detail {
namespace {

namespace names = checkpoint_format;

/// Version 1 left out `data_pass` and `batches_in_pass` where they equal `epoch` and `batches_in_epoch`, the last
/// numbers of means, and in the first files their targets. It has no `data` and `samples_in_pass`: a position is
/// counted only in batches.
void from_version_1(Metadata& metadata) {
  const auto copy = [&](const char* from, const char* to) {
    if (const auto found = metadata.find(from); found != metadata.end()) metadata.emplace(to, found->second);
  };
  copy(names::epoch, names::pass);
  copy(names::batch, names::position);
  const auto numbers = metadata.find(names::epoch_numbers);
  if (numbers == metadata.end()) return;
  nlohmann::json json = nlohmann::json::parse(numbers->second, nullptr, false);
  if (!json.is_object() || !json.contains("means")) return;  // an error of the reader
  for (nlohmann::json& mean : json["means"]) {
    constexpr std::size_t without_targets = 4, without_last = 6;
    if (mean.is_array() && mean.size() == without_targets) {
      const LogTargets to;
      mean.push_back({to.history, to.logger_step, to.logger_epoch});
      mean.push_back(fmt::to_string(static_cast<int>(to.reduction)));
    }
    if (mean.is_array() && mean.size() == without_last) mean.push_back("0");
  }
  numbers->second = json.dump();
}

}  // namespace

const std::map<int, Migration>& checkpoint_migrations() {
  static const std::map<int, Migration> all{{1, from_version_1}};
  return all;
}

Metadata migrated(Metadata metadata) {
  const std::string& text = metadata[names::format_version];
  int version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() || version < 1) {
    fail<ValueError>("", "format_version must be a number from 1 to {}; got \"{}\"", names::version, text);
  }
  if (version > names::version) {
    fail<ValueError>("", "format_version must be at most {}; got {}: a newer mezzo wrote the file, update mezzo",
                     names::version, version);
  }
  for (; version < names::version; ++version) checkpoint_migrations().at(version)(metadata);
  metadata[names::format_version] = fmt::to_string(version);
  return metadata;
}

}  // namespace mezzo::detail
