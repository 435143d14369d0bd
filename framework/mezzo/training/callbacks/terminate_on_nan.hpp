#pragma once
#include <cstdint>
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

struct TerminateOnNaNOptions {
  bool raise_error = false;  ///< true: fit ends with an error of this callback
};

/// Ends fit without an error at a step whose loss or gradients are not finite; without this callback that is an error
/// of fit. The step changes no variable, so the model has the weights of the step before (in Keras they are NaN). The
/// last number of "loss" in the History is NaN. Steps that loss scaling skips don't count.
class MEZZO_API TerminateOnNaN : public Callback {
 public:
  explicit TerminateOnNaN(const TerminateOnNaNOptions& options = {}) : options_(options) {}

  bool on_non_finite(std::int64_t batch, const std::string& error) override;

 private:
  TerminateOnNaNOptions options_;
};

}  // namespace mezzo
