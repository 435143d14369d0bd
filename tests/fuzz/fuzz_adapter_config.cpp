// The text of an adapter_config.json beside recorded adapters of PEFT. Most inputs are read as a config alone; one in
// 16 also reads the tensors into a model.
#include <mezzo/models/pretrained/adapter_files.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>

#include <mezzo/core/output.hpp>
#include <mezzo/models/pretrained/adapter_config_file.hpp>
#include <mezzo/models/pretrained/from_pretrained.hpp>
#include <mezzo/nn/lora.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"
#include "support/paths.hpp"

namespace mezzo_fuzz {
namespace {

namespace fs = std::filesystem;

fs::path recorded() { return mezzo_tests::tests_dir() / "parity" / "recorded"; }

bool is_read_whole(const Bytes& bytes) {
  std::uint32_t sum = 0;
  for (const std::uint8_t byte : bytes) sum = sum * 31 + byte;
  return sum % 16 == 0;
}

void read_folder(const Bytes& config) {
  static const mezzo_tests::Folder copy;
  static const mezzo::Any<mezzo::Model> model = [] {
    mezzo::set_output([](const std::string&) {});
    fs::copy(recorded() / "adapters" / "llama", copy.path("adapter"), fs::copy_options::recursive);
    return mezzo::auto_model((recorded() / "folders" / "llama").string()).model;
  }();
  copy.write("adapter/adapter_config.json", config);
  mezzo::load_adapter(*model, copy.path("adapter"));
  mezzo::delete_adapter(*model, "default");
}

void read_input(const Bytes& bytes) {
  if (is_read_whole(bytes)) return read_folder(bytes);
  const std::string where = "[config]";
  const auto config = mezzo::detail::read_peft_config(mezzo::detail::parse_config(text_of(bytes), where), where);
  config.is_target("model.layers.0.self_attn.q_proj");
  config.rank_of("model.layers.0.self_attn.q_proj");
  config.alpha_of("model.layers.0.self_attn.q_proj");
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  for (const char* name : {"gpt", "gpt_table", "llama", "bert"}) {
    std::ostringstream text;
    text << std::ifstream(recorded() / "adapters" / name / "adapter_config.json").rdbuf();
    out.push_back(bytes_of(text.str()));
  }
  return out;
}

const Target target("adapter_config", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
