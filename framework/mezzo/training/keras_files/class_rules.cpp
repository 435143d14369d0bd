#include <mezzo/training/keras_files/class_rules.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace mezzo::detail {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool starts_with(const std::string& text, const std::string& begin) { return text.rfind(begin, 0) == 0; }

/// A member with another name in mezzo. An empty class: all classes. Names of Keras 2 are read, not written.
struct Renamed {
  const char *class_name, *keras, *mezzo;
  bool keras_2 = false;
};

constexpr Renamed renamed[] = {
    {"LeakyReLU", "alpha", "negative_slope", true},
    {"", "lr", "learning_rate", true},
    {"PrecisionAtRecall", "recall", "least"},
    {"RecallAtPrecision", "precision", "least"},
    {"SensitivityAtSpecificity", "specificity", "least"},
    {"SpecificityAtSensitivity", "sensitivity", "least"},
};

/// Bounds of random numbers, of which Keras also writes one number.
const std::set<std::string>& factors() {
  static const auto* const names = new std::set<std::string>{
      "factor",     "value_range",   "brightness_factor", "contrast_factor", "saturation_factor",
      "hue_factor", "scale",         "fill_value",        "sigma",           "x_factor",
      "y_factor",   "height_factor", "width_factor",      "addition_factor", "threshold_factor",
  };
  return *names;
}

/// Image layers whose option is one number in mezzo too.
bool is_number(const std::string& class_name, const std::string& member) {
  if (member == "factor") return class_name == "RandomGrayscale";
  if (member == "scale") return class_name == "RandomPerspective" || class_name == "Rescaling";
  if (member == "fill_value") return class_name != "RandomErasing";
  return false;
}

bool is_image_layer(const std::string& name) {
  static const auto* const others = new std::set<std::string>{"AugMix", "AutoContrast", "CutMix",      "Equalization",
                                                              "MixUp",  "RandAugment",  "Solarization"};
  return starts_with(name, "Random") || others->count(name) != 0;
}

}  // namespace

const char* keras_module(KerasFamily family) {
  switch (family) {
    case KerasFamily::layer:
      return "keras.layers";
    case KerasFamily::initializer:
      return "keras.initializers";
    case KerasFamily::regularizer:
      return "keras.regularizers";
    case KerasFamily::constraint:
      return "keras.constraints";
    case KerasFamily::loss:
      return "keras.losses";
    case KerasFamily::metric:
      return "keras.metrics";
    case KerasFamily::optimizer:
      return "keras.optimizers";
    case KerasFamily::schedule:
      break;
  }
  return "keras.optimizers.schedules";
}

std::optional<KerasFamily> family_of_member(const std::string& member) {
  if (ends_with(member, "initializer")) return KerasFamily::initializer;
  if (ends_with(member, "regularizer")) return KerasFamily::regularizer;
  if (ends_with(member, "constraint")) return KerasFamily::constraint;
  if (ends_with(member, "layer") || member == "cell" || member == "cells") return KerasFamily::layer;
  if (member == "learning_rate" || member == "after") return KerasFamily::schedule;
  return {};
}

bool is_activation(const std::string& member) { return ends_with(member, "activation"); }

MemberForm form_of_member(const std::string& class_name, const std::string& member) {
  if (member == "padding" || member == "cropping") {
    const bool margins = starts_with(class_name, "ZeroPadding") || starts_with(class_name, "Cropping");
    return margins ? MemberForm::flat : MemberForm::same;
  }
  if (class_name == "Normalization") {
    if (member == "axis") return MemberForm::list;
    if (member == "mean" || member == "variance") return MemberForm::tensor;
  }
  if (class_name == "BatchNormalization" && member == "axis") return MemberForm::number;
  if (class_name == "PReLU" && member == "shared_axes") return MemberForm::list;
  if (member == "idf_weights") return MemberForm::list;
  const bool bounds = is_image_layer(class_name) && factors().count(member) != 0;
  return bounds && !is_number(class_name, member) ? MemberForm::list : MemberForm::same;
}

std::string member_in(const std::string& class_name, const std::string& member) {
  for (const Renamed& row : renamed) {
    const bool applies = *row.class_name == '\0' || class_name == row.class_name;
    if (applies && member == row.keras) return row.mezzo;
  }
  return member;
}

std::string member_out(const std::string& class_name, const std::string& member) {
  for (const Renamed& row : renamed) {
    if (!row.keras_2 && class_name == row.class_name && member == row.mezzo) return row.keras;
  }
  return member;
}

std::string class_in(const std::string& name) {
  static const auto* const names = new std::map<std::string, std::string>{
      {"Model", "Functional"},
      {"GroupQueryAttention", "GroupedQueryAttention"},
      {"IdentityInitializer", "Identity"},
      {"OrthogonalInitializer", "Orthogonal"},
      {"STFTInitializer", "STFT"},
  };
  const auto found = names->find(name);
  return found == names->end() ? name : found->second;
}

std::string class_out(const std::string& name) {
  return name == "GroupedQueryAttention" ? "GroupQueryAttention" : name;
}

bool has_no_effect(const std::string& member, const Json& value) {
  static const auto* const any = new std::set<std::string>{"implementation",
                                                           "unroll",
                                                           "use_cudnn",
                                                           "seed",
                                                           "time_major",
                                                           "input_length",
                                                           "input_dtype",
                                                           "input_spec",
                                                           "vocabulary_size",
                                                           "batch_size",
                                                           "autocast",
                                                           "lora_alpha",
                                                           "is_legacy_optimizer",
                                                           "jit_compile",
                                                           "vocabulary_dtype",
                                                           "fused",
                                                           "build_input_shape",
                                                           "renorm_momentum",
                                                           "query_shape",
                                                           "key_shape",
                                                           "value_shape",
                                                           "gptq_unpacked_column_size",
                                                           "quantization_config"};
  static const auto* const values = new std::map<std::string, std::vector<Json>>{
      {"data_format", {"channels_last"}},
      {"sparse", {false}},
      {"ragged", {false}},
      {"renorm", {false}},
      {"softmax_robust_masking", {false}},
      {"mask_zero", {false}},
      {"rms_scaling", {false}},
      {"groups", {1}},
      {"decay", {0.0, 0}},
      {"fill_mode", {"constant"}},
      {"supports_masking", {true, false}},
      {"zero_output_for_mask", {false}},
      {"stateful", {false}},
      {"embedding_size", {Json()}},
      {"optional", {false}},
      {"dtype", {"float32", "int64", "int32", "uint8", "string"}},
      {"arguments", {Json::object()}},
  };
  if (value.is_null() || any->count(member) != 0) return true;
  const auto found = values->find(member);
  if (found == values->end()) return false;
  return std::find(found->second.begin(), found->second.end(), value) != found->second.end();
}

const MezzoMember* member_of_mezzo_alone(const std::string& class_name, const std::string& member) {
  static const auto* const members = new std::vector<MezzoMember>{
      {"split_master_weights", false},
      {"stochastic_rounding", false},
      {"kahan_summation", false},
      {"groups", Json::array()},
      {"state_dtype", "float32"},
      {"flash_attention", nullptr},
      {"values", nullptr},
      {"reduction_axis", nullptr},
  };
  if (starts_with(class_name, "Conv") || class_name == "GroupNormalization") return nullptr;
  if (class_name == "PiecewiseConstantDecay") return nullptr;  // its `values` are Keras'
  const auto found =
      std::find_if(members->begin(), members->end(), [&](const MezzoMember& one) { return member == one.name; });
  return found == members->end() ? nullptr : &*found;
}

bool is_unused(const std::string& class_name, const std::string& member, const Json& value) {
  static const auto* const zeros = new std::set<std::string>{"clipnorm",
                                                             "clipvalue",
                                                             "global_clipnorm",
                                                             "ema_overwrite_frequency",
                                                             "gradient_accumulation_steps",
                                                             "sliding_window",
                                                             "weight_decay",
                                                             "value_dim",
                                                             "num_tokens",
                                                             "num_bins"};
  if (value.is_array()) return value.empty() && member != "boundaries" && member != "values";
  if (value.is_string()) return value == "" || (member == "merge_mode" && value == "none");
  if (class_name == "AdamW" || class_name == "ScheduleFreeAdamW") {
    if (member == "weight_decay") return false;
  }
  return value.is_number() && value == 0 && zeros->count(member) != 0;
}

bool is_class_of_mezzo_alone(KerasFamily family, const std::string& name) {
  static const auto* const layers =
      new std::set<std::string>{"FeatureSpace",         "PositionEmbedding",         "RotaryEmbedding",
                                "SinePositionEncoding", "TokenAndPositionEmbedding", "GELU"};
  static const auto* const others = new std::set<std::string>{"LARS", "LinearWarmup"};
  return starts_with(name, "mezzo>") || (family == KerasFamily::layer ? layers : others)->count(name) != 0;
}

bool has_no_policy(const std::string& class_name) {
  return class_name == "Hashing" || class_name == "HashedCrossing" || class_name == "IntegerLookup" ||
         class_name == "Discretization";
}

bool has_no_trainable(const std::string& class_name) {
  return has_no_policy(class_name) || starts_with(class_name, "SpatialDropout") || class_name == "CategoryEncoding";
}

bool has_data_format(const std::string& class_name) {
  static const auto* const names = new std::set<std::string>{
      "Flatten",    "UpSampling2D", "UpSampling3D",     "ZeroPadding1D",    "ZeroPadding2D", "ZeroPadding3D",
      "Cropping2D", "Cropping3D",   "SpatialDropout2D", "SpatialDropout3D", "CenterCrop",    "Resizing"};
  const bool convolves = class_name.find("Conv") != std::string::npos && !ends_with(class_name, "Cell");
  const bool pools = class_name.find("Pooling") != std::string::npos;
  return convolves || pools || names->count(class_name) != 0;
}

}  // namespace mezzo::detail
