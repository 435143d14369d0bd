#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/eager.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/constraints/classes.hpp>
#include <mezzo/constraints/names.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/initializers/classes.hpp>
#include <mezzo/initializers/names.hpp>
#include <mezzo/layers/classes.hpp>
#include <mezzo/losses/classes.hpp>
#include <mezzo/losses/names.hpp>
#include <mezzo/metrics/classes.hpp>
#include <mezzo/metrics/names.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/family_names.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/classes.hpp>
#include <mezzo/optimizers/names.hpp>
#include <mezzo/regularizers/classes.hpp>
#include <mezzo/regularizers/names.hpp>
#include <mezzo/training/checkpoints/hyperparameter_reader.hpp>
#include <mezzo/training/loggers/names.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/module/family_names.hpp>
#include <mezzo/training/profilers/names.hpp>

// Registers the implementations of higher folders with the interfaces of lower folders. No other file does so.
namespace mezzo {
namespace {

struct Registration {
  Registration() {
    register_op_table(ops::table);
    register_executor(kernel_executor());
    detail::register_kernel_table(kernel_table);
    detail::register_widening(create_widened);
    register_dtype_support(onednn_support);
    register_names(constraint_names());
    register_names(initializer_names());
    register_names(loss_names());
    register_names(metric_names());
    register_names(optimizer_names());
    register_names(regularizer_names());
    register_names(logger_names());
    register_names(profiler_names());
    detail::register_hyperparameter_reader(detail::checkpoint_hyperparameters());
    detail::register_classes<Constraint>(constraint_classes);
    detail::register_classes<Initializer>(initializer_classes);
    detail::register_classes<Layer>(layer_classes);
    detail::layer_configs() = {detail::write_layer, detail::read_layer, detail::copy_container};
    detail::register_classes<Loss>(loss_classes);
    detail::register_classes<Metric>(metric_classes);
    detail::register_classes<Optimizer>(optimizer_classes);
    detail::register_classes<Regularizer>(regularizer_classes);
    detail::register_classes<Schedule>(schedule_classes);
  }
};

// Constructed before all other static objects. A global layer of a program looks up its initializer in its constructor,
// which may run before the library's objects of default priority in a static build.
[[gnu::init_priority(101)]] const Registration registration;

}  // namespace
}  // namespace mezzo

/// Symbol by which a static build links this file: -Wl,--undefined=mezzo_register.
extern "C" void mezzo_register() {}
