#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/training/module/logger.hpp>

namespace mezzo {

/// Loggers by the names of the Trainer's option.
const NameTable<Logger>& logger_names();

}  // namespace mezzo
