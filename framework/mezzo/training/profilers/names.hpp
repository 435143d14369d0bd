#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/training/module/profiler.hpp>

namespace mezzo {

/// Profilers by the names of the Trainer's option.
const NameTable<Profiler>& profiler_names();

}  // namespace mezzo
