#pragma once
#include <memory>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/held.hpp>
#include <mezzo/training/module/profiler.hpp>

namespace mezzo::profilers {

struct ExplainProfilerOptions {
  std::string dirpath{};   ///< folder of the file; "": the current one
  std::string filename{};  ///< file of the texts, without its extension ".txt"; "": they go to the output
};

/// Writes the text of Model::explain() with the times of all kernels after each epoch. Times are means over all runs of
/// the training step so far, except the first. An epoch whose step has run once shows the plan without times.
class MEZZO_API ExplainProfiler : public Profiler {
 public:
  /// A ValueError for a dirpath without a filename.
  explicit ExplainProfiler(const ExplainProfilerOptions& options = {});

  void start(const std::string&) override {}
  void stop(const std::string&) override {}
  void on_epoch_end(Module& module, int epoch) override;  ///< a FileError if the file can't be written

 private:
  struct State;
  detail::Held<State> state_;
};

}  // namespace mezzo::profilers
