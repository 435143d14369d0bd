#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/training/module/callback.hpp>

namespace mezzo {

/// Options of BasePredictionWriter.
struct BasePredictionWriterOptions {
  /// "batch": calls write_on_batch_end(); "epoch": keeps all outputs and calls write_on_epoch_end();
  /// "batch_and_epoch": both.
  std::string write_interval = "batch";
};

/// Base of callbacks that write predictions, as in Lightning. With `return_predictions = false` of Trainer::predict
/// only one batch of them is in memory. Of several processes it runs in the one that writes, with the outputs of all.
class MEZZO_API BasePredictionWriter : public Callback {
 public:
  using Options = BasePredictionWriterOptions;

  /// A NameError for another interval.
  explicit BasePredictionWriter(Options options = {});

  /// Outputs of a batch, one tensor for each output of the module, with the batch, its index in its loader and the
  /// index of the loader. Of several processes, `batch` has the part of the one that writes.
  virtual void write_on_batch_end(const std::vector<Tensor>& predictions, const HostBatch& batch,
                                  std::int64_t batch_idx, std::size_t dataloader_idx);

  /// All outputs after the last batch: predictions[loader][batch][output].
  virtual void write_on_epoch_end(const std::vector<std::vector<std::vector<Tensor>>>& predictions);

  bool on_all_ranks() const override { return false; }
  void on_predict_begin(Logs& logs) override;
  void on_predict_batch_end(std::int64_t batch, Logs& logs) override;
  void on_predict_end(Logs& logs) override;

 private:
  Options options_;
  std::vector<std::vector<std::vector<Tensor>>> predictions_;
};

}  // namespace mezzo
