#include <mezzo/training/keras_files/config_to_model.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/node_budget.hpp>
#include <mezzo/nn/weight_budget.hpp>
#include <mezzo/training/keras_files/compile_in.hpp>
#include <mezzo/training/keras_files/keras_models.hpp>
#include <mezzo/training/model/config_work.hpp>
#include <mezzo/training/model/model_config.hpp>

namespace mezzo::detail {

Any<Model> model_of_keras_config(const Json& config, const Hdf5File& weights, const LoadModelOptions& options,
                                 const std::string& where) {
  const KerasPolicies policies{most_frequent_policy(config)};
  Json ours = keras_layer_in(config, policies);
  const auto build = config.find("build_config");
  if (build != config.end() && build->is_object() && build->contains("input_shape") &&
      ours.at("class_name") != "Functional" && ours.at("class_name") != "Sequential") {
    Json shape = Json::array();
    for (const Json& size : (*build)["input_shape"]) shape.push_back(size.is_null() ? Json(-1) : size);
    ours["build"] = Json::array({{{"shape", shape}, {"dtype", "float32"}}});
  }
  const std::uint64_t bytes = ours.dump(-1, ' ', true, Json::error_handler_t::replace).size() + weights.size();
  check_calls(ours, bytes, where);
  const LayerWeightBudget budget(weights.element_count());
  const NodeBudget nodes(most_ops(bytes));
  return read_model(ours, options.dtype, policies.of_model.empty() ? Policy() : Policy(policies.of_model));
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
