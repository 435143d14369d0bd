#pragma once
#include <string>

namespace mezzo_bench {

/// What the command line says.
struct Arguments {
  std::string workload;
  std::string policy;  ///< a Policy's name, or a Trainer's precision
  double seconds = 6;  ///< for which steps are timed
  int threads = 0;     ///< 0: as many as OMP_NUM_THREADS or the machine has
  bool profile = false;
};

/// `WORKLOAD POLICY [--seconds S] [--threads N] [--profile]`; a ValueError that shows the usage for anything else.
Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace mezzo_bench
