#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo {

/// Result of one check of doctor().
struct Finding {
  bool problem = false;   ///< true: something slows mezzo down or makes it fail here
  std::string subject{};  ///< "threads", "memory", "environment", ...
  std::string text{};     ///< what was found
  std::string cure{};     ///< what to do; "" without a problem
};

/// Checks this machine and installation: instruction set, threads, memory limit, huge pages, memory
/// allocator, folder of data sets, plug-ins, and environment variables `MEZZO_*` that mezzo doesn't read. Measures
/// nothing, changes nothing.
MEZZO_API std::vector<Finding> doctor();

}  // namespace mezzo
