#include <mezzo/training/module/plateau.hpp>

#include <vector>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/module/beats.hpp>

namespace mezzo {
namespace {

void require_option(bool good, const char* option, const char* range, double value) {
  if (!good) fail<ValueError>("[Plateau]", "{} must be {}; got {}", option, range, value);
}

void require_name(const char* option, const std::string& name, const std::vector<std::string>& names) {
  for (const std::string& one : names) {
    if (one == name) return;
  }
  fail_unknown("[Plateau]", option, name, names);
}

}  // namespace

Plateau::Plateau(PlateauOptions options) : options_(std::move(options)) {
  require_name("mode", options_.mode, {"min", "max"});
  require_name("threshold_mode", options_.threshold_mode, {"rel", "abs"});
  require_option(options_.factor >= 0 && options_.factor < 1, "factor", "from 0 to below 1", options_.factor);
  require_option(options_.patience >= 0, "patience", "0 or more", options_.patience);
  require_option(options_.cooldown >= 0, "cooldown", "0 or more", options_.cooldown);
  require_option(options_.threshold >= 0, "threshold", "0 or more", options_.threshold);
  require_option(options_.min_lr >= 0, "min_lr", "0 or more", options_.min_lr);
  require_option(options_.eps >= 0, "eps", "0 or more", options_.eps);
}

bool Plateau::improves(double number, double best) const {
  const double threshold = options_.threshold;
  const bool relative = options_.threshold_mode == "rel";
  const bool rises = options_.mode == "max";
  const double change = rises ? threshold : -threshold;
  return detail::beats(number, relative ? best * (1 + change) : best + change, rises);
}

}  // namespace mezzo
