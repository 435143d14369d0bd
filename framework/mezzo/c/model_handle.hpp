#pragma once
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/c/mezzo.h>
#include <mezzo/c/signature.hpp>
#include <mezzo/training/model/model.hpp>
#include <mezzo/training/model/predictor.hpp>

namespace mezzo::detail {

/// Predictions of a handle. The model's lock guards the members.
struct Predictions {
  int workers = 1;
  std::optional<Predictor> snapshot{};  ///< none before the first prediction and after a training step
  bool at_model = false;                ///< true: no snapshot can be taken, the model itself predicts
};

}  // namespace mezzo::detail

/// Object behind a handle of the C interface.
struct mezzo_model {
  /// `inputs`: those that the file declares; empty: those that the model knows.
  explicit mezzo_model(mezzo::Any<mezzo::Model> loaded, std::vector<mezzo::Spec> inputs = {})
      : model(std::move(loaded)), signature(mezzo::detail::Signature::of(*model, std::move(inputs))) {}

  mezzo::Any<mezzo::Model> model;
  mezzo::detail::Signature signature;
  mezzo::detail::Predictions predictions;
  std::mutex mutex;             ///< guards the model, `predictions` and `names`
  std::set<std::string> names;  ///< texts that callers have pointers to
};
