#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/random.hpp>
#include <mezzo/nn/file_formats.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/custom_loops/loop_parts.hpp>
#include <mezzo/training/custom_loops/loop_plan.hpp>

namespace mezzo::detail {
namespace {

namespace names = checkpoint_format;

/// Counters of an optimizer in a file.
struct OptimizerCounts {
  std::int64_t iterations = 0, accumulated = 0;
  std::optional<double> learning_rate{};
};

/// Reads the parts of a loop from a file. All is read and checked before anything changes.
class LoopReader {
 public:
  explicit LoopReader(const std::string& path) : file_(path), metadata_(file_.metadata()), tensors_(file_) {
    const auto text = [&](const char* key) {
      const auto found = metadata_.find(key);
      return found == metadata_.end() ? std::string() : found->second;
    };
    if (text(names::format) != file_formats::loop) {
      refuse(fmt::format("format must be \"{}\", as LoopCheckpoint writes; got \"{}\"{}", file_formats::loop,
                         text(names::format), reader_of_format(text(names::format))));
    }
    if (text(names::format_version) != loop_format::version) {
      refuse(fmt::format("format_version must be {}; got \"{}\"", loop_format::version, text(names::format_version)));
    }
    if (file_.checksums() != SafetensorsFile::Checksums::all) {
      refuse("metadata must have the checksums that LoopCheckpoint writes; got none, or none of the header");
    }
  }

  void read(const LoopParts& parts) {
    seed_ = number<std::uint64_t>(names::seed);
    for (const OptimizerConfig& config : parts.optimizers) counts_.push_back(counts_of(config));
    for (const auto& scaler : parts.scalers) scalers_.push_back(scaler_of(scaler.first));
    for (const auto& step : parts.steps) steps_.push_back(step_of(step.first));
    for (const FileWeight& weight : parts.weights()) {
      SavedWeight& saved = weights_.emplace_back(tensors_.read(weight));
      for (std::size_t i = 0; i < parts.optimizers.size(); ++i) {
        const OptimizerConfig& config = parts.optimizers[i];
        saved.states.push_back(
            tensors_.read(weight, config, has_states(weight, config), counts_[i].iterations, counts_[i].accumulated));
      }
    }
    note_others();
    tensors_.note_unexpected();
    if (tensors_.faults.any()) refuse("does not fit: " + tensors_.faults.text());
  }

  void commit(const LoopParts& parts) {
    for (const OptimizerConfig& config : parts.optimizers) config.optimizer->reset();
    for (SavedWeight& weight : weights_) weight.restore(parts.optimizers);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      Optimizer::State& state = *parts.optimizers[i].optimizer->state();
      state.iterations = counts_[i].iterations;
      state.accumulated = counts_[i].accumulated;
      if (counts_[i].learning_rate) state.learning_rate = LearningRate(*counts_[i].learning_rate);
    }
    for (std::size_t i = 0; i < scalers_.size(); ++i) GradScaler(parts.scalers[i].second).set_state(scalers_[i]);
    for (std::size_t i = 0; i < steps_.size(); ++i) parts.steps[i].second.numbers() = steps_[i];
    if (seed_ != seed()) seed_everything(seed_);
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const {
    throw FileError(fmt::format("[LoopCheckpoint \"{}\"] {}", file_.path(), text));
  }

  /// A number of the metadata, 0 or more. Missing ones are noted as faults.
  template <class Number>
  Number number(const std::string& key) {
    known_.insert(key);
    const auto found = metadata_.find(key);
    if (found == metadata_.end()) {
      tensors_.faults.add(fmt::format("missing \"{}\"", key));
      return {};
    }
    const std::string& text = found->second;
    Number out{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && out >= 0 && std::isfinite(static_cast<double>(out))) return out;
    refuse(fmt::format("metadata \"{}\" must be a number, 0 or more; got \"{}\"", key, text));
  }

  std::int64_t count(const std::string& key) {
    const auto out = number<std::int64_t>(key);
    if (out <= LossScale::largest_count) return out;
    refuse(fmt::format("metadata \"{}\" must be at most {}; got {}", key, LossScale::largest_count, out));
  }

  OptimizerCounts counts_of(const OptimizerConfig& config) {
    const auto key = [&](const char* what) { return names::optimizer_key(config.name, what); };
    OptimizerCounts out{.iterations = count(key(names::iterations))};
    if (metadata_.count(key(names::accumulated)) != 0) out.accumulated = count(key(names::accumulated));
    if (metadata_.count(key(names::learning_rate)) != 0) out.learning_rate = number<double>(key(names::learning_rate));
    const std::int64_t steps = config.optimizer->accumulation_steps();
    if (out.accumulated > 0 && out.accumulated >= steps) {
      refuse(fmt::format("metadata \"{}\" must be less than the steps of an accumulated update, {}; got {}",
                         key(names::accumulated), steps, out.accumulated));
    }
    return out;
  }

  GradScalerState scaler_of(const std::string& name) {
    const std::string scale = loop_format::scaler_key(name, loop_format::scale);
    const GradScalerState out{.scale = number<double>(scale),
                              .growth_tracker = count(loop_format::scaler_key(name, loop_format::growth_tracker))};
    const auto rounded = static_cast<float>(out.scale);
    if (metadata_.count(scale) != 0 && !(rounded > 0 && std::isfinite(rounded))) {
      refuse(fmt::format("metadata \"{}\" must be greater than 0 and finite in float32; got {}", scale, out.scale));
    }
    return out;
  }

  LoopNumbers step_of(const std::string& name) {
    return {.stream = number<std::uint64_t>(loop_format::step_key(name, loop_format::stream)),
            .steps = count(loop_format::step_key(name, loop_format::steps))};
  }

  bool has_states(const FileWeight& weight, const OptimizerConfig& config) const {
    for (const std::string& slot : config.optimizer->all_slot_names()) {
      if (file_.find(names::slot_key(config.name, slot, weight.name())) != nullptr) return true;
    }
    return false;
  }

  /// Adds the numbers of parts that were not added to the faults.
  void note_others() {
    for (const auto& entry : metadata_) {
      const std::string& key = entry.first;
      const auto begins = [&](const char* prefix) { return key.rfind(prefix, 0) == 0; };
      const bool of_part = begins("optimizer.") || begins("scaler.") || begins("step.");
      if (of_part && known_.count(key) == 0) tensors_.faults.add(fmt::format("unexpected \"{}\"", key));
    }
  }

  SafetensorsFile file_;
  Metadata metadata_;
  CheckpointReader tensors_;
  std::set<std::string> known_;
  std::uint64_t seed_ = 0;
  std::vector<OptimizerCounts> counts_;
  std::vector<GradScalerState> scalers_;
  std::vector<LoopNumbers> steps_;
  std::vector<SavedWeight> weights_;
};

}  // namespace

void load_loop(const LoopParts& parts, const std::string& path) {
  LoopReader reader(path);
  reader.read(parts);
  reader.commit(parts);
}

}  // namespace mezzo::detail
