#include <mezzo/report/wrong_settings.hpp>

#include <mezzo/core/environment.hpp>
#include <mezzo/core/environment_variables.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/tuning.hpp>

namespace mezzo::detail {

std::vector<std::string> wrong_settings() {
  std::vector<std::string> out;
  const auto check = [&](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      out.emplace_back(error.what());
    }
  };
  check([] { thread_binding(); });
  check([] { flush_denormals(); });
  check([] { yield_when_busy(); });
  check([] { adaptive_threads(); });
  check([] { plan_cache_size(); });
  check([] { eager_cache_size(); });
  check([] { environment_choice(environment_variables::float32_winograd, {"0", "1"}); });
  check([] { environment_choice(environment_variables::verbose, {"0", "dispatch"}); });
  check([] { environment_choice(environment_variables::warn_slow_policy, {"0", "1"}); });
  return out;
}

}  // namespace mezzo::detail
