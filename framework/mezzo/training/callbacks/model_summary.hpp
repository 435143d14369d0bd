#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct ModelSummaryOptions {
  int max_depth = 1;  ///< nesting of layers that is shown; 0: writes nothing, -1: all
};

/// Writes a table of the layers before the training: name, class, number of weights, and whether they are trained;
/// below it the numbers of weights of the module and their bytes.
class MEZZO_API ModelSummary : public Callback {
 public:
  /// A ValueError for a depth below -1.
  explicit ModelSummary(const ModelSummaryOptions& options = {});

  void on_fit_start() override;
  bool on_all_ranks() const override { return false; }

  /// The text that the callback writes. The layers must be built.
  static std::string text(const Module& module, int max_depth = 1);

 private:
  ModelSummaryOptions options_;
};

}  // namespace mezzo
