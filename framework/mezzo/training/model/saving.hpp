#pragma once
#include <string>
#include <utility>

#include <mezzo/core/api.hpp>
#include <mezzo/nn/saved_class.hpp>
#include <mezzo/training/model/model.hpp>

namespace mezzo {

/// Options of load_model().
struct LoadModelOptions {
  bool compile = true;  ///< true: compiles the model as it was, and restores the state of its optimizer
  /// Policy of the model, in place of the one that it was saved under. Layers with a policy of their own keep it.
  Policy dtype{};
};

/// Options of model_from_json().
struct ModelFromJsonOptions {
  Policy dtype{};       ///< as in LoadModelOptions
  bool compile = true;  ///< true: compiles the model of a text of Keras that has the options of compile()
};

/// Reads a model that Model::save() wrote: its layers, weights and policy and, if it was compiled, optimizer with its
/// state, losses and metrics. A continued training has the same results, bit for bit, as one that was never
/// interrupted. The model is used by `->`:
///
///     auto model = load_model("x.mezzo");
///     Tensor y = model->predict(x);
///
/// Models of Keras are read too: `.keras` archives of Keras 3 and whole models in `.h5` files of Keras 2.
///
/// Files can't run code: they name classes of mezzo, and those that the program has registered by register_class(). A
/// FileError if the file is missing, damaged or not a model, or if its config is malformed, names unknown classes or
/// does not fit the weights. The memory that is used is bounded by the size of the file.
MEZZO_API Any<Model> load_model(const std::string& path, const LoadModelOptions& options = {});

/// Makes a model of the text that Model::to_json(), or to_json() of Keras 3 or 2, wrote, with new weights. Errors as
/// load_model(), as ValueErrors.
MEZZO_API Any<Model> model_from_json(const std::string& text, const ModelFromJsonOptions& options = {});

namespace detail {
[[noreturn]] MEZZO_API void fail_other_model(const std::string& path);
MEZZO_API void register_model_maker(const std::string& name, Any<Model> (*make)(const Any<Layer>&));

/// Name in files of the class of models that load_onnx() makes.
constexpr const char* onnx_model_class = "mezzo>OnnxModel";

/// Sets the function that registers that class. It is called when the class is first read, since static objects, such
/// as the table of classes, may not exist yet when this is called. Returns true.
MEZZO_API bool set_onnx_registration(void (*register_classes)());
}  // namespace detail

/// The same as an object of a known class: `auto model = load_model<Sequential>("x.mezzo")`. A ValueError if the file
/// has a model of another class.
template <class M>
M load_model(const std::string& path, const LoadModelOptions& options = {}) {
  const Any<Model> model = load_model(path, options);
  const M* typed = dynamic_cast<const M*>(&*model);
  if (typed == nullptr) detail::fail_other_model(path);
  return *typed;
}

/// register_class() for a class that derives from Model and overrides call().
template <class M, class Options>
void register_model(const std::string& name) {
  static_assert(std::is_base_of_v<Model, M>, "register_model is for models; use register_class");
  register_class<M, Options>(name);
  detail::register_model_maker(name, [](const Any<Layer>& layer) { return Any<Model>(static_cast<const M&>(*layer)); });
}

}  // namespace mezzo
