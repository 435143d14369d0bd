#pragma once
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/data/batch.hpp>
#include <mezzo/training/module/session_numbers.hpp>
#include <mezzo/training/module/session_progress.hpp>
#include <mezzo/training/module/training_control.hpp>
#include <mezzo/training/module/training_trials.hpp>

namespace mezzo {

class Model;
class Module;

/// A running call of fit, evaluate or predict, as its callbacks see it. All functions may be called from every hook of
/// a callback, unless documented otherwise: the functions for all calls are in SessionProgress and SessionNumbers,
/// those for fit in TrainingControl and TrainingTrials.
class MEZZO_API Session : public detail::SessionProgress,
                          public detail::SessionNumbers,
                          public detail::TrainingControl,
                          public detail::TrainingTrials {
 public:
  /// The module that runs.
  virtual Module& module() const = 0;

  /// The same as a Model: model().predict(x), model().evaluate(x, y). They compute with the precision of the running
  /// call. A ValueError if the module is not a Model.
  Model& model() const;

  /// The running batch, in the hooks of batches; its index is current_batch(). A ValueError elsewhere.
  virtual const HostBatch& batch() const = 0;

  /// Numbers that the training step has logged, without those of metrics, in on_train_batch_end only: a ValueError
  /// elsewhere. Empty for a skipped batch.
  virtual const Logs& step_outputs() const = 0;

  /// Outputs of the batch, one tensor for each output of the model, in on_predict_batch_end only: a ValueError
  /// elsewhere.
  virtual const std::vector<Tensor>& outputs() const = 0;

  /// Layer::save_weights of the module.
  void save_weights(const std::string& path) const;

  /// Folder of the first logger that has one, else default_root_dir().
  std::string log_dir() const;

 protected:
  Session() = default;
  Session(const Session&) = default;
  Session& operator=(const Session&) = default;
};

}  // namespace mezzo
