#include <mezzo/training/keras_files/optimizer_variables.hpp>

#include <algorithm>
#include <cmath>
#include <optional>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/optimizers/nadam.hpp>
#include <mezzo/training/checkpoints/checkpoint_reader.hpp>
#include <mezzo/training/step/step_runner.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* average = "average";
constexpr const char *inner_group = "optimizer/inner_optimizer/vars", *plain_group = "optimizer/vars";

/// A variable of Keras' optimizer.
struct OptimizerVariable {
  enum class Kind {
    iterations,
    learning_rate,
    slot,
    placeholder,      ///< zeros that Adafactor has and doesn't use
    momentum_product  ///< Nadam's product of its momentum schedule
  } kind = Kind::slot;
  std::size_t weight = 0;  ///< index among the trainable weights
  std::string slot{};      ///< slot in mezzo
  Shape shape{};           ///< of a placeholder
};

/// Slots that Keras makes for all weights one after the other: each list interleaved by weight.
std::vector<std::vector<std::string>> slot_blocks(const Optimizer& optimizer, const std::string& name) {
  const std::vector<std::string> slots = optimizer.slot_names();
  if (name == "Adam" || name == "AdamW") {
    std::vector<std::vector<std::string>> blocks{{"momentum", "velocity"}};
    if (slots.size() > 2) blocks.push_back({"velocity_hat"});
    return blocks;
  }
  if (name == "RMSprop") {
    std::vector<std::vector<std::string>> blocks;
    for (const std::string& slot : slots) blocks.push_back({slot});
    return blocks;
  }
  return {slots};
}

std::string optimizer_class(const Optimizer& optimizer) {
  const SavedClass<Optimizer>* const entry = find_class<Optimizer>(typeid(optimizer));
  return entry == nullptr ? optimizer.name() : entry->name;
}

/// Variables of Keras' optimizer in their order.
std::vector<OptimizerVariable> optimizer_layout(const Optimizer& optimizer, const std::vector<Variable>& weights) {
  using Kind = OptimizerVariable::Kind;
  const std::string name = optimizer_class(optimizer);
  std::vector<OptimizerVariable> out{{.kind = Kind::iterations}};
  if (!optimizer.common().learning_rate.is_schedule()) out.push_back({.kind = Kind::learning_rate});
  const auto add_all = [&](const std::vector<std::string>& slots) {
    for (std::size_t i = 0; i < weights.size(); ++i) {
      for (const std::string& slot : slots) {
        if (optimizer.needs_slot(slot, weights[i].shape())) {
          out.push_back({.kind = Kind::slot, .weight = i, .slot = slot});
        } else if (name == "Adafactor") {
          out.push_back({.kind = Kind::placeholder, .shape = slot == "velocity" ? weights[i].shape() : Shape{}});
        }
      }
    }
  };
  if (optimizer.common().use_ema) add_all({average});
  if (optimizer.common().gradient_accumulation_steps > 1) add_all({Optimizer::accumulator_name});
  for (const std::vector<std::string>& block : slot_blocks(optimizer, name)) add_all(block);
  if (name == "Nadam") out.push_back({.kind = Kind::momentum_product});
  return out;
}

/// Nadam's product after that many updates, as in Keras.
double momentum_product(const Optimizer& optimizer) {
  double product = 1;
  const double beta = std::any_cast<NadamOptions>(optimizer.made_of()).beta_1;
  for (std::int64_t step = 1; step <= optimizer.iterations() && product > 0; ++step) {
    product *= beta * (1 - 0.5 * std::pow(0.96, static_cast<double>(step)));
  }
  return product;
}

void check_shape(const Hdf5File& file, const std::string& path, const Shape& wanted) {
  const Hdf5Array* const array = file.find(path);
  if (array == nullptr || array->shape != wanted) {
    fail<FileError>(file.where(), "the state of the optimizer must have an array \"{}\" of shape {}; got {}", path,
                    wanted, array == nullptr ? "none" : fmt::format("shape {}", array->shape));
  }
}

std::size_t count_variables(const Hdf5File& file, const std::string& group) {
  std::size_t count = 0;
  while (file.find(fmt::format("{}/{}", group, count)) != nullptr) ++count;
  return count;
}

/// A number of the file that counts.
std::int64_t count_of(const Hdf5File& file, const std::string& path) {
  check_shape(file, path, {});
  const double number = file.read(path).item();
  if (!(number >= 0 && number <= static_cast<double>(LossScale::largest_count))) {
    fail<FileError>(file.where(), "\"{}\" must be a number of steps; got {}", path, number);
  }
  return static_cast<std::int64_t>(number);
}

/// Sets counters and learning rate.
void set_counters(Optimizer& optimizer, std::int64_t steps, const std::optional<double>& rate) {
  Optimizer::State& state = *optimizer.state();
  const std::int64_t window = std::max<std::int64_t>(optimizer.common().gradient_accumulation_steps, 1);
  state.iterations = steps / window;
  state.accumulated = steps % window;
  // Keras stores float32.
  if (rate && static_cast<float>(optimizer.learning_rate()) != static_cast<float>(*rate)) {
    optimizer.set_learning_rate(*rate);
  }
}

std::optional<Tensor> slot_of(const Optimizer& optimizer, const Variable& weight, const std::string& name) {
  const std::vector<std::string> names = optimizer.all_slot_names();
  const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  for (const Optimizer::Slots& slots : optimizer.state()->slots) {
    if (slots.variable.get() != weight.state().get() || place >= slots.values.size()) continue;
    return slots.values[place]->filled ? std::optional(slots.values[place]->numbers()) : std::nullopt;
  }
  return {};
}

/// Throws for accumulators of gradients beside float8: Keras has accumulators of its scales and histories, too.
void require_known_accumulators(const Optimizer& optimizer, const Model& model, const std::string& where) {
  if (optimizer.common().gradient_accumulation_steps < 2) return;
  for (const Variable& weight : model.weights()) {
    if (!weight.state()->fake || !weight.state()->fake->float8) continue;
    fail<ValueError>(where,
                     "Keras has other states of an optimizer with gradient_accumulation_steps for models with layers "
                     "in float8; leave them out by {{.compile = false}}");
  }
}

/// Value of a slot before the first update.
Tensor first_value(const Optimizer& optimizer, const Variable& weight, const std::string& name) {
  const Tensor first = optimizer.initial_slot(name, *weight.state());
  if (first.size() > 0) return first;
  return Tensor(optimizer.shape_of_slot(name, weight.shape()), accumulation_dtype(weight.dtype()));
}

}  // namespace

bool read_optimizer_variables(Model& model, const Hdf5File& file) {
  using Kind = OptimizerVariable::Kind;
  const std::string group = file.has_group(inner_group) ? inner_group : plain_group;
  const std::size_t count = count_variables(file, group);
  if (count == 0) return false;
  StepRunner runner(model, {});
  const OptimizerConfigs configs = runner.make_optimizers();
  Optimizer& optimizer = *configs.front().optimizer;
  const std::vector<Variable> weights = model.trainable_weights();
  const std::vector<OptimizerVariable> layout = optimizer_layout(optimizer, weights);
  if (count <= 2 && count < layout.size() && count_of(file, group + "/0") == 0) return false;  // never built
  require_known_accumulators(optimizer, model, file.where());
  if (count < layout.size()) {
    fail<FileError>(file.where(), "the state of {} must have {} arrays; got {}", optimizer.name(), layout.size(),
                    count);
  }
  std::int64_t steps = 0;
  std::optional<double> rate;
  const std::vector<std::string> names = optimizer.all_slot_names();
  std::vector<SavedWeight> saved;
  for (const Variable& weight : weights) {
    SavedWeight& one = saved.emplace_back();
    one.variable = weight.state().pointer();
    one.numbers = weight.value();
    one.states.push_back(
        {.slots = std::vector<std::optional<Tensor>>(names.size()), .compensation = {}, .updated = true});
  }
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::string path = fmt::format("{}/{}", group, i);
    const OptimizerVariable& one = layout[i];
    if (one.kind == Kind::iterations) {
      steps = count_of(file, path);
    } else if (one.kind == Kind::learning_rate) {
      check_shape(file, path, {});
      rate = file.read(path).item();
    } else if (one.kind == Kind::slot) {
      const Variable& weight = weights[one.weight];
      check_shape(file, path, optimizer.shape_of_slot(one.slot, weight.shape()));
      const auto place = static_cast<std::size_t>(std::find(names.begin(), names.end(), one.slot) - names.begin());
      saved[one.weight].states[0].slots[place] = file.read(path).cast(accumulation_dtype(weight.dtype()));
    }
  }
  runner.use(configs, true);
  runner.convert_weights();
  if (steps > 0) {
    for (SavedWeight& weight : saved) weight.restore(configs);
  }
  set_counters(optimizer, steps, rate);
  runner.state().step = steps;
  runner.state().updates = optimizer.state()->iterations;
  return true;
}

void write_optimizer_variables(Model& model, Hdf5Writer& file) {
  using Kind = OptimizerVariable::Kind;
  const Optimizing& state = training_state(model);
  const bool trained = state.configured && !state.optimizers.empty();
  const Optimizer& optimizer = trained ? *state.optimizers.front().optimizer : *model.compile_options()->optimizer;
  require_known_accumulators(optimizer, model, "[model]");
  const std::vector<Variable> weights = model.trainable_weights();
  const std::vector<OptimizerVariable> layout = optimizer_layout(optimizer, weights);
  const std::int64_t window = std::max<std::int64_t>(optimizer.common().gradient_accumulation_steps, 1);
  for (std::size_t i = 0; i < layout.size(); ++i) {
    const std::string path = fmt::format("{}/{}", plain_group, i);
    const OptimizerVariable& one = layout[i];
    if (one.kind == Kind::iterations) {
      const std::int64_t steps = optimizer.iterations() * window + optimizer.state()->accumulated;
      file.add(path, Tensor(Shape{}, std::vector<std::int64_t>{trained ? steps : 0}));
    } else if (one.kind == Kind::learning_rate) {
      file.add(path, Tensor::scalar(optimizer.learning_rate(), DType::float32));
    } else if (one.kind == Kind::placeholder) {
      file.add(path, Tensor(one.shape, one.shape.empty() ? DType::int32 : DType::float32));
    } else if (one.kind == Kind::momentum_product) {
      file.add(path, Tensor::scalar(trained ? momentum_product(optimizer) : 1, DType::float32));
    } else {
      const Variable& weight = weights[one.weight];
      const std::optional<Tensor> slot = trained ? slot_of(optimizer, weight, one.slot) : std::nullopt;
      file.add(path, slot ? slot->cast(accumulation_dtype(slot->dtype())) : first_value(optimizer, weight, one.slot));
    }
  }
}

}  // namespace mezzo::detail
