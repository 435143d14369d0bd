#pragma once
#include <functional>
#include <vector>

#include <mezzo/graph/op.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo::detail {

/// function(inputs): at once, or, on symbols of a functional graph, each time its model is called. `outputs` are the
/// specs of the results there. For functions that depend on the run, as random numbers do.
Values run_or_defer(std::function<Values(const Values&)> function, const Values& inputs,
                    const std::vector<Spec>& outputs);

}  // namespace mezzo::detail
