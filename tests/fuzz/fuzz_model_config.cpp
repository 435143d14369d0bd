// Changes the configs of saved models as the input says, and reads them: as JSON, and in files with right checksums.
// Mutations of the bytes of a file rarely leave a config that a reader takes further than its syntax.
#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/weight_budget.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace {

using namespace mezzo;
using Json = nlohmann::json;

constexpr std::size_t most_bytes = 1 << 16;  // of a changed config
// Elements of new weights: model_from_json() makes those that the config describes, however large.
constexpr std::int64_t most_weights = 1 << 20;

/// A saved model.
struct Base {
  Json config, compiled;
  NamedTensors tensors;
  Metadata metadata;
};

/// Decisions, from the bytes of the input; zeros behind its end.
class Choices {
 public:
  explicit Choices(const mezzo_fuzz::Bytes& bytes) : bytes_(bytes) {}
  bool more() const { return at_ < bytes_.size(); }

  /// A number below `count`, which is at least 1.
  std::size_t below(std::size_t count) {
    std::size_t number = next();
    if (count > 256) number = number << 8 | next();
    return number % count;
  }

 private:
  std::size_t next() { return at_ < bytes_.size() ? bytes_[at_++] : 0; }

  const mezzo_fuzz::Bytes& bytes_;
  std::size_t at_ = 0;
};

Base base_of(Model& model, bool trained) {
  const mezzo_tests::Folder folder;
  if (trained) model.fit(Tensor({2, 3}), Tensor({2, 2}), {.verbose = 0});
  model.save(folder.path("a"));
  const SafetensorsFile file(folder.path("a"));
  Base base;
  for (const auto& entry : file.entries()) base.tensors.emplace_back(entry.name, file.read(entry.name));
  for (const auto& [key, value] : file.metadata()) {
    if (key.find("crc32") == std::string::npos) base.metadata[key] = value;
  }
  base.config = Json::parse(base.metadata.at("config"));
  if (trained) base.compiled = Json::parse(base.metadata.at("compile"));
  return base;
}

Base list_base() {
  Sequential model({Input({3}), Dense(2, {.activation = "relu", .kernel_regularizer = L2(), .name = "d"}),
                    BatchNormalization(), Dropout(0.5)},
                   {.dtype = "mixed_bfloat16"});
  model.compile({.optimizer = AdamW(CosineDecay(1e-3, 10), {.clipnorm = 1, .groups = {{.match = ".*bias"}}}),
                 .loss = "mse",
                 .metrics = {"mae"}});
  return base_of(model, true);
}

Base graph_base() {
  Input x({3}), y({3});
  Dense shared(2, {.dtype = "mixed_float16"});
  Model model({x, y}, layers::concatenate({shared(x), relu(shared(y)) * 0.5, reshape(x, {-1, 3})}));
  return base_of(model, false);
}

Base nested_base() {
  Sequential inner({Dense(3), LayerNormalization()}, {.name = "inner", .dtype = "p=f32,c=bf16,o=f32"});
  Input x({3});
  Model branch(x, inner(x) + x, {.name = "branch"});
  Sequential model({Input({3}), branch, Sequential({inner, Dense(2)}), Activation("softmax")});
  model.compile({.optimizer = SGD(0.1, {.momentum = 0.9}), .loss = "categorical_crossentropy"});
  return base_of(model, true);
}

Base steps_base() {
  Sequential model({Input({3, 2}), Bidirectional(LSTM(2, {.return_sequences = true})), TimeDistributed(Dense(2)),
                    RNN({GRUCell(2), SimpleRNNCell(1)}, {.return_sequences = true}), Flatten()});
  return base_of(model, false);
}

Base image_base() {
  Sequential model({Input({8, 8, 3}), Conv2D(4, 3, {.padding = "same"}), MaxPooling2D(2), RandomFlip(),
                    SeparableConv2D(2, 3), GlobalAveragePooling2D(), Reshape({2, 1}), Embedding(4, 2)});
  return base_of(model, false);
}

const std::vector<Base>& bases() {
  static const std::vector<Base> all{list_base(), graph_base(), nested_base(), steps_base(), image_base()};
  return all;
}

void collect(Json& node, std::vector<Json*>& out) {
  out.push_back(&node);
  if (node.is_structured()) {
    for (Json& part : node) collect(part, out);
  }
}

/// A node below the root.
Json& any_node(Json& json, Choices& choices) {
  std::vector<Json*> nodes;
  collect(json, nodes);
  return nodes.size() == 1 ? *nodes[0] : *nodes[1 + choices.below(nodes.size() - 1)];
}

Json odd_value(Choices& choices) {
  static const std::vector<Json> values{nullptr,
                                        true,
                                        false,
                                        0,
                                        1,
                                        -1,
                                        2,
                                        3,
                                        7,
                                        64,
                                        1000,
                                        65536,
                                        2147483647,
                                        2147483648,
                                        4294967296,
                                        9007199254740993,
                                        std::int64_t{9223372036854775807},
                                        1e308,
                                        -0.5,
                                        1e-300,
                                        "",
                                        "x",
                                        ".",
                                        "..",
                                        "a/b",
                                        "(a*)*b",
                                        std::string(1000, 'a'),
                                        std::string(2, '\0'),
                                        Json::array(),
                                        Json::object(),
                                        Json::array({-1}),
                                        Json::array({1, 2147483647, 2147483647}),
                                        "float64",
                                        "float16",
                                        "relu",
                                        "Dense",
                                        "Sequential",
                                        "Functional"};
  return values[choices.below(values.size())];
}

void change_list(Json& node, Choices& choices) {
  if (!node.is_structured() || node.empty()) return;
  const std::size_t place = choices.below(node.size());
  auto at = node.begin();
  std::advance(at, place);
  if (!node.is_array() || choices.below(2) == 0) {
    node.erase(at);
    return;
  }
  const Json copy = *at;
  const std::size_t times = 1 + choices.below(64);
  for (std::size_t i = 0; i < times && copy.dump().size() * times < most_bytes; ++i) node.push_back(copy);
}

void change_once(Json& json, Choices& choices) {
  Json& node = any_node(json, choices);
  switch (choices.below(7)) {
    case 0:
      node = odd_value(choices);
      break;
    case 1:
      node = Json(any_node(json, choices));
      break;
    case 2: {
      Json other = bases()[choices.below(bases().size())].config;
      node = Json(any_node(other, choices));
      break;
    }
    case 3:
    case 4:
      change_list(node, choices);
      break;
    case 5:
      if (node.is_number_integer())
        node = node.get<std::int64_t>() % 4096 + static_cast<int>(choices.below(9)) - 4;
      else if (node.is_number())
        node = node.get<double>() * (static_cast<double>(choices.below(9)) - 4);
      break;
    default:
      if (node.is_object() && node.contains("class_name") && node.contains("config")) {
        Json inner = node;
        inner["name"] = "inner";
        node["class_name"] = "Sequential";
        node["config"] = {{"layers", Json::array({inner})}, {"order", {0, 0}}, {"input", nullptr}};
      } else {
        node = Json::array({node, node});
      }
  }
}

/// The config, changed at most 3 times; the original if it grew too large.
Json changed(const Json& original, Choices& choices) {
  Json json = original;
  for (std::size_t i = 0, times = 1 + choices.below(3); i < times; ++i) {
    change_once(json, choices);
    if (json.dump(-1, ' ', false, Json::error_handler_t::replace).size() > most_bytes) return original;
  }
  return json;
}

void change_tensors(NamedTensors& tensors, Choices& choices) {
  if (tensors.empty()) return;
  auto& [name, tensor] = tensors[choices.below(tensors.size())];
  switch (choices.below(4)) {
    case 0:
      tensor = Tensor({static_cast<std::int64_t>(choices.below(5)), static_cast<std::int64_t>(choices.below(5))});
      break;
    case 1:
      tensor = tensor.cast(choices.below(2) == 0 ? DType::int64 : DType::float16);
      break;
    case 2:
      name += "x";
      break;
    default:
      tensors.erase(tensors.begin() + static_cast<std::ptrdiff_t>(choices.below(tensors.size())));
  }
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', true, Json::error_handler_t::replace); }

void use(const Any<Model>& model) {
  for (const auto& [name, weight] : model->named_weights()) mezzo_fuzz::touch(weight.value());
  model->to_json();
}

void read_file(Base base, Choices& choices) {
  static const mezzo_tests::Folder folder;
  if (!base.compiled.is_null() && choices.below(2) == 0) {
    base.metadata["compile"] = text_of(changed(base.compiled, choices));
  } else {
    base.metadata["config"] = text_of(changed(base.config, choices));
  }
  if (choices.below(3) == 0) change_tensors(base.tensors, choices);
  save_safetensors(folder.path("a"), base.tensors, base.metadata);
  use(load_model(folder.path("a")));
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  Choices choices(bytes);
  const Base& base = bases()[choices.below(bases().size())];
  if (choices.below(2) == 0) {
    read_file(base, choices);
    return;
  }
  const std::string text = ::text_of(changed(base.config, choices));
  const detail::LayerWeightBudget weights(most_weights);
  use(model_from_json(text));
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (std::uint8_t base = 0; base < bases().size(); ++base) {
    for (std::uint8_t kind = 0; kind < 2; ++kind) {
      out.push_back({base, kind, 1, 0, 9, 0, 3});
      out.push_back({base, kind, 3, 17, 1, 40, 30, 4, 2, 1, 25, 6, 7, 0, 0});
    }
  }
  return out;
}

const Target target("model_config", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
