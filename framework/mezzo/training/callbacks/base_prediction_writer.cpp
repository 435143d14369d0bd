#include <mezzo/training/callbacks/base_prediction_writer.hpp>

#include <utility>

#include <mezzo/core/fail.hpp>

namespace mezzo {

BasePredictionWriter::BasePredictionWriter(Options options) : options_(std::move(options)) {
  const std::string& interval = options_.write_interval;
  if (interval != "batch" && interval != "epoch" && interval != "batch_and_epoch") {
    fail_unknown("[BasePredictionWriter]", "write_interval", interval, {"batch", "epoch", "batch_and_epoch"});
  }
}

void BasePredictionWriter::write_on_batch_end(const std::vector<Tensor>&, const HostBatch&, std::int64_t, std::size_t) {
  fail<ValueError>("[BasePredictionWriter]", "write_on_batch_end must be overridden for write_interval \"{}\"",
                   options_.write_interval);
}

void BasePredictionWriter::write_on_epoch_end(const std::vector<std::vector<std::vector<Tensor>>>&) {
  fail<ValueError>("[BasePredictionWriter]", "write_on_epoch_end must be overridden for write_interval \"{}\"",
                   options_.write_interval);
}

void BasePredictionWriter::on_predict_begin(Logs&) { predictions_.clear(); }

void BasePredictionWriter::on_predict_batch_end(std::int64_t batch, Logs&) {
  const Session& running = session();
  if (options_.write_interval != "epoch") {
    write_on_batch_end(running.outputs(), running.batch(), batch, running.dataloader_idx());
  }
  if (options_.write_interval == "batch") return;
  predictions_.resize(running.dataloader_idx() + 1);
  predictions_.back().push_back(running.outputs());
}

void BasePredictionWriter::on_predict_end(Logs&) {
  if (options_.write_interval != "batch") write_on_epoch_end(std::exchange(predictions_, {}));
}

}  // namespace mezzo
