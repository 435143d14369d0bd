// The one place where lower folders get what they need from higher ones.
#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/eager.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/ops/op_set.hpp>

namespace mezzo {
namespace {

const bool registered = [] {
  register_op_table(ops::table);
  register_executor(kernel_executor());
  register_kernel_table(kernel_table);
  register_dtype_support(onednn_support);
  return true;
}();

}  // namespace
}  // namespace mezzo
