#pragma once
#include <string>
#include <utility>

#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/step/means.hpp>

namespace mezzo::detail {

/// Adds the learning rates of a session's optimizers to logs: `learning_rate`, with several optimizers
/// `learning_rate_<name>`.
void add_learning_rates(const Session& session, Logs& logs);

/// "" for one optimizer, else " <name>", for messages.
std::string named(const Session& session, const OptimizerConfig& config);

}  // namespace mezzo::detail
