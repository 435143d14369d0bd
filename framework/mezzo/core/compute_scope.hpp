#pragma once
#include <sched.h>

#include <cstddef>

namespace mezzo::detail {

/// Applies the settings of core/tuning.hpp to this thread and its pool for its lifetime.
class ComputeScope {
 public:
  ComputeScope();
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

 private:
  unsigned control_;  // the caller's MXCSR
  bool bound_;
  cpu_set_t cores_;  // the caller's affinity mask, if bound
};

/// Advises the system to back [address, address + bytes) with huge pages, unless huge_pages() is off.
void ask_for_huge_pages(void* address, std::size_t bytes);

}  // namespace mezzo::detail
