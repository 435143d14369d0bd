#pragma once
#include <mezzo/graph/executor.hpp>

namespace mezzo {

/// The executor of eager code: runs single ops with the kernels that plans use. Kernels are cached per thread and
/// request.
Executor& kernel_executor();

}  // namespace mezzo
