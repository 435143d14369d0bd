#pragma once
#include <mezzo/graph/executor.hpp>

namespace mezzo {

/// Runs single ops with the kernels that plans use. Kernels are kept per thread, by request.
Executor& kernel_executor();

}  // namespace mezzo
