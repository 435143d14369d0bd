#include <mezzo/training/keras_files/config_to_model.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/node_budget.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/training/keras_files/compile_in.hpp>
#include <mezzo/training/keras_files/keras_models.hpp>
#include <mezzo/training/keras_files/shared_objects.hpp>
#include <mezzo/training/model/config_work.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo::detail {

namespace {

/// Inputs of the call that built the model; null if the file has none, or has them by names.
Json build_in(const Json& config) {
  const auto build = config.find("build_config");
  if (build == config.end() || !build->is_object()) return nullptr;
  const auto given = build->find("input_shape");
  if (given == build->end() || !given->is_array() || given->empty()) return nullptr;
  const Json shapes = given->front().is_array() ? *given : Json::array({*given});
  const Json dtypes = config.value("build_dtypes", Json::array());  // which Keras' own files lack
  Json inputs = Json::array();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    Json sizes = Json::array();
    for (const Json& size : shapes[i]) sizes.push_back(size.is_null() ? Json(-1) : size);
    const bool typed = dtypes.is_array() && i < dtypes.size();
    inputs.push_back({{"shape", std::move(sizes)}, {"dtype", typed ? dtypes[i] : Json("float32")}});
  }
  return inputs;
}

/// The config of a model of mezzo.
Json model_in(const Json& config, const KerasPolicies& policies) {
  const std::string name = keras_class(config, "[Keras file] model");
  if (name != "Functional" && name != "Sequential" && find_class<Layer>(name) == nullptr) {
    fail<NameError>("",
                    "unknown model \"{}\"; a class of models of your own must be registered by register_model() under "
                    "the name that it has in Python",
                    printable_name(name));
  }
  Json ours = keras_layer_in(with_shared_objects(config), policies);
  if (ours.at("class_name") != "Functional") {
    if (Json build = build_in(config); !build.is_null()) ours["build"] = std::move(build);
  }
  return ours;
}

Any<Model> model_of(const Json& config, const Policy& dtype, std::uint64_t weight_bytes, const std::string& where) {
  const KerasPolicies policies{most_frequent_policy(config)};
  const Json ours = model_in(config, policies);
  const std::uint64_t bytes = ours.dump(-1, ' ', true, Json::error_handler_t::replace).size() + weight_bytes;
  check_calls(ours, bytes, where);
  const NodeBudget nodes(most_ops(bytes));
  return read_model(ours, dtype, policies.of_model.empty() ? Policy() : Policy(policies.of_model));
}

}  // namespace

Any<Model> model_of_keras_config(const Json& config, const Hdf5File& weights, const LoadModelOptions& options,
                                 const std::string& where) {
  const LayerWeightBudget budget(2 * weights.element_count());  // two codes of 4 bits a byte
  return model_of(config, options.dtype, weights.size(), where);
}

Any<Model> keras_model_of_json(const Json& config, const ModelFromJsonOptions& options) {
  Any<Model> model = model_of(config, options.dtype, 0, "[model_from_json]");
  const auto compiled = config.find("compile_config");
  if (options.compile && compiled != config.end() && compiled->is_object() && !compiled->empty()) {
    compile_by_keras_config(*model, *compiled);
  }
  return model;
}

void compile_by_keras_config(Model& model, const Json& config) {
  try {
    model.compile(read_compile(keras_compile_in(config), model));
  } catch (const Error& error) {
    fail<ValueError>("", "the options of compile() can't be read: {}. Load the model by {{.compile = false}}",
                     error.what());
  }
}

}  // namespace mezzo::detail
