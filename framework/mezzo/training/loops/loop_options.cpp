#include <mezzo/training/loops/loop_options.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>

namespace mezzo {
namespace {

int at_least_1(int number, const char* what) {
  if (number < 1) fail<ValueError>("", "{} must be at least 1; got {}", what, number);
  return number;
}

}  // namespace

detail::Verbose::Verbose(int level) : level_(level) {
  if (level < 0 || level > 2) fail<ValueError>("", "verbose must be 0, 1, 2 or \"auto\"; got {}", level);
}

int detail::Verbose::named(const std::string& name) {
  if (name != "auto") fail_unknown("", "verbose", name, {"auto"});
  return 1;
}

detail::ValidationFrequency::ValidationFrequency(int every) : every_(at_least_1(every, "validation_freq")) {}

detail::ValidationFrequency::ValidationFrequency(std::vector<int> epochs) : epochs_(std::move(epochs)) {
  for (const int epoch : epochs_) at_least_1(epoch, "epochs of validation_freq");
}

bool detail::ValidationFrequency::due(int epoch) const {
  if (every_ > 0) return (epoch + 1) % every_ == 0;
  return std::find(epochs_.begin(), epochs_.end(), epoch + 1) != epochs_.end();
}

detail::Frequency::Frequency(int batches) : batches_(at_least_1(batches, "a frequency")) {}

int detail::Frequency::named(const std::string& name) {
  if (name == "epoch") return 0;
  if (name == "batch") return 1;
  fail_unknown("", "frequency", name, {"epoch", "batch"});
}

}  // namespace mezzo
