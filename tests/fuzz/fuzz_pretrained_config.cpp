// A digit that chooses a recorded folder of transformers, and the text of its config.json.
#include <mezzo/models/pretrained/from_pretrained.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <mezzo/core/output.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;

constexpr const char* names[] = {
    "bert", "bert_classifier", "roberta_classifier", "distilbert_classifier", "gpt", "llama", "qwen2", "mistral"};

fs::path recorded_folders() { return mezzo_tests::tests_dir() / "parity" / "recorded" / "folders"; }

}  // namespace

void mezzo_fuzz::read_input(const Bytes& bytes) {
  static const mezzo_tests::Folder copy;
  static const bool copied = [] {
    mezzo::set_output([](const std::string&) {});
    fs::copy(recorded_folders(), copy.path("folders"), fs::copy_options::recursive);
    return true;
  }();
  if (!copied || bytes.empty()) return;
  const std::string name = std::string("folders/") + names[bytes[0] % std::size(names)];
  copy.write(name + "/config.json", {bytes.begin() + 1, bytes.end()});
  auto read = mezzo::auto_model(copy.path(name));
  const mezzo::Tensor ids({1, 3}, mezzo::DType::int64);
  for (const mezzo::Value& y : (*read.model)(mezzo::Values{ids})) touch(y.tensor());
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  std::vector<Bytes> out;
  for (std::size_t i = 0; i < std::size(names); ++i) {
    std::ostringstream text;
    text << i << std::ifstream(recorded_folders() / names[i] / "config.json").rdbuf();
    out.push_back(bytes_of(text.str()));
  }
  return out;
}
