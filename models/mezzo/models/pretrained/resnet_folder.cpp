#include <mezzo/models/resnet.hpp>

#include <algorithm>

#include <mezzo/core/fail.hpp>
#include <mezzo/models/pretrained/common_keys.hpp>
#include <mezzo/models/pretrained/timm_config.hpp>
#include <mezzo/models/pretrained/vision_class.hpp>
#include <mezzo/models/pretrained/vision_names.hpp>

namespace mezzo::detail {
namespace {

constexpr std::int64_t resnet_expansion = 4;  // of bottlenecks

/// Arguments of a ResNet with the channels of its images.
struct ResNetArguments {
  ResNet::Block block = ResNet::Block::bottleneck;
  std::array<std::int64_t, 4> layers{3, 4, 6, 3};
  std::int64_t channels = 3;
  ResNetOptions options{};

  static ResNetArguments of(const ResNet& model) {
    return {.block = model.block(), .layers = model.layers(), .options = model.options()};
  }
  ResNet model() const { return ResNet(block, layers, options); }

  std::int64_t expansion() const { return block == ResNet::Block::bottleneck ? resnet_expansion : 1; }
};

/// A list of four sizes of 1 or more. `most` bounds their sum.
void four_sizes(ConfigFields& fields, const char* key, std::array<std::int64_t, 4>& values) {
  if (fields.writes()) return fields.write(key, values);
  const Json* const given = fields.find(key);
  if (given == nullptr) return;
  constexpr std::int64_t most = std::int64_t{1} << 20U;
  const auto is_size = [](const Json& value) {
    return value.is_number_integer() && value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= most;
  };
  if (!given->is_array() || given->size() != values.size() || !std::all_of(given->begin(), given->end(), is_size)) {
    fields.refuse(key, fmt::format("a list of 4 integers from 1 to {}", most));
  }
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = (*given)[i].get<std::int64_t>();
}

void describe_hidden_sizes(ConfigFields& fields, ResNetArguments& model) {
  const std::int64_t expansion = model.expansion();
  std::array<std::int64_t, 4> sizes{256, 512, 1024, 2048};
  if (fields.writes()) {
    for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = model.options.filters[i] * expansion;
  }
  four_sizes(fields, "hidden_sizes", sizes);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] % expansion != 0) fields.refuse("hidden_sizes", fmt::format("multiples of {}", expansion));
    model.options.filters[i] = sizes[i] / expansion;
  }
}

void describe_resnet(ConfigFields& fields, ResNetArguments& model) {
  std::string type = model.block == ResNet::Block::basic ? "basic" : "bottleneck";
  fields.choice("layer_type", type, {"basic", "bottleneck"});
  model.block = type == "basic" ? ResNet::Block::basic : ResNet::Block::bottleneck;
  fields.size("num_channels", model.channels);
  fields.size("embedding_size", model.options.stem);
  describe_hidden_sizes(fields, model);
  four_sizes(fields, "depths", model.layers);
  fields.fixed("hidden_act", "relu");
  fields.fixed("downsample_in_first_stage", false);
  fields.fixed("downsample_in_bottleneck", false);
  describe_common(fields);
  fields.ignore({"stage_names", "out_features", "out_indices"});  // of ResNetBackbone
  fields.labels(model.options.classes);
}

struct TimmResNet {
  const char* name;
  ResNet::Block block;
  std::array<std::int64_t, 4> layers;
};

constexpr TimmResNet timm_resnets[] = {{"resnet18", ResNet::Block::basic, {2, 2, 2, 2}},
                                       {"resnet34", ResNet::Block::basic, {3, 4, 6, 3}},
                                       {"resnet50", ResNet::Block::bottleneck, {3, 4, 6, 3}},
                                       {"resnet101", ResNet::Block::bottleneck, {3, 4, 23, 3}},
                                       {"resnet152", ResNet::Block::bottleneck, {3, 8, 36, 3}}};

void describe_timm_resnet(ConfigFields& fields, ResNetArguments& model) {
  TimmConfig config{.architecture = "resnet50",
                    .classes = model.options.classes,
                    .channels = model.channels,
                    .first_conv = "conv1",
                    .classifier = "fc"};
  for (const TimmResNet& known : timm_resnets) {
    config.known.emplace_back(known.name);
    if (known.block == model.block && known.layers == model.layers) config.architecture = known.name;
  }
  describe_timm(fields, config);
  for (const TimmResNet& known : timm_resnets) {
    if (config.architecture != known.name) continue;
    model.block = known.block;
    model.layers = known.layers;
  }
  model.options.classes = config.classes;
  model.channels = config.channels;
  describe_timm_features(fields, model.options.filters.back() * model.expansion());
}

FolderNames transformers_names() {
  TwoWayRules rules;
  rules.add("resnet.embedder.embedder.convolution.", "conv1.");
  rules.add("resnet.embedder.embedder.normalization.", "bn1.");
  for (int stage = 0; stage < 4; ++stage) {
    const std::string folder = fmt::format("resnet.encoder.stages.{}.layers.$.", stage);
    const std::string torchvision = fmt::format("layer{}.$.", stage + 1);
    for (int part = 0; part < 3; ++part) {
      rules.add(fmt::format("{}layer.{}.convolution.", folder, part), fmt::format("{}conv{}.", torchvision, part + 1));
      rules.add(fmt::format("{}layer.{}.normalization.", folder, part), fmt::format("{}bn{}.", torchvision, part + 1));
    }
    rules.add(folder + "shortcut.convolution.", torchvision + "downsample.0.");
    rules.add(folder + "shortcut.normalization.", torchvision + "downsample.1.");
  }
  rules.add("classifier.1.", "fc.");
  rules.read.insert(rules.read.begin(), {"^(embedder|encoder)\\.", "resnet.$1."});  // of ResNetModel
  return {.read = rules.read, .written = rules.written, .heads = "^fc\\.", .convert_back = with_batch_counts};
}

}  // namespace

std::vector<PretrainedClass> resnet_classes() {
  std::vector<std::string> names;
  for (const TimmResNet& known : timm_resnets) names.emplace_back(known.name);
  return {vision_class<ResNet, ResNetArguments>("ResNet", {.architectures = {"ResNetForImageClassification"},
                                                           .model_types = {"resnet"},
                                                           .defaults = {},
                                                           .describe = describe_resnet,
                                                           .names = transformers_names()}),
          vision_class<ResNet, ResNetArguments>("ResNet",
                                                {.model_types = names,
                                                 .defaults = {},
                                                 .describe = describe_timm_resnet,
                                                 .names = {.heads = "^fc\\.", .convert_back = with_batch_counts}})};
}

}  // namespace mezzo::detail
