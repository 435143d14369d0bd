#pragma once
#include <sched.h>

#include <cstddef>

namespace mezzo::detail {

/// While one lives, this thread and its pool compute by the settings of core/tuning.hpp.
class ComputeScope {
 public:
  ComputeScope();
  ~ComputeScope();
  ComputeScope(const ComputeScope&) = delete;
  ComputeScope& operator=(const ComputeScope&) = delete;

 private:
  unsigned control_;
  bool bound_;
  cpu_set_t cores_;  // the caller's, if bound
};

/// Memory from there on is in huge pages, if they are wanted and the system has some.
void ask_for_huge_pages(void* address, std::size_t bytes);

}  // namespace mezzo::detail
