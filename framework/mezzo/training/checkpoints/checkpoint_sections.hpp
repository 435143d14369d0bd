#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <mezzo/data/loader.hpp>
#include <mezzo/training/module/callback.hpp>
#include <mezzo/training/step/means.hpp>
#include <mezzo/training/step/scheduler_state.hpp>

namespace mezzo::detail {

/// Numbers of an unfinished epoch, as a checkpoint keeps them.
struct EpochNumbers {
  std::vector<Means::Entry> means;
  std::vector<std::int64_t> skipped_before{};  ///< EpochRecord::skipped_before
  Numbers validated{};                         ///< EpochRecord::validated
  std::int64_t validated_at = 0;               ///< EpochRecord::validated_at
};

/// JSON texts of sections of a checkpoint. Numbers are texts in it, so that they are exact, infinities and NaN too. The
/// readers throw a ValueError for a text of another form.
std::string text_of(const EpochNumbers& epoch);
EpochNumbers epoch_numbers_from(const std::string& text);

/// Counters, 0 or more.
std::string text_of(const std::vector<std::int64_t>& counts);
std::vector<std::int64_t> counts_from(const std::string& text);

std::string text_of(const SchedulerState& scheduler);
SchedulerState scheduler_state_from(const std::string& text);

std::string text_of(const LoaderFingerprint& data);
LoaderFingerprint fingerprint_from(const std::string& text);

std::string text_of(const Hyperparameters& parameters);
Hyperparameters hyperparameters_from(const std::string& text);

/// Numbers of the states of callbacks, by the callback's name in the checkpoint.
using CallbackNumbers = std::map<std::string, std::map<std::string, double>>;
std::string text_of(const CallbackNumbers& callbacks);
CallbackNumbers callback_numbers_from(const std::string& text);

/// Texts of the states of callbacks, in the same way.
using CallbackTexts = std::map<std::string, std::map<std::string, std::string>>;
std::string text_of(const CallbackTexts& callbacks);
CallbackTexts callback_texts_from(const std::string& text);

}  // namespace mezzo::detail
