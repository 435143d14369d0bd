#include <mezzo/model/model.hpp>
#include <mezzo/training/detail/loop.hpp>

namespace mezzo {
namespace {

DataLoader arrays(const std::vector<NamedTensor>& fields, std::int64_t batch_size, bool shuffle) {
  return DataLoader(Dataset::from_tensors(fields), {.batch_size = batch_size, .shuffle = shuffle});
}

std::vector<NamedTensor> targets(const Tensor& x, const Tensor& y) {
  return {{"x", x, Role::input}, {"y", y, Role::target}};
}

}  // namespace

void Model::compile(CompileOptions options) {
  if (!options.loss) throw ValueError(label() + " compile: give a loss");
  compiled_ = std::move(options);
  set_run_state(nullptr);
}

void Model::require_compiled(const std::string& verb) const {
  if (!compiled_.loss) throw ValueError(label() + " " + verb + ": compile() the model first");
}

History Model::fit(const Tensor& x, const Tensor& y, const FitOptions& options) {
  std::vector<NamedTensor> fields = targets(x, y);
  if (options.sample_weight) fields.push_back({"sample_weight", *options.sample_weight, Role::weight});
  if (options.validation_split < 0 || options.validation_split >= 1) {
    throw ValueError(label() + " fit: validation_split must lie in [0, 1); got " +
                     std::to_string(options.validation_split));
  }
  Dataset data = Dataset::from_tensors(fields);
  DataLoader validation;
  const DataLoaderOptions plain{.batch_size = options.batch_size};
  if (options.validation_data) {
    validation = DataLoader(
        Dataset::from_tensors(targets(options.validation_data->first, options.validation_data->second)), plain);
  } else if (options.validation_split > 0) {
    auto parts = data.split(1 - options.validation_split);
    data = parts.first;
    if (parts.second.size() > 0) validation = DataLoader(parts.second, plain);
  }
  const DataLoader train(data, {.batch_size = options.batch_size, .shuffle = options.shuffle});
  return fit(train, {.epochs = options.epochs, .verbose = options.verbose, .validation_data = validation});
}

History Model::fit(const DataLoader& loader, const FitLoaderOptions& options) {
  return detail::fit(*this, loader, options.validation_data, {}, {options.epochs, -1, options.verbose, false});
}

Logs Model::evaluate(const Tensor& x, const Tensor& y, const EvaluateOptions& options) {
  return evaluate(arrays(targets(x, y), options.batch_size, false));
}

Logs Model::evaluate(const DataLoader& loader) {
  return detail::evaluate(*this, loader, detail::Phase::validate, {});
}

Tensor Model::predict(const Tensor& x, const EvaluateOptions& options) {
  return predict(arrays({{"x", x, Role::input}}, options.batch_size, false));
}

Tensor Model::predict(const DataLoader& loader) { return detail::predict(*this, loader, {}); }

}  // namespace mezzo
