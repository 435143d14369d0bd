#pragma once
#include <vector>

#include <mezzo/nn/gptq.hpp>

namespace mezzo::detail {

/// Batches of the config's dataset, with num_samples samples in all: batches as they are, or windows of tokens. `where`
/// begins errors. A ValueError for an empty dataset, arrays of different kinds, or fewer tokens than one window has; a
/// DTypeError for tokens of different dtypes.
MEZZO_API std::vector<Tensor> gptq_batches(const GPTQConfig& config, const std::string& where);

}  // namespace mezzo::detail
