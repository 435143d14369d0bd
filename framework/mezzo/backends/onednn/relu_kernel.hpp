#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/backends/onednn/primitive_kernel.hpp>

namespace mezzo::onednn {

/// A product and a ReLU. `offer(relu)` describes the product with or without oneDNN's ReLU, which turns NaN into 0; the
/// kernel keeps NaN, as the op relu does. Returns null and sets the reason if oneDNN has no such primitive.
std::unique_ptr<Kernel> make_relu_kernel(const KernelRequest& request, const std::function<Offer(bool relu)>& offer,
                                         const std::vector<Operand>& operands, std::string& reason);

}  // namespace mezzo::onednn
