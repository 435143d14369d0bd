#include <mezzo/distributed/rank_threads.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <mezzo/core/cpu.hpp>

namespace mezzo::detail {
namespace {

/// The machine and the processors on which this process may run.
std::string own_processors() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  std::string text = host.data();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return text;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) text += fmt::format(" {}", i);
  }
  return text;
}

}  // namespace

int threads_of_rank(Communicator& ranks) {
  const std::string own = own_processors();
  const std::vector<std::string> all = ranks.gather_texts(own);
  const auto sharing = static_cast<int>(std::count(all.begin(), all.end(), own));
  const double quota = mezzo::cpu_quota();
  const int cores = quota > 0 ? std::min(available_cores(), static_cast<int>(std::ceil(quota))) : available_cores();
  return std::max(1, cores / sharing);
}

}  // namespace mezzo::detail
