#pragma once
#include <mezzo/core/name_table.hpp>
#include <mezzo/nn/constraint.hpp>
#include <mezzo/nn/initializer.hpp>
#include <mezzo/nn/loss.hpp>
#include <mezzo/nn/metric.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/nn/regularizer.hpp>

// Registry of the names that from_name() of each family accepts. The classes behind the names are defined in higher
// folders, so mezzo/registration.cpp passes their tables to this one.
namespace mezzo {

/// Sets the table that the family's from_name() searches. `names` must stay valid until the program ends.
void register_names(const NameTable<Constraint>& names);
void register_names(const NameTable<Initializer>& names);
void register_names(const NameTable<Loss>& names);
void register_names(const NameTable<Metric>& names);
void register_names(const NameTable<Optimizer>& names);
void register_names(const NameTable<Regularizer>& names);

}  // namespace mezzo
