#pragma once
#include <mezzo/core/scoped_value.hpp>
#include <mezzo/graph/thread_state.hpp>

namespace mezzo::detail {

/// Disables reports of casts by op lists for its lifetime: in a rehearsal of a step, weights are not yet converted.
class QuietCasts {
 public:
  QuietCasts() : quiet_(graph_state().quiet_casts, true) {}

 private:
  ScopedValue<bool> quiet_;
};

}  // namespace mezzo::detail
