#pragma once
#include <string>

#include <mezzo/data/dataset.hpp>
#include <mezzo/training/compile_options.hpp>

namespace mezzo::detail {

/// A ValueError if the loss takes classes as targets and a sample has several: class_weight is one weight for a sample,
/// and takes several numbers for scores. Errors begin with `where`.
void require_one_class(const Dataset& data, const CompileOptions& options, const std::string& where);

}  // namespace mezzo::detail
