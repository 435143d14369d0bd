#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/training/model/tensors.hpp>
#include <mezzo/training/module/module.hpp>

namespace mezzo {

/// Options of a Predictor.
struct PredictorOptions {
  /// Policy of the layers that have none of their own, as the Trainer takes it: "bf16-mixed", "auto" for the one that
  /// fit has chosen. Not given: the policy in force where the Predictor is made.
  Precision precision{};
  /// Numbers of rows for which it is compiled when it is made, each 1 or more. The other sizes are those for which the
  /// model was built; a ValueError if one of them is open: give examples.
  std::vector<std::int64_t> batch_sizes{};
  std::vector<Tensors> examples{};  ///< batches, for whose shapes and dtypes it is compiled when it is made
  /// Names of the inputs, as fields of predict_step's batch, of a module whose predict_step reads them by name. Not
  /// given: those of the model, or "x". A ValueError for a Model with names.
  std::vector<std::string> input_names{};
  int workers = 0;  ///< most calls that run at a time, each with memory of its own; 0: the number of the pool's threads
  int threads = 0;  ///< threads of the pool that compute one call; 0: those of the pool / workers, at least 1
  int max_plans = 16;  ///< most shapes, 1 or more, for which a worker stays compiled beyond those compiled when it was
                       ///< made; the shape that was used longest ago makes room
  /// Joins calls of several threads to batches of up to that many rows, 2 or more; 0: computes each call alone.
  std::int64_t max_batch_size = 0;
  /// Longest time in seconds that a call waits for others to join it; not given: 0.001. Needs max_batch_size.
  std::optional<double> max_delay{};
};

/// An immutable, compiled snapshot of a model, which any number of threads call at once. Later training of the model
/// does not change it. Copies share everything. Outputs are those of predict(): floats as float32, or float64 if the
/// model's output is; up to rounding, since constants are folded.
///
///     const auto predictor = model.predictor({.batch_sizes = {1, 8}});
///     const Tensor y = predictor(x);  // on any thread
///
/// The first call with another shape compiles, for each worker once. Shapes that are compiled need no lock; calls
/// beyond the number of workers wait. A Predictor must outlive its calls, and a host() function of the model must not
/// call it.
class MEZZO_API Predictor {
 public:
  /// Takes the snapshot. Copies the object, to compile for further shapes; M must be its class. model.predictor(), and
  /// this if the object is of a class derived from M, copy objects of registered classes (register_class()). Of others
  /// they keep the ops of predict_step, for any number of rows and the other sizes as built; if these ops depend on the
  /// number of rows, shapes that `options` does not name are a ValueError.
  ///
  /// Waits for the end of the running step if another thread trains the model. A ValueError for an option that
  /// is out of range, a model that isn't built if there are no examples, or one that changes variables when it
  /// predicts. Errors of the layers for wrong shapes.
  template <class M, class = std::enable_if_t<std::is_base_of_v<Module, M> && !std::is_const_v<M>>>
  explicit Predictor(M& model, const PredictorOptions& options = {}) : Predictor(model, options, &copied<M>) {}

  /// Output for the rows of x: an array, a list in the order of the inputs, or arrays by name. A ValueError if the
  /// model has several outputs or x no rows; errors of the layers for wrong shapes.
  Tensor operator()(const Tensors& x) const;

  /// Writes the output into y, which must have its shape and dtype; an empty y becomes a new array. Allocates nothing
  /// for shapes that are compiled, unless y shares its bytes with another tensor.
  void operator()(const Tensor& x, Tensor& y) const;

  /// Writes the output into memory of the caller of that many bytes. A ValueError if the output has another size.
  void operator()(const Tensor& x, void* y, std::size_t bytes) const;

  /// Writes all outputs into ys. Inputs and outputs are in the model's order. An empty list becomes new arrays.
  void operator()(const std::vector<Tensor>& xs, std::vector<Tensor>& ys) const;

  /// All outputs by position and name: `auto [mean, variance] = predictor.predict_all(x).unpack<2>();`.
  Tensors predict_all(const Tensors& x) const;

  int workers() const;  ///< most calls that run at a time
  int threads() const;  ///< threads that compute one call

 private:
  friend class Model;
  struct State;
  using Copier = std::shared_ptr<Module> (*)(const Module& module);

  Predictor(Module& module, const PredictorOptions& options, Copier copier);

  template <class M>
  static std::shared_ptr<Module> copied(const Module& module) {
    if constexpr (std::is_copy_constructible_v<M>) {
      if (typeid(module) == typeid(M)) return std::make_shared<M>(clone(static_cast<const M&>(module)));
    }
    return copy_of_registered(module);
  }
  static std::shared_ptr<Module> copy_of_registered(const Module& module);

  std::shared_ptr<const State> state_;
};

}  // namespace mezzo
