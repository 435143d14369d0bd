#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/tensor.hpp>
#include <mezzo/training/loggers/protobuf.hpp>
#include <mezzo/training/module/hyperparameters.hpp>

// Values of TensorBoard's plugins, messages `tensorflow.Summary.Value` of summary.proto.
namespace mezzo::detail {

/// A number, in float32.
ProtoMessage scalar_summary(const std::string& tag, double value);

/// Histogram of the elements, in 30 buckets of equal width, as tf.summary.histogram. Non-finite elements are left out;
/// none if no element is finite.
std::optional<ProtoMessage> histogram_summary(const std::string& tag, const Tensor& values);

/// A text in Markdown.
ProtoMessage text_summary(const std::string& tag, const std::string& text);

/// Pictures, as images of PNG files, all of one size.
ProtoMessage images_summary(const std::string& tag, const std::vector<std::string>& files, std::int64_t width,
                            std::int64_t height);

/// @name Plugin "hparams"
/// A run has the values of its hyperparameters and its status at the end. TensorBoard shows all numbers of the run as
/// metrics, unless there is a list of hyperparameters and metrics.
/// @{
enum class RunStatus { unknown, success, failure, running };
ProtoMessage hparams_start_summary(const Hyperparameters& params);
ProtoMessage hparams_end_summary(RunStatus status);
ProtoMessage hparams_list_summary(const Hyperparameters& params, const std::vector<std::string>& metrics);
/// @}

}  // namespace mezzo::detail
