#include <mezzo/backends/onednn/implementations.hpp>
#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/eager.hpp>
#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/constraints/classes.hpp>
#include <mezzo/graph/executor.hpp>
#include <mezzo/graph/op_registry.hpp>
#include <mezzo/initializers/classes.hpp>
#include <mezzo/layers/classes.hpp>
#include <mezzo/losses/classes.hpp>
#include <mezzo/metrics/classes.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/nn/family_names.hpp>
#include <mezzo/nn/hdf5_weights.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/optimizers/classes.hpp>
#include <mezzo/regularizers/classes.hpp>
#include <mezzo/training/checkpoints/hyperparameter_reader.hpp>
#include <mezzo/training/keras_files/config_to_model.hpp>
#include <mezzo/training/keras_files/keras_archive.hpp>
#include <mezzo/training/keras_files/keras_weight_file.hpp>
#include <mezzo/training/keras_files/operation_layer.hpp>
#include <mezzo/training/loggers/names.hpp>
#include <mezzo/training/model/keras_model_files.hpp>
#include <mezzo/training/model/model_config.hpp>
#include <mezzo/training/module/family_names.hpp>
#include <mezzo/training/profilers/names.hpp>

// Registers the implementations of higher folders with the interfaces of lower folders. No other file does so.
namespace mezzo {
namespace {

/// Registers the classes of a family and the texts that options take for them. `family` is its name in errors.
template <class Base, std::vector<detail::NamedClass<Base>> (*classes)()>
void register_family(const char* family) {
  static const NameTable<Base> names = detail::name_table(family, classes());
  register_names(names);
  detail::register_classes<Base>([] { return detail::saved_classes(classes()); });
}

struct Registration {
  Registration() {
    register_op_table(ops::table);
    register_executor(kernel_executor());
    detail::register_kernel_table(kernel_table);
    detail::register_widening(create_widened);
    register_dtype_support(onednn_support);
    register_names(logger_names());
    register_names(profiler_names());
    detail::register_hyperparameter_reader(detail::checkpoint_hyperparameters());
    register_family<Constraint, constraint_classes>("constraint");
    register_family<Initializer, initializer_classes>("initializer");
    detail::register_classes<Layer>(layer_classes);
    detail::layer_configs() = {detail::write_layer, detail::read_layer, detail::copy_container};
    detail::keras_model_files() = {detail::load_keras_model, detail::save_keras_model, detail::keras_model_of_json,
                                   detail::register_operation_layer};
    detail::hdf5_weights() = {detail::load_keras_weights, detail::save_keras_weights};
    register_family<Loss, loss_classes>("loss");
    register_family<Metric, metric_classes>("metric");
    register_family<Optimizer, optimizer_classes>("optimizer");
    register_family<Regularizer, regularizer_classes>("regularizer");
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
