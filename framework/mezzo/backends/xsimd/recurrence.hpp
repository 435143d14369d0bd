#pragma once
#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

Entries recurrence_entries();

}  // namespace mezzo::xsimd_kernels
