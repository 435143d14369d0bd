#include <mezzo/training/step/mean_of.hpp>

#include <mezzo/graph/insert.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {

Value mean_of(const Value& value) {
  const LibraryScope as_inserted;
  const DType dtype = accumulation_dtype(value.dtype());
  const Value wide = value.dtype() == dtype ? value : cast(value, dtype);
  return wide.shape().empty() ? wide : mean(wide);
}

}  // namespace mezzo::detail
