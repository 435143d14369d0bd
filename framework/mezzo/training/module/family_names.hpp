#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/training/module/logger.hpp>
#include <mezzo/training/module/profiler.hpp>

// Registry of the names that Logger::from_name() and Profiler::from_name() accept. The classes behind the names are
// defined in higher folders, so mezzo/registration.cpp passes their tables to this one.
namespace mezzo {

/// Sets the table that the family's from_name() searches. `names` must stay valid until the program ends.
void register_names(const NameTable<Logger>& names);
void register_names(const NameTable<Profiler>& names);

}  // namespace mezzo
