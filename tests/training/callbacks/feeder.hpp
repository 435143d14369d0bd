#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/means.hpp>

#include "training/small.hpp"

namespace mezzo_tests {

inline const std::vector<double> xs{1, 2, 3, 4, 5}, ys{2, 3, 7, 7, 12};

// y = w x with w = 0.5, trained by gradient descent.
inline mezzo::Sequential compiled_line(double rate = 0.01, double momentum = 0) {
  mezzo::Sequential model = line(0.5);
  model.compile({.optimizer = mezzo::SGD({.learning_rate = rate, .momentum = momentum}), .loss = "mse"});
  return model;
}

// Replaces a number in the logs of each epoch, so that later callbacks see a given sequence.
class Feeder : public mezzo::Callback {
 public:
  Feeder(std::string name, std::vector<double> numbers) : name_(std::move(name)), numbers_(std::move(numbers)) {}
  void on_epoch_end(int epoch, mezzo::Logs& logs) override {
    mezzo::detail::set_log(logs, name_, numbers_.at(static_cast<std::size_t>(epoch)));
  }

 private:
  std::string name_;
  std::vector<double> numbers_;
};

// Throws at the end of one training batch, counted over all epochs from 1.
class Interruption : public mezzo::Callback {
 public:
  explicit Interruption(std::int64_t step) : step_(step) {}
  void on_train_batch_end(std::int64_t, mezzo::Logs&) override {
    if (session().global_step() == step_) throw mezzo::ValueError("interrupted");
  }

 private:
  std::int64_t step_;
};

}  // namespace mezzo_tests
