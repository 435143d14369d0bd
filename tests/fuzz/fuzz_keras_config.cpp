// Changes the configs of Keras' files as the input says, and makes models of them: mutations of the text rarely leave a
// config that the reader takes further than its syntax.
#include <mezzo/io/zip_file.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/file_errors.hpp>
#include <mezzo/training/keras_files/config_to_model.hpp>

#include <filesystem>

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "support/paths.hpp"

namespace {

using namespace mezzo;
using Json = nlohmann::json;

constexpr std::size_t most_bytes = 1 << 17;  // of a changed config

struct Original {
  Json config, compiled;
  std::shared_ptr<detail::Hdf5File> weights;
};

std::filesystem::path folder_of_files() { return mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files"; }

Original read_archive(const char* name) {
  const detail::ZipFile zip((folder_of_files() / name / "keras.keras").string(), "");
  const detail::Bytes text = zip.read(*zip.find("config.json"), "");
  Original out{Json::parse(text.begin(), text.end()), {}, {}};
  if (out.config.contains("compile_config")) out.compiled = out.config["compile_config"];
  out.weights = std::make_shared<detail::Hdf5File>(zip.read(*zip.find("model.weights.h5"), ""), "");
  return out;
}

Original read_keras_2(const char* name) {
  Original out;
  out.weights = std::make_shared<detail::Hdf5File>((folder_of_files() / name / "keras.h5").string(), "");
  out.config = Json::parse(out.weights->texts("", "model_config")->front());
  out.compiled = Json::parse(out.weights->texts("", "training_config")->front());
  return out;
}

const std::vector<Original>& originals() {
  static const std::vector<Original> all{read_archive("dense"),
                                         read_archive("graph"),
                                         read_archive("shared"),
                                         read_archive("adam"),
                                         read_archive("bidirectional"),
                                         read_archive("mixed_bfloat16"),
                                         read_keras_2("keras_2_graph"),
                                         read_keras_2("keras_2_list"),
                                         read_archive("shared_encoder"),
                                         read_archive("named_outputs"),
                                         read_archive("op_get_item_of_open"),
                                         read_archive("op_pad")};
  return all;
}

void list_nodes(Json& node, std::vector<Json*>& out) {
  out.push_back(&node);
  if (!node.is_structured()) return;
  for (Json& part : node) list_nodes(part, out);
}

const std::vector<Json>& odd_values() {
  static const std::vector<Json> values{nullptr,
                                        true,
                                        false,
                                        0,
                                        1,
                                        -1,
                                        2,
                                        1000,
                                        1 << 30,
                                        1e308,
                                        -0.5,
                                        "",
                                        "x",
                                        "a/b",
                                        "..",
                                        "relu",
                                        "Dense",
                                        "LSTM",
                                        "Sequential",
                                        "Functional",
                                        "Lambda",
                                        "function",
                                        std::int64_t{9223372036854775807},
                                        Json::array(),
                                        Json::object(),
                                        Json::array({nullptr, -1, 1 << 30}),
                                        std::string(2000, 'a')};
  return values;
}

/// Applies changes of 4 bytes: place (2), kind, argument.
void apply(Json& json, const mezzo_fuzz::Bytes& bytes) {
  for (std::size_t i = 1; i + 4 <= bytes.size() && i < 13; i += 4) {
    std::vector<Json*> nodes;
    list_nodes(json, nodes);
    Json& node = *nodes[(bytes[i] * 256U + bytes[i + 1]) % nodes.size()];
    const std::size_t argument = bytes[i + 3];
    const Json other = *nodes[(argument * 31U + bytes[i]) % nodes.size()];
    switch (bytes[i + 2] % 5) {
      case 0:
        node = odd_values()[argument % odd_values().size()];
        break;
      case 1:
        node = other;
        break;
      case 2:
        if (node.is_array() && !node.empty()) node.erase(argument % node.size());
        break;
      case 3:
        if (node.is_array()) node.push_back(other);
        break;
      default:
        if (node.is_number_integer()) node = node.get<std::int64_t>() % 4096 + static_cast<int>(argument) - 128;
    }
    if (json.dump(-1, ' ', false, Json::error_handler_t::replace).size() > most_bytes) return;
  }
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  if (bytes.empty()) return;
  const Original& original = originals()[bytes[0] % originals().size()];
  const bool compiled = bytes[0] >= 128 && !original.compiled.is_null();
  Json config = original.config, options = original.compiled;
  apply(compiled ? options : config, bytes);
  const auto read = [&] {
    Any<Model> model = detail::model_of_keras_config(config, *original.weights, {}, "[input]");
    if (compiled) detail::compile_by_keras_config(*model, options);
    return model;
  };
  const Any<Model> model = detail::with_file_errors("[input]", read);
  for (const auto& [name, weight] : model->named_weights()) touch(weight.value());
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (std::uint8_t base = 0; base < 12; ++base) {
    out.push_back({base, 0, 40, 0, 3});
    out.push_back({base, 0, 60, 1, 9, 0, 20, 3, 7});
    out.push_back({static_cast<std::uint8_t>(base + 128), 0, 10, 0, 5, 0, 3, 1, 2});
  }
  return out;
}

const Target target("keras_config", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
