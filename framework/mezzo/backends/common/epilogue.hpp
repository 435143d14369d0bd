#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// Whether a fused ReLU ends the kernel: of products, convolutions and batch norm.
inline bool has_relu(const KernelRequest& request) {
  return request.attributes.get_or("epilogue", Epilogue::none) == Epilogue::relu;
}

}  // namespace mezzo
