#pragma once
#include <functional>
#include <memory>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/graph/value.hpp>

namespace mezzo {

class Module;

/// A function of arrays that calls a model, and runs as a compiled plan. It is traced once for each combination of
/// shapes and dtypes of its inputs; later runs with the same ones allocate nothing. Not in training mode, without
/// gradients. It keeps the plan_cache_size() plans that were used last.
///
///     CompiledFunction odds([&](const Values& xs) { return Values{softmax(model(xs[0]))}; });
///     CompiledFunction::Session session(odds, model);
///     const Tensor probabilities = session({images})[0];
class MEZZO_API CompiledFunction {
 public:
  using Function = std::function<Values(const Values&)>;  ///< inputs to results, traced once per signature

  /// `function` maps symbols of the inputs to outputs. It may read the model's weights and variables of its own, and
  /// update the latter by update_variable(), which takes effect at the end of a run.
  explicit CompiledFunction(Function function);
  ~CompiledFunction();
  CompiledFunction(const CompiledFunction&) = delete;
  CompiledFunction& operator=(const CompiledFunction&) = delete;

  /// Number of plans that are kept.
  std::size_t plans() const;

  /// Runs of a function for the lifetime of the object, with the policies and the number of threads of its beginning.
  class MEZZO_API Session {
   public:
    /// Marks `model`, the one that the function calls, as running. A ValueError if it is running already, unless a hook
    /// of a callback calls between two steps.
    Session(CompiledFunction& function, Module& model);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// The outputs for these inputs. They hold until the next run. Throws what a kernel of the plan throws, a
    /// ValueError for an id out of range, say; no variable has changed then.
    const std::vector<Tensor>& operator()(const std::vector<Tensor>& inputs);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

 private:
  struct Call;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mezzo
