#pragma once
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/thread_state.hpp>

namespace mezzo::detail {

/// Leaves casts by op lists unreported for its lifetime: a rehearsal of a step sees weights before their conversion.
class QuietCasts {
 public:
  QuietCasts() : quiet_(graph_state().quiet_casts, true) {}

 private:
  ScopedValue<bool> quiet_;
};

}  // namespace mezzo::detail
