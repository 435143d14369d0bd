#pragma once
#include <memory>
#include <string>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {

/// The best kernel of a cast, for kernels that compute in another dtype than their operands have.
inline std::unique_ptr<Kernel> cast_kernel(const Shape& shape, DType from, DType to, const std::string& where) {
  return choose_kernel({&ops::cast, {{"dtype", to}}, {{shape, from}}, {{shape, to}}, where}).kernel;
}

}  // namespace mezzo
