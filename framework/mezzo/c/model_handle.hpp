#pragma once
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <mezzo/c/mezzo.h>
#include <mezzo/c/signature.hpp>
#include <mezzo/training/model/model.hpp>

/// Object behind a handle of the C interface.
struct mezzo_model {
  /// `inputs`: those that the file declares; empty: those that the model knows.
  explicit mezzo_model(mezzo::Any<mezzo::Model> loaded, std::vector<mezzo::Spec> inputs = {})
      : model(std::move(loaded)), signature(mezzo::detail::Signature::of(*model, std::move(inputs))) {}

  mezzo::Any<mezzo::Model> model;
  mezzo::detail::Signature signature;
  std::mutex mutex;             ///< guards the model, and `names`
  std::set<std::string> names;  ///< texts that callers have pointers to
};
