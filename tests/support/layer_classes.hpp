#pragma once

#include <map>
#include <set>
#include <string>

#include <mezzo/nn/config_json.hpp>

// Configs and inputs with which each class of the library can be made and called.
namespace mezzo_tests {

using mezzo::detail::Json;

// Members that a class requires, or that its other members need.
inline const std::map<std::string, Json> required_members{
    {"CosineDecay", {{"decay_steps", 10}, {"warmup_target", 0.5}}},
    {"CosineDecayRestarts", {{"first_decay_steps", 10}}},
    {"ExponentialDecay", {{"decay_steps", 10}, {"decay_rate", 0.5}}},
    {"InverseTimeDecay", {{"decay_steps", 10}, {"decay_rate", 0.5}}},
    {"PolynomialDecay", {{"decay_steps", 10}}},
    {"LinearWarmup", {{"after", 0.5}, {"warmup_steps", 3}}},
    {"PiecewiseConstantDecay", {{"boundaries", {5}}, {"values", {0.5, 0.25}}}},
    {"IoU", {{"num_classes", 3}, {"target_class_ids", {0, 1}}}},
    {"MeanIoU", {{"num_classes", 3}}},
    {"OneHotIoU", {{"num_classes", 3}, {"target_class_ids", {0, 1}}}},
    {"OneHotMeanIoU", {{"num_classes", 3}}},
    {"LossMetric", {{"loss", "mse"}}},
    {"AdaptiveAveragePooling1D", {{"output_size", 2}}},
    {"AdaptiveAveragePooling2D", {{"output_size", 2}}},
    {"AdaptiveAveragePooling3D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling1D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling2D", {{"output_size", 2}}},
    {"AdaptiveMaxPooling3D", {{"output_size", 2}}},
    {"Bidirectional", {{"layer", {{"class_name", "LSTM"}, {"config", {{"units", 3}}}}}}},
    {"Conv1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv1DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"ConvLSTM3D", {{"filters", 4}, {"kernel_size", 2}}},
    {"CategoryEncoding", {{"num_tokens", 7}}},
    {"CenterCrop", {{"height", 3}, {"width", 4}}},
    {"Discretization", {{"bin_boundaries", {1, 3}}}},
    {"FeatureSpace", {{"features", Json::array({{{"name", "a"}, {"type", "float"}}})}}},
    {"Hashing", {{"num_bins", 5}}},
    {"IntegerLookup", {{"vocabulary", {1, 2, 5}}}},
    {"HashedCrossing", {{"num_bins", 5}}},
    {"RandomBrightness", {{"factor", {0.5}}}},
    {"RandomColorDegeneration", {{"factor", {0.5}}}},
    {"RandomContrast", {{"factor", {0.5}}}},
    {"RandomCrop", {{"height", 3}, {"width", 4}}},
    {"RandomHue", {{"factor", {0.5}}}},
    {"RandomPosterization", {{"factor", {2, 4}}}},
    {"RandomRotation", {{"factor", {0.5}}}},
    {"RandomSaturation", {{"factor", {0.5}}}},
    {"RandomSharpness", {{"factor", {0.5}}}},
    {"RandomTranslation", {{"height_factor", {0.5}}, {"width_factor", {0.25}}}},
    {"RandomZoom", {{"height_factor", {0.5}}, {"width_factor", {0.25}}}},
    {"Resizing", {{"height", 3}, {"width", 4}}},
    {"Conv2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv2DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv3D", {{"filters", 4}, {"kernel_size", 2}}},
    {"Conv3DTranspose", {{"filters", 4}, {"kernel_size", 2}}},
    {"DepthwiseConv1D", {{"kernel_size", 2}}},
    {"DepthwiseConv2D", {{"kernel_size", 2}}},
    {"Dense", {{"units", 3}}},
    {"Dropout", {{"rate", 0.5}}},
    {"Embedding", {{"input_dim", 7}, {"output_dim", 3}}},
    {"GroupedQueryAttention", {{"head_dim", 4}, {"num_query_heads", 4}, {"num_key_value_heads", 2}}},
    {"GRU", {{"units", 3}}},
    {"GRUCell", {{"units", 3}}},
    {"LSTM", {{"units", 3}}},
    {"LSTMCell", {{"units", 3}}},
    {"MultiHeadAttention", {{"num_heads", 2}, {"key_dim", 4}}},
    {"AlphaDropout", {{"rate", 0.5}}},
    {"Dot", {{"axes", 1}}},
    {"EinsumDense", {{"equation", "...a,ab->...b"}, {"output_shape", 5}}},
    {"GaussianDropout", {{"rate", 0.5}}},
    {"GaussianNoise", {{"stddev", 0.5}}},
    {"GroupNormalization", {{"groups", 2}}},
    {"PositionEmbedding", {{"sequence_length", 8}}},
    {"ReversibleEmbedding", {{"input_dim", 7}, {"output_dim", 3}}},
    {"SpatialDropout1D", {{"rate", 0.5}}},
    {"SpatialDropout2D", {{"rate", 0.5}}},
    {"SpatialDropout3D", {{"rate", 0.5}}},
    {"SpectralNormalization", {{"layer", {{"class_name", "Dense"}, {"config", {{"units", 3}}}}}}},
    {"TokenAndPositionEmbedding", {{"vocabulary_size", 7}, {"sequence_length", 8}, {"embedding_dim", 3}}},
    {"Permute", {{"dims", {2, 1}}}},
    {"RepeatVector", {{"n", 3}}},
    {"Reshape", {{"target_shape", {12, -1}}}},
    {"SeparableConv1D", {{"filters", 4}, {"kernel_size", 2}}},
    {"SeparableConv2D", {{"filters", 4}, {"kernel_size", 2}}},
    {"RNN", {{"cell", {{"class_name", "GRUCell"}, {"config", {{"units", 3}}}}}}},
    {"SimpleRNN", {{"units", 3}}},
    {"SimpleRNNCell", {{"units", 3}}},
    {"StackedRNNCells", {{"cells", {{{"class_name", "LSTMCell"}, {"config", {{"units", 3}}}}}}}},
    {"TimeDistributed", {{"layer", {{"class_name", "Dense"}, {"config", {{"units", 3}}}}}}},
};

inline mezzo::detail::Json config_of(const std::string& name) {
  const auto found = required_members.find(name);
  return found == required_members.end() ? mezzo::detail::Json::object() : found->second;
}

// True for layers of integers.
inline bool takes_integers(const std::string& name) {
  const std::set<std::string> names{"CategoryEncoding", "Embedding",           "HashedCrossing",           "Hashing",
                                    "IntegerLookup",    "ReversibleEmbedding", "TokenAndPositionEmbedding"};
  return names.count(name) != 0;
}

// True for layers that merge inputs.
inline bool takes_two(const std::string& name) {
  const std::set<std::string> names{"Add",     "Average", "Concatenate", "Dot",     "HashedCrossing",
                                    "Maximum", "Minimum", "Multiply",    "Subtract"};
  return names.count(name) != 0 || name.find("Attention") != std::string::npos;
}

// Input of one sample of each layer.
inline mezzo::Shape sample_of(const std::string& name) {
  if (name == "HashedCrossing" || name == "FeatureSpace") return {1};
  if (takes_integers(name) || name == "RepeatVector") return {4};
  if (name == "ConvLSTM1D") return {4, 6, 3};
  if (name == "ConvLSTM2D") return {4, 6, 5, 3};
  if (name == "ConvLSTM3D") return {4, 6, 5, 4, 3};
  const std::set<std::string> sequences{
      "Bidirectional", "GRU",           "GRUCell",         "LSTM",           "LSTMCell", "RNN",
      "SimpleRNN",     "SimpleRNNCell", "StackedRNNCells", "TimeDistributed"};
  if (sequences.count(name) != 0 || name == "Permute" || name == "EinsumDense" ||
      name.find("Attention") != std::string::npos || name.find("1D") != std::string::npos)
    return {4, 8};
  if (name.find("3D") != std::string::npos) return {3, 4, 3, 2};
  const std::set<std::string> colors{"AugMix",          "RandAugment", "RandomColorDegeneration",
                                     "RandomGrayscale", "RandomHue",   "RandomSaturation"};
  return {6, 6, colors.count(name) != 0 ? 3 : 4};
}

}  // namespace mezzo_tests
