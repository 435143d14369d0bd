#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/backends/widen.hpp>
#include <mezzo/compiler/eager.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/initializers/names.hpp>
#include <mezzo/losses/names.hpp>
#include <mezzo/metrics/names.hpp>
#include <mezzo/nn/family_names.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/names.hpp>

// The one place that passes implementations of higher folders to the interfaces of lower ones.
namespace mezzo {
namespace {

struct Registration {
  Registration() {
    register_op_table(ops::table);
    register_executor(kernel_executor());
    register_kernel_table(kernel_table);
    register_widening(create_widened);
    register_dtype_support(onednn_support);
    register_names(initializer_names());
    register_names(loss_names());
    register_names(metric_names());
    register_names(optimizer_names());
  }
};

// Runs before all other static objects: a global layer of a program looks up its initializer when it is constructed,
// and in a static build that may be before the library's own objects of default priority.
[[gnu::init_priority(101)]] const Registration registration;

}  // namespace
}  // namespace mezzo

/// Anchor that pulls this file out of a static library: link with -Wl,--undefined=mezzo_register.
extern "C" void mezzo_register() {}
