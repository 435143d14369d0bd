#pragma once
#include <memory>
#include <string>

#include <mezzo/core/any.hpp>
#include <mezzo/core/api.hpp>
#include <mezzo/nn/layer.hpp>
#include <mezzo/nn/optimizer.hpp>
#include <mezzo/training/custom_loops/grad_scaler.hpp>
#include <mezzo/training/custom_loops/step_function.hpp>

namespace mezzo {

/// State of a training loop of one's own in a file, as tf.train.Checkpoint: weights, moments and counts of optimizers,
/// loss scales, and the counters of compiled steps, on which dropout depends. A loop that continues from the file has
/// the same bits as one that went on.
///
///     LoopCheckpoint checkpoint;
///     checkpoint.add("", model).add("adam", optimizer).add("scaler", scaler).add("step", step);
///     checkpoint.save("run.ckpt");
///
/// The file is a safetensors file with the names and layouts of weight files: "model.<name>.<weight>" and
/// "optimizer.<name>.<slot>.<name>.<weight>". A name of "" is left out: load_weights() reads the weights of such a
/// model. The objects are shared, so the LoopCheckpoint can be kept during the loop.
class MEZZO_API LoopCheckpoint {
 public:
  LoopCheckpoint();

  /// @name Parts
  /// Each adds a part under a name of its kind. A ValueError for a name that another part of the kind has, and for a
  /// name with a dot, which separates names in files.
  /// @{
  LoopCheckpoint& add(const std::string& name, const Layer& model);
  LoopCheckpoint& add(const std::string& name, const Variable& variable);  ///< beside models; not ""
  LoopCheckpoint& add(const std::string& name, const Any<Optimizer>& optimizer);
  LoopCheckpoint& add(const std::string& name, const GradScaler& scaler);
  LoopCheckpoint& add(const std::string& name, const StepFunction& step);
  /// @}

  /// Writes the file, which is replaced as a whole. A ValueError if a model isn't built, if an optimizer has updated
  /// weights of no model that was added, or while another thread runs a model; a FileError as save_weights().
  void save(const std::string& path) const;

  /// Reads such a file into the parts, and continues with its seed_everything(). A FileError lists everything that is
  /// missing, unexpected or of another shape; nothing has changed then. A ValueError as save().
  void load(const std::string& path) const;

 private:
  struct Parts;
  std::shared_ptr<Parts> parts_;
};

}  // namespace mezzo
