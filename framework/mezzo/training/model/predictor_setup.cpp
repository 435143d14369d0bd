#include <mezzo/training/model/predictor_setup.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <mezzo/core/fail.hpp>
#include <mezzo/core/parallel.hpp>

namespace mezzo::detail {
namespace {

constexpr const char* predictor_label = "[Predictor]";

void add_ahead(std::vector<std::vector<Spec>>& all, std::vector<Spec> inputs) {
  if (std::find(all.begin(), all.end(), inputs) == all.end()) all.push_back(std::move(inputs));
}

void require_at_least(const char* option, std::int64_t least, std::int64_t given) {
  if (given < least) fail<ValueError>(predictor_label, "{} must be {} or more; got {}", option, least, given);
}

}  // namespace

void check_options(const PredictorOptions& options) {
  for (const std::int64_t size : options.batch_sizes) require_at_least("batch_sizes", 1, size);
  require_at_least("workers", 0, options.workers);
  require_at_least("threads", 0, options.threads);
  require_at_least("max_plans", 1, options.max_plans);
  if (options.max_batch_size != 0) require_at_least("max_batch_size", 2, options.max_batch_size);
  if (!options.max_delay) return;
  if (options.max_batch_size == 0) {
    fail<ValueError>(predictor_label, "max_delay needs max_batch_size; got {} without it", *options.max_delay);
  }
  constexpr double longest = 3600;
  if (!(*options.max_delay >= 0 && *options.max_delay <= longest)) {
    fail<ValueError>(predictor_label, "max_delay must be in [0, {}] seconds; got {}", longest, *options.max_delay);
  }
}

PredictorInputs name_inputs(const PredictorOptions& options, const std::vector<std::string>& names, std::size_t count) {
  PredictorInputs out;
  if (!options.input_names.empty()) {
    if (!names.empty()) {
      fail<ValueError>(predictor_label, "input_names is for modules without names of inputs; the model has {}",
                       fmt::join(names, ", "));
    }
    if (options.input_names.size() != count) {
      fail<ValueError>(predictor_label, "input_names must have {} names, one for each input; got {}", count,
                       fmt::join(options.input_names, ", "));
    }
    for (const std::string& name : options.input_names) {
      const bool twice = std::count(options.input_names.begin(), options.input_names.end(), name) > 1;
      if (name.empty() || twice) {
        fail<NameError>(predictor_label, "input_names must differ and not be empty; got \"{}\"", name);
      }
    }
    out.names = out.fields = options.input_names;
    return out;
  }
  out.names = names.empty() ? std::vector<std::string>(count) : names;
  if (names.empty() && !options.examples.empty() && options.examples.front().named()) {
    std::size_t i = 0;
    for (const auto& entry : options.examples.front()) out.names.at(i++) = entry.first;
    out.fields = out.names;
    return out;
  }
  for (std::size_t i = 0; i < out.names.size(); ++i) {
    const std::string unnamed = count == 1 ? "x" : fmt::format("x_{}", i + 1);
    out.fields.push_back(count == 1 || out.names[i].empty() ? unnamed : out.names[i]);
  }
  return out;
}

std::vector<Tensor> PredictorInputs::ordered(const Tensors& x) const {
  std::vector<Tensor> out;
  if (x.size() != fields.size()) {
    fail<ValueError>(predictor_label, "number of input arrays must be {}; got {}", fields.size(), x.size());
  }
  if (!x.named()) {
    for (const auto& entry : x) out.push_back(entry.second);
    return out;
  }
  const bool any_name = fields.size() == 1 && names.front().empty();
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string& name = names[i].empty() ? fields[i] : names[i];
    const auto found =
        std::find_if(x.begin(), x.end(), [&](const Tensors::Entry& entry) { return any_name || entry.first == name; });
    if (found != x.end()) {
      out.push_back(found->second);
      continue;
    }
    std::vector<std::string> given;
    for (const auto& entry : x) given.push_back(entry.first);
    fail<NameError>(predictor_label, "input by name must be complete; got none for \"{}\"; names: {}", name,
                    fmt::join(given, ", "));
  }
  return out;
}

void check_rows(const CallInputs& inputs) {
  for (const Tensor& input : inputs) {
    if (input.shape().empty() || input.shape().front() < 1) {
      fail<ShapeError>(predictor_label, "inputs must have a batch axis and rows; got {}", input.describe());
    }
    if (input.shape().front() != inputs.first->shape().front()) {
      fail<ShapeError>(predictor_label, "inputs must have equal numbers of rows; got {} and {}",
                       inputs.first->describe(), input.describe());
    }
  }
}

std::vector<std::int64_t> joined_sizes(const PredictorOptions& options) {
  std::vector<std::int64_t> sizes;
  if (options.max_batch_size == 0) return sizes;
  for (std::int64_t size = 1; size < options.max_batch_size; size *= 2) sizes.push_back(size);
  sizes.push_back(options.max_batch_size);
  for (const std::int64_t size : options.batch_sizes) {
    if (size < options.max_batch_size) sizes.push_back(size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::chrono::nanoseconds joining_delay(const PredictorOptions& options) {
  constexpr double usual = 0.001, nanoseconds = 1e9;
  return std::chrono::nanoseconds(std::llround(options.max_delay.value_or(usual) * nanoseconds));
}

std::vector<std::vector<Spec>> inputs_ahead(const PredictorOptions& options, const PredictorInputs& inputs,
                                            const std::vector<Spec>& built) {
  std::vector<std::vector<Spec>> all;
  const auto open = [](const Spec& spec) {
    return spec.shape.empty() || std::any_of(spec.shape.begin() + 1, spec.shape.end(), [](auto n) { return n < 0; });
  };
  const bool known = built.size() == inputs.fields.size() && std::none_of(built.begin(), built.end(), open);
  if (!options.batch_sizes.empty() && !known) {
    fail<ValueError>(predictor_label,
                     "batch_sizes needs a model that is built for inputs of known sizes; got one for {}: give "
                     "examples",
                     built.empty() ? "unknown inputs" : describe(built));
  }
  const auto add_rows = [&](std::vector<Spec> specs, std::int64_t rows) {
    for (Spec& spec : specs) spec.shape.front() = rows;
    add_ahead(all, std::move(specs));
  };
  for (const std::int64_t size : options.batch_sizes) add_rows(built, size);
  std::vector<std::vector<Spec>> rows;
  if (known) rows.push_back(built);
  for (const Tensors& example : options.examples) {
    std::vector<Spec> specs;
    for (const Tensor& array : inputs.ordered(example)) specs.push_back({array.shape(), array.dtype()});
    add_ahead(all, specs);
    rows.push_back(std::move(specs));
  }
  for (const std::int64_t size : joined_sizes(options)) {
    for (const std::vector<Spec>& specs : rows) add_rows(specs, size);
  }
  return all;
}

EngineOptions engine_options(const PredictorOptions& options) {
  const int workers = options.workers > 0 ? options.workers : thread_count();
  const int threads = options.threads > 0 ? options.threads : std::max(thread_count() / workers, 1);
  return {.threads = threads,
          .workers = static_cast<std::size_t>(workers),
          .further = static_cast<std::size_t>(options.max_plans)};
}

}  // namespace mezzo::detail
