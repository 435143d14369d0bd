#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include <mezzo/graph/variable_state.hpp>

// Choice of the slots that state_dtype = int8 stores in 8 bits.
namespace mezzo::detail {

/// Slots of smaller variables are float32.
constexpr std::int64_t least_coded_size = 4096;

inline bool is_large(const VariableState& variable) { return variable.value.size() >= least_coded_size; }

/// True if the running step reads the variable only by gather, as the table of an Embedding. False outside of steps.
bool only_looked_up(const std::shared_ptr<VariableState>& variable);

/// Dtype of the codes of a slot: uint8 for slots without negative numbers, such as second moments, else int8.
DType code_dtype(const std::string& slot);

}  // namespace mezzo::detail
