#pragma once
#include <string>

namespace mezzo_bench {

/// The command line.
struct Arguments {
  std::string workload;
  std::string policy;                   ///< a Policy's name, or a Trainer's precision
  double seconds = 6;                   ///< duration of the timed steps
  int threads = 0;                      ///< 0: OMP_NUM_THREADS, or all of the machine
  bool split_masters = false;           ///< AdamW's split_master_weights
  std::string state_dtype = "float32";  ///< AdamW's
  bool remat = false;                   ///< true: layers of the model are made in a RematScope
  bool profile = false;
};

/// Parses `WORKLOAD POLICY [--seconds S] [--threads N] [--split-masters] [--state-dtype DTYPE] [--remat] [--profile]`.
/// Anything else is a ValueError with the usage.
Arguments parse_arguments(int argc, const char* const* argv);

}  // namespace mezzo_bench
