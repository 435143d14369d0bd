#include <mezzo/models/mobilenet_v2.hpp>

#include <cmath>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/conv_norm.hpp>
#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/timm_config.hpp>
#include <mezzo/models/pretrained/vision_class.hpp>
#include <mezzo/models/pretrained/vision_names.hpp>

namespace mezzo::detail {
namespace {

/// Options of a MobileNetV2 with the channels of its images.
struct MobileNetV2Arguments {
  std::int64_t channels = 3;
  MobileNetV2Options options{};

  static MobileNetV2Arguments of(const MobileNetV2& model) { return {.options = model.options()}; }
  MobileNetV2 model() const { return MobileNetV2(options); }
};

/// True if the first block keeps the number of channels: torchvision then adds its input, transformers does not.
bool adds_in_first_block(const MobileNetV2Options& options) {
  return rounded_channels(32 * options.width_mult) == rounded_channels(16 * options.width_mult);
}

void describe_multiplier(ConfigFields& fields, MobileNetV2Options& options) {
  const char* const key = "depth_multiplier";
  fields.number(key, options.width_mult);
  if (options.width_mult > 0 && !adds_in_first_block(options)) return;
  if (!fields.writes()) fields.refuse(key, "a number from 0.28 on");
  fail<ValueError>(fields.where(), "width_mult must be larger, since transformers has no such model; got {}",
                   options.width_mult);
}

void describe_mobilenet_v2(ConfigFields& fields, MobileNetV2Arguments& model) {
  fields.size("num_channels", model.channels);
  describe_multiplier(fields, model.options);
  fields.number("classifier_dropout_prob", model.options.dropout);
  fields.number("layer_norm_eps", model.options.epsilon);
  fields.flag("tf_padding", model.options.tf_padding);
  fields.fixed("hidden_act", "relu6");
  fields.fixed("depth_divisible_by", 8);
  fields.fixed("min_depth", 8);
  fields.fixed("expand_ratio", 6);
  fields.fixed("output_stride", 32);
  fields.fixed("first_layer_is_expansion", true);
  fields.fixed("finegrained_output", true);
  describe_common(fields);
  fields.ignore({"image_size", "initializer_range", "semantic_loss_ignore_index"});
  fields.labels(model.options.classes);
}

struct TimmMobileNet {
  const char* name;
  double width_mult;
};

constexpr TimmMobileNet timm_mobilenets[] = {{"mobilenetv2_035", 0.35},
                                             {"mobilenetv2_050", 0.5},
                                             {"mobilenetv2_075", 0.75},
                                             {"mobilenetv2_100", 1},
                                             {"mobilenetv2_140", 1.4}};

void describe_timm_mobilenet(ConfigFields& fields, MobileNetV2Arguments& model) {
  TimmConfig config{.architecture = "mobilenetv2_100",
                    .classes = model.options.classes,
                    .channels = model.channels,
                    .first_conv = "conv_stem",
                    .classifier = "classifier"};
  for (const TimmMobileNet& known : timm_mobilenets) {
    config.known.emplace_back(known.name);
    if (known.width_mult == model.options.width_mult) config.architecture = known.name;
  }
  describe_timm(fields, config);
  for (const TimmMobileNet& known : timm_mobilenets) {
    if (config.architecture == known.name) model.options.width_mult = known.width_mult;
  }
  model.options.classes = config.classes;
  model.channels = config.channels;
  describe_timm_features(fields, model.options.width_mult > 1 ? 1792 : 1280);
}

constexpr int inverted_blocks = 17;

FolderNames transformers_mobilenet_names() {
  TwoWayRules rules;
  const auto add = [&](const std::string& folder, const std::string& convolution, const std::string& normalization) {
    rules.add("mobilenet_v2." + folder + ".convolution.", "features." + convolution);
    rules.add("mobilenet_v2." + folder + ".normalization.", "features." + normalization);
  };
  add("conv_stem.first_conv", "0.0.", "0.1.");
  add("conv_stem.conv_3x3", "1.conv.0.0.", "1.conv.0.1.");
  add("conv_stem.reduce_1x1", "1.conv.1.", "1.conv.2.");
  for (int block = 2; block <= inverted_blocks; ++block) {
    const std::string folder = fmt::format("layer.{}.", block - 2), torchvision = fmt::format("{}.conv.", block);
    add(folder + "expand_1x1", torchvision + "0.0.", torchvision + "0.1.");
    add(folder + "conv_3x3", torchvision + "1.0.", torchvision + "1.1.");
    add(folder + "reduce_1x1", torchvision + "2.", torchvision + "3.");
  }
  add("conv_1x1", "18.0.", "18.1.");
  rules.add("classifier.", "classifier.1.");
  rules.read.insert(rules.read.begin(), {"^(conv_stem|layer|conv_1x1)\\.", "mobilenet_v2.$1."});  // of MobileNetV2Model
  return {.read = rules.read, .written = rules.written, .heads = "^classifier\\.", .convert_back = with_batch_counts};
}

FolderNames timm_mobilenet_names() {
  TwoWayRules rules;
  const auto add = [&](const std::string& folder, const std::string& torchvision) {
    rules.add(folder, "features." + torchvision);
  };
  add("conv_stem.", "0.0.");
  add("bn1.", "0.1.");
  add("blocks.0.0.conv_dw.", "1.conv.0.0.");
  add("blocks.0.0.bn1.", "1.conv.0.1.");
  add("blocks.0.0.conv_pw.", "1.conv.1.");
  add("blocks.0.0.bn2.", "1.conv.2.");
  constexpr int blocks_of_stages[] = {2, 3, 4, 3, 3, 1};
  int block = 2;
  for (int stage = 1; stage <= 6; ++stage) {
    for (int i = 0; i < blocks_of_stages[stage - 1]; ++i, ++block) {
      const std::string folder = fmt::format("blocks.{}.{}.", stage, i), torchvision = fmt::format("{}.conv.", block);
      add(folder + "conv_pw.", torchvision + "0.0.");
      add(folder + "bn1.", torchvision + "0.1.");
      add(folder + "conv_dw.", torchvision + "1.0.");
      add(folder + "bn2.", torchvision + "1.1.");
      add(folder + "conv_pwl.", torchvision + "2.");
      add(folder + "bn3.", torchvision + "3.");
    }
  }
  add("conv_head.", "18.0.");
  add("bn2.", "18.1.");
  rules.add("classifier.", "classifier.1.");
  return {.read = rules.read, .written = rules.written, .heads = "^classifier\\.", .convert_back = with_batch_counts};
}

}  // namespace

std::vector<PretrainedClass> mobilenet_v2_classes() {
  std::vector<std::string> names;
  for (const TimmMobileNet& known : timm_mobilenets) names.emplace_back(known.name);
  const MobileNetV2Options tensorflow{.dropout = 0.8, .epsilon = 0.001, .tf_padding = true};
  return {vision_class<MobileNetV2, MobileNetV2Arguments>("MobileNetV2",
                                                          {.architectures = {"MobileNetV2ForImageClassification"},
                                                           .model_types = {"mobilenet_v2"},
                                                           .defaults = {.options = tensorflow},
                                                           .describe = describe_mobilenet_v2,
                                                           .names = transformers_mobilenet_names()}),
          vision_class<MobileNetV2, MobileNetV2Arguments>("MobileNetV2", {.model_types = names,
                                                                          .defaults = {.options = {.dropout = 0}},
                                                                          .describe = describe_timm_mobilenet,
                                                                          .names = timm_mobilenet_names()})};
}

}  // namespace mezzo::detail
