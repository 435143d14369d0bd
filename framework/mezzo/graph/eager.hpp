#pragma once
#include <vector>

#include <mezzo/graph/op.hpp>

namespace mezzo {

/// Computes one op on arrays, through the kernels that plans use. Implemented by compiler/.
std::vector<Tensor> run_eagerly(const Op& op, const Attributes& attributes, const std::vector<Tensor>& inputs,
                                const std::vector<Spec>& outputs, const std::string& where);

}  // namespace mezzo
