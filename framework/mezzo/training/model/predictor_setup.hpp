#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/training/model/predictor.hpp>
#include <mezzo/training/predictor/engine.hpp>

namespace mezzo::detail {

/// Names of a predictor's inputs.
struct PredictorInputs {
  std::vector<std::string> names;   ///< by which callers give them; "" for one without a name
  std::vector<std::string> fields;  ///< of the batch that predict_step() receives

  /// The arrays in the order of the inputs. A NameError for names that are missing or unknown, a ValueError for a wrong
  /// number of arrays.
  std::vector<Tensor> ordered(const Tensors& x) const;
};

/// Throws a ValueError that names the first option out of range.
void check_options(const PredictorOptions& options);

/// Names for `count` inputs; `names` are those of the model, empty if it has none.
PredictorInputs name_inputs(const PredictorOptions& options, const std::vector<std::string>& names, std::size_t count);

/// Throws unless the call has rows, the same number in all inputs.
void check_rows(const CallInputs& inputs);

/// Numbers of rows to which joined calls are filled up: powers of two, batch_sizes, and max_batch_size. Empty if calls
/// are not joined.
std::vector<std::int64_t> joined_sizes(const PredictorOptions& options);

/// Longest time that a call waits for others.
std::chrono::nanoseconds joining_delay(const PredictorOptions& options);

/// Inputs for which a predictor is compiled at once. `built`: those of the model, with -1 for open sizes; empty if they
/// are not known.
std::vector<std::vector<Spec>> inputs_ahead(const PredictorOptions& options, const PredictorInputs& inputs,
                                            const std::vector<Spec>& built);

/// Workers and threads of a call.
EngineOptions engine_options(const PredictorOptions& options);

}  // namespace mezzo::detail
