#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <mezzo/mezzo.hpp>

#include "training/small.hpp"

namespace mezzo_tests {

// Weight, loss of each step and hooks of a training of y = w x, whose batches are known to tests.
class HookedLine : public mezzo::Module {
 public:
  explicit HookedLine(double weight = 0.5, double rate = 0.01)
      : Module("HookedLine"),
        rate_(rate),
        line_(sub("line",
                  mezzo::Dense({.units = 1, .use_bias = false, .kernel_initializer = mezzo::Constant(weight)}))) {}

  mezzo::Value call(const mezzo::Value& x) override { return line_(x); }
  mezzo::Value training_step(const mezzo::Batch& batch) override {
    if (leaves_out && leaves_out(batch)) return {};
    const mezzo::Value loss = mezzo::mean(mezzo::square((*this)(batch["x"]) - batch["y"]));
    log("squares", loss);
    return loss;
  }
  void validation_step(const mezzo::Batch& batch) override {
    log("val_loss", mezzo::mean(mezzo::square((*this)(batch["x"]) - batch["y"])));
  }
  mezzo::OptimizerConfigs configure_optimizers() override { return {{.optimizer = mezzo::SGD(rate_)}}; }
  void on_train_batch_start(const mezzo::HostBatch& batch, std::int64_t index) override {
    hooks += "{";
    if (at_start) at_start(batch, index);
  }
  void on_train_batch_end(const mezzo::Logs& outputs, const mezzo::HostBatch&, std::int64_t index) override {
    hooks += std::to_string(index) + (outputs.empty() ? "-" : "") + "}";
  }
  void on_train_epoch_start() override { hooks += "["; }
  void on_train_epoch_end() override { hooks += "]"; }
  void on_validation_end() override { hooks += "v"; }

  double weight() const { return weight_of(*this); }

  std::function<bool(const mezzo::Batch&)> leaves_out;
  std::function<void(const mezzo::HostBatch&, std::int64_t)> at_start;
  std::string hooks;

 private:
  double rate_;
  mezzo::Dense line_;
};

// Calls a function after each training batch, after the hooks of the module.
class AfterBatch : public mezzo::Callback {
 public:
  explicit AfterBatch(std::function<void(AfterBatch&, std::int64_t)> call) : call_(std::move(call)) {}
  bool saves() const override { return true; }
  bool on_all_ranks() const override { return true; }
  void on_train_batch_end(std::int64_t batch, mezzo::Logs&) override { call_(*this, batch); }

 private:
  std::function<void(AfterBatch&, std::int64_t)> call_;
};

inline mezzo::TrainerOptions quiet(int epochs) { return {.max_epochs = epochs, .enable_progress_bar = false}; }

}  // namespace mezzo_tests
