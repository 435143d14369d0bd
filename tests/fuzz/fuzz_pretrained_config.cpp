// A digit that chooses a recorded folder of transformers, and the text of its config.json. Most inputs only make the
// model and write its config again; one in 16 also reads the weights and runs the model, which takes far longer.
#include <mezzo/models/pretrained/from_pretrained.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <mezzo/core/output.hpp>
#include <mezzo/models/pretrained/pretrained_class.hpp>
#include <mezzo/nn/weight_budget.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;
using namespace mezzo::detail;

constexpr const char* names[] = {
    "bert", "bert_classifier", "roberta_classifier", "distilbert_classifier", "gpt", "llama", "qwen2", "mistral"};

fs::path recorded_folders() { return mezzo_tests::tests_dir() / "parity" / "recorded" / "folders"; }

bool is_read_whole(const mezzo_fuzz::Bytes& bytes) {
  std::uint32_t sum = 0;
  for (const std::uint8_t byte : bytes) sum = sum * 31 + byte;
  return sum % 16 == 0;
}

void read_config(const std::string& text) {
  constexpr std::int64_t most_layers = 40;  // about the tensors of a folder
  const std::string where = "[config]";
  const Json config = parse_config(text, where);
  const PretrainedClass& kind = class_of_folder(config, where, nullptr);
  ConfigFields fields(config, where, {}, most_layers), written({}, where);
  const LayerWeightBudget none(0);  // models for images are built when they are made
  const mezzo::Any<mezzo::Model> model = kind.make(fields, {});
  fields.check_options(kind.name);
  kind.write(*model, written);
  written.merged_into(config).dump();
}

void read_folder(const std::string& name, const mezzo_fuzz::Bytes& config) {
  static const mezzo_tests::Folder copy;
  static const bool copied = [] {
    mezzo::set_output([](const std::string&) {});
    fs::copy(recorded_folders(), copy.path("folders"), fs::copy_options::recursive);
    return true;
  }();
  if (!copied) return;
  copy.write("folders/" + name + "/config.json", config);
  auto read = mezzo::auto_model(copy.path("folders/" + name));
  const mezzo::Tensor ids({1, 3}, mezzo::DType::int64);
  for (const mezzo::Value& y : (*read.model)(mezzo::Values{ids})) mezzo_fuzz::touch(y.tensor());
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  if (bytes.empty()) return;
  const Bytes config(bytes.begin() + 1, bytes.end());
  if (is_read_whole(bytes)) {
    read_folder(names[bytes[0] % std::size(names)], config);
  } else {
    read_config(text_of(config));
  }
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    std::ostringstream text;
    text << i << std::ifstream(recorded_folders() / names[i] / "config.json").rdbuf();
    out.push_back(bytes_of(text.str()));
  }
  return out;
}

const Target target("pretrained_config", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
