#include <mezzo/training/loggers/summaries.hpp>

#include <algorithm>
#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/training/loggers/event_file.hpp>

// Numbers of fields are those of tensorflow/core/framework/{summary,tensor,tensor_shape}.proto and of
// tensorboard/plugins/hparams/{plugin_data,api}.proto.
namespace mezzo::detail {
namespace {

enum class DataClass { unknown, scalar, tensor, blob_sequence };

/// Summary.Value: tag and SummaryMetadata.
ProtoMessage plugin_value(const std::string& tag, const std::string& plugin, const ProtoMessage& content,
                          DataClass kind) {
  ProtoMessage metadata;
  metadata.message(1, ProtoMessage().text(1, plugin).message(2, content));      // plugin_data: plugin_name, content
  if (kind != DataClass::unknown) metadata.integer(4, static_cast<int>(kind));  // data_class
  ProtoMessage value;
  value.text(1, tag).message(9, metadata);
  return value;
}

/// TensorProto of strings: one axis, or none for `scalar`.
ProtoMessage string_tensor(const std::vector<std::string>& strings, bool scalar) {
  constexpr int string_dtype = 7;
  ProtoMessage shape;
  if (!scalar) shape.message(2, ProtoMessage().integer(1, static_cast<std::int64_t>(strings.size())));  // dim: size
  ProtoMessage tensor;
  tensor.integer(1, string_dtype).message(2, shape);
  for (const std::string& string : strings) tensor.text(8, string);  // string_val
  return tensor;
}

/// A message of HParamsPluginData, with its field.
ProtoMessage hparams_value(const char* tag, std::uint32_t field, const ProtoMessage& content) {
  return plugin_value(tag, "hparams", ProtoMessage().message(field, content), DataClass::unknown);
}

/// google.protobuf.Value of a hyperparameter.
ProtoMessage hparam_value(const Hyperparameter& param) {
  ProtoMessage out;
  if (const auto* flag = std::get_if<bool>(&param.value())) return out.integer(4, *flag ? 1 : 0);
  if (const auto* whole = std::get_if<std::int64_t>(&param.value())) return out.real(2, static_cast<double>(*whole));
  if (const auto* number = std::get_if<double>(&param.value())) return out.real(2, *number);
  return out.text(3, std::get<std::string>(param.value()));
}

/// DataType of api.proto: string, bool, float64.
int hparam_type(const Hyperparameter& param) {
  if (std::holds_alternative<std::string>(param.value())) return 1;
  return std::holds_alternative<bool>(param.value()) ? 2 : 3;
}

}  // namespace

ProtoMessage scalar_summary(const std::string& tag, double value) {
  return ProtoMessage().text(1, tag).real32(2, value);  // tag, simple_value
}

std::optional<ProtoMessage> histogram_summary(const std::string& tag, const Tensor& values) {
  constexpr std::size_t buckets = 30;
  std::vector<double> numbers = values.to_doubles();
  numbers.erase(std::remove_if(numbers.begin(), numbers.end(), [](double x) { return !std::isfinite(x); }),
                numbers.end());
  if (numbers.empty()) return {};
  const auto [least, most] = std::minmax_element(numbers.begin(), numbers.end());
  const double low = *least, high = *most, width = (high - low) / buckets;
  std::vector<double> limits, counts(buckets);
  for (std::size_t i = 1; i <= buckets; ++i)
    limits.push_back(i == buckets ? high : low + width * static_cast<double>(i));
  double sum = 0, squares = 0;
  for (const double x : numbers) {
    const auto place = width > 0 ? static_cast<std::size_t>((x - low) / width) : 0;
    ++counts[std::min(place, buckets - 1)];
    sum += x;
    squares += x * x;
  }
  ProtoMessage histogram;
  histogram.real(1, low).real(2, high).real(3, static_cast<double>(numbers.size())).real(4, sum).real(5, squares);
  histogram.reals(6, limits).reals(7, counts);
  return ProtoMessage().text(1, tag).message(5, histogram);  // tag, histo
}

ProtoMessage text_summary(const std::string& tag, const std::string& text) {
  return plugin_value(tag, "text", {}, DataClass::tensor).message(8, string_tensor({text}, true));
}

ProtoMessage images_summary(const std::string& tag, const std::vector<std::string>& files, std::int64_t width,
                            std::int64_t height) {
  std::vector<std::string> strings{fmt::to_string(width), fmt::to_string(height)};
  strings.insert(strings.end(), files.begin(), files.end());
  return plugin_value(tag, "images", {}, DataClass::blob_sequence).message(8, string_tensor(strings, false));
}

ProtoMessage hparams_start_summary(const Hyperparameters& params) {
  ProtoMessage start;
  for (const auto& [name, param] : params)
    start.message(1, ProtoMessage().text(1, name).message(2, hparam_value(param)));
  start.real(5, wall_time());  // start_time_secs
  return hparams_value("_hparams_/session_start_info", 3, start);
}

ProtoMessage hparams_end_summary(RunStatus status) {
  const ProtoMessage end = ProtoMessage().integer(1, static_cast<int>(status)).real(2, wall_time());  // end_time_secs
  return hparams_value("_hparams_/session_end_info", 4, end);
}

ProtoMessage hparams_list_summary(const Hyperparameters& params, const std::vector<std::string>& metrics) {
  ProtoMessage list;
  for (const auto& [name, param] : params) {
    list.message(4, ProtoMessage().text(1, name).integer(4, hparam_type(param)));  // hparam_infos: name, type
  }
  for (const std::string& metric : metrics) {
    list.message(5, ProtoMessage().message(1, ProtoMessage().text(2, metric)));  // metric_infos: name.tag
  }
  return hparams_value("_hparams_/experiment", 2, list);
}

}  // namespace mezzo::detail
