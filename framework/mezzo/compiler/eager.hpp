#pragma once
#include <cstddef>

#include <mezzo/graph/executor.hpp>

namespace mezzo {

/// The executor of eager code: runs single ops with the kernels that plans use. Kernels are cached per thread and
/// request; a thread keeps the eager_cache_size() kernels that it used last.
Executor& kernel_executor();

/// Number of kernels that this thread keeps.
std::size_t eager_kernels();

}  // namespace mezzo
