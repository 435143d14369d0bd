#pragma once
#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// Key of the thread as which this one runs and accesses objects (see Usage): its own, or that of an ActingFor.
MEZZO_API const void* usage_key();

/// Lets this thread run and access objects as the thread of that key, for its lifetime. That thread must wait
/// meanwhile.
class MEZZO_API ActingFor {
 public:
  explicit ActingFor(const void* key);
  ~ActingFor();
  ActingFor(const ActingFor&) = delete;
  ActingFor& operator=(const ActingFor&) = delete;

 private:
  const void* outer_;
};

}  // namespace mezzo::detail
