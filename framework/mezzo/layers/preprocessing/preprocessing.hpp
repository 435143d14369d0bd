#pragma once
#include <functional>
#include <string>
#include <vector>

#include <mezzo/data/dataset.hpp>
#include <mezzo/graph/attributes.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// function(inputs), computed on arrays each time the step runs; in functional graphs at each call of the model. A size
/// of `shape` may be -1: result_shape returns the shape for known shapes of the first input. `description`: attributes
/// from which exporters write the same function with operators.
Value on_host(const Values& inputs, const std::function<Shape(const Shape& first)>& result_shape, DType dtype,
              const std::function<Tensor(const std::vector<Tensor>&)>& function, const Attributes& description = {});

/// Description of encode_categories(): of indices, or of the bins between boundaries.
Attributes encoding_of(const std::string& mode, std::int64_t depth, const std::vector<double>& boundaries = {});

/// Calls function(values) for batches of a field of a data set, its first input if the name is "". Throws a NameError
/// that starts with `where` for an unknown field, a ValueError for a data set without samples.
void for_each_batch(const Dataset& data, const std::string& field, const std::string& where,
                    const std::function<void(const Tensor&)>& function);

}  // namespace mezzo::detail
