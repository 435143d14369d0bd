// Adapters in the folders of Hugging Face's PEFT. With MEZZO_ADAPTERS=FOLDER, tests/parity/peft_adapters.py lets this
// program read other adapters than the recorded ones, and opens what it saved beside them.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "pretrained.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

const char* const names[] = {"gpt", "gpt_table", "llama", "bert"};

std::string adapters_dir() {
  const char* const given = std::getenv("MEZZO_ADAPTERS");
  return given != nullptr ? given : (tests_dir() / "parity" / "recorded" / "adapters").string();
}

std::string base_of(const std::string& name) {
  return name == "gpt_table" ? "gpt" : name == "bert" ? "bert_classifier" : name;
}

Any<Model> base_model(const std::string& name) {
  return auto_model((tests_dir() / "parity" / "recorded" / "folders" / base_of(name)).string()).model;
}

/// A copy of a recorded adapter whose files a test changes.
class Adapter {
 public:
  explicit Adapter(const std::string& name = "llama") : model(base_model(name)) {
    fs::copy(adapters_dir() + "/" + name, path(), fs::copy_options::recursive);
  }
  std::string path() const { return folder_.path("adapter"); }
  json config() const { return json::parse(std::ifstream(path() + "/adapter_config.json")); }
  void write(const json& config) const { std::ofstream(path() + "/adapter_config.json") << config.dump(); }
  void change(const std::string& key, const json& value) const {
    json changed = config();
    changed[key] = value;
    write(changed);
  }
  NamedTensors tensors() const { return load_safetensors(path() + "/adapter_model.safetensors"); }
  void write(const NamedTensors& tensors) const {
    save_safetensors(path() + "/adapter_model.safetensors", tensors, {{"format", "pt"}});
  }
  /// Text of the error of loading, without its start, which names the file.
  std::string refused_text() {
    const auto before = values_of(*model);
    const std::string text = refused<Error>([&] { load_adapter(*model, path()); });
    BOOST_TEST(changed_since(before, *model) == "");
    BOOST_TEST(adapter_names(*model).empty());
    const std::size_t begin = text.find("\"] ");
    return begin == std::string::npos ? text : text.substr(begin + 3);
  }

  Any<Model> model;

 private:
  Folder folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(adapter_files)

BOOST_AUTO_TEST_CASE(adapters_of_peft_give_its_outputs) {
  for (const std::string name : names) {
    const Any<Model> model = base_model(name);
    const std::string folder = adapters_dir() + "/" + name;
    load_adapter(*model, folder);
    BOOST_TEST(outputs_off(*model, folder) < 1e-5, name);
    const fs::path saved = fs::path(folder) / "saved";
    if (std::getenv("MEZZO_ADAPTERS") != nullptr) save_adapter(*model, saved.string());
    merge_adapter(*model);
    BOOST_TEST(outputs_off(*model, folder) < 1e-5, name);
  }
}

BOOST_AUTO_TEST_CASE(trainings_have_the_losses_of_peft) {
  for (const std::string name : names) {
    const Any<Model> model = base_model(name);
    const std::string folder = adapters_dir() + "/" + name;
    load_adapter(*model, folder);
    const SafetensorsFile expected(folder + "/expected.safetensors");
    const Value ids(expected.read("x0"));
    const std::vector<double> losses = expected.read("losses").to_doubles();
    SGD optimizer({.learning_rate = 0.05});
    for (const double wanted : losses) {
      const auto [loss, gradients] =
          value_and_grad(*model, [&] { return mean(square((*model)(Values{ids}).front())); }, {.training = false});
      BOOST_TEST(std::abs(loss.tensor().item() - wanted) < 1e-4, name << " " << loss.tensor().item() << " " << wanted);
      optimizer.apply(gradients);
    }
  }
}

BOOST_AUTO_TEST_CASE(saved_adapters_are_read_again) {
  const Folder folder;
  for (const std::string name : names) {
    const Any<Model> model = base_model(name), again = base_model(name);
    load_adapter(*model, adapters_dir() + "/" + name, {.name = "task"});
    save_adapter(*model, folder.path(name), {.base_model_name_or_path = "base", .task_type = "CAUSAL_LM"});
    load_adapter(*again, folder.path(name), {.name = "task"});
    BOOST_TEST(changed_since(values_of(*model), *again) == "", name);
    BOOST_TEST(active_adapter(*again) == "task");
    const NamedTensors saved = load_safetensors(folder.path(name) + "/adapter_model.safetensors");
    const NamedTensors recorded = load_safetensors(adapters_dir() + "/" + name + "/adapter_model.safetensors");
    BOOST_TEST_REQUIRE(saved.size() == recorded.size());
    const std::map<std::string, Tensor> by_name(saved.begin(), saved.end());
    for (const auto& [tensor, numbers] : recorded) BOOST_TEST(by_name.at(tensor).equal(numbers), tensor);
    const json config = json::parse(std::ifstream(folder.path(name) + "/adapter_config.json"));
    BOOST_TEST(config.at("task_type") == "CAUSAL_LM");
    BOOST_TEST(config.at("base_model_name_or_path") == "base");
    BOOST_TEST(config.at("fan_in_fan_out") == (name == "gpt"));
  }
}

BOOST_AUTO_TEST_CASE(only_adapters_are_trainable_after_loading) {
  Adapter adapter;
  load_adapter(*adapter.model, adapter.path());
  BOOST_TEST(adapter.model->trainable_weights().size() == adapter.tensors().size());
  BOOST_TEST(refused<ValueError>([&] { load_adapter(*adapter.model, adapter.path()); }).find("already") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(models_of_your_own_have_the_names_of_their_weight_files) {
  const Folder folder;
  Sequential model({Input({4}), Dense(3, {.name = "a"}), Sequential({Dense(2, {.name = "b"})}, {.name = "block"})});
  model.enable_lora({.targets = "b$", .rank = 2, .alpha = 3, .b_initializer = "ones"});
  save_adapter(model, folder.path("x"));
  const SafetensorsFile file(folder.path("x") + "/adapter_model.safetensors");
  BOOST_TEST((file.find("base_model.model.block.b.lora_A.weight")->shape == Shape{2, 3}));
  BOOST_TEST((file.find("base_model.model.block.b.lora_B.weight")->shape == Shape{2, 2}));
  const Tensor y = model.predict(ones({1, 4}));
  delete_adapter(model, "default");
  load_adapter(model, folder.path("x"));
  BOOST_TEST(model.predict(ones({1, 4})).equal(y));
}

BOOST_AUTO_TEST_CASE(saving_needs_adapters) {
  const Folder folder;
  const Any<Model> model = base_model("llama");
  const std::string where = "[save_adapter \"" + folder.path("x") + "\"] ";
  BOOST_TEST(refused<ValueError>([&] { save_adapter(*model, folder.path("x")); }) ==
             where + "the model must have adapters; got none (call enable_lora() first)");
  model->enable_lora({.targets = "q_proj", .rank = 2});
  BOOST_TEST(refused<NameError>([&] { save_adapter(*model, folder.path("x"), {.name = "y"}); }) ==
             where + "unknown adapters \"y\"; valid names: default");
  BOOST_TEST(!fs::exists(folder.path("x")));
}

BOOST_AUTO_TEST_CASE(values_of_the_config_that_change_results_are_refused) {
  const auto text = [](const std::string& key, const json& value) {
    Adapter adapter;
    adapter.change(key, value);
    return adapter.refused_text();
  };
  BOOST_TEST(text("peft_type", "IA3") == "peft_type must be \"LORA\"; got \"IA3\"");
  BOOST_TEST(text("bias", "all") == "bias must be \"none\"; got \"all\"");
  BOOST_TEST(text("use_dora", true) == "use_dora must be false; got true");
  BOOST_TEST(text("modules_to_save", {"classifier"}) == "modules_to_save must be null; got [\"classifier\"]");
  BOOST_TEST(text("init_lora_weights", "pissa").find("init_lora_weights must be true, false, ") == 0U);
  BOOST_TEST(text("r", 0) == "r must be an integer from 1 on; got 0");
  BOOST_TEST(text("r", 2.5) == "r must be an integer from 1 on; got 2.5");
  BOOST_TEST(text("r", 1e30) == "r must be an integer from 1 on; got 1e+30");
  BOOST_TEST(text("lora_alpha", "8") == "lora_alpha must be a number; got \"8\"");
  BOOST_TEST(text("lora_dropout", 1) == "lora_dropout must be in [0, 1); got 1");
  BOOST_TEST(text("use_rslora", 1) == "use_rslora must be true or false; got 1");
  BOOST_TEST(text("target_modules", nullptr) ==
             "target_modules must be a list of names or a regular expression; got null");
  BOOST_TEST(text("target_modules", "(").find("target_modules must be a regular expression of RE2; got \"(\"") == 0U);
  BOOST_TEST(text("rank_pattern", {1}) == "rank_pattern must be an object of names; got [1]");
  BOOST_TEST(text("rank_pattern", {{"v_proj", 0}}) == "rank_pattern \"v_proj\" must be an integer from 1 on; got 0");
}

BOOST_AUTO_TEST_CASE(tensors_that_do_not_fit_are_refused) {
  const std::string start = "the adapters do not fit the model: ", first = "base_model.model.model.layers.0.self_attn.";
  {
    Adapter adapter;
    adapter.change("r", 4);
    BOOST_TEST(adapter.refused_text().find(start) == 0U);
    BOOST_TEST(adapter.refused_text().find(first + "q_proj.lora_A.weight\" must have shape (4, 8), got (2, 8)") !=
                   std::string::npos,
               adapter.refused_text());
  }
  {
    Adapter adapter;
    NamedTensors tensors = adapter.tensors();
    const std::string gone = tensors.back().first;
    tensors.pop_back();
    adapter.write(tensors);
    BOOST_TEST(adapter.refused_text() == start + "missing tensor \"" + gone + "\"");
    tensors.emplace_back("base_model.model.lm_head.weight", Tensor({2, 2}));
    adapter.write(tensors);
    BOOST_TEST(adapter.refused_text().find("unexpected tensor \"base_model.model.lm_head.weight\"") !=
               std::string::npos);
  }
  {
    Adapter adapter;
    NamedTensors tensors = adapter.tensors();
    tensors.emplace_back("base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight", Tensor({2, 8}));
    adapter.write(tensors);
    BOOST_TEST(adapter.refused_text().find("tensor \"base_model.model.model.layers.9.self_attn.q_proj.lora_A.weight\" "
                                           "belongs to no layer of the model that can have such adapters") !=
                   std::string::npos,
               adapter.refused_text());
  }
  {
    Adapter adapter;
    adapter.change("target_modules", {"q_proj", "v_proj", "down_proj", "up_proj"});
    BOOST_TEST(adapter.refused_text() ==
               start + "missing tensor \"base_model.model.model.layers.0.mlp.up_proj.lora_A.weight\"");
    adapter.change("target_modules", {"q_proj", "v_proj"});
    BOOST_TEST(adapter.refused_text() ==
               start + "\"model.layers.0.mlp.down_proj\" has adapters, but is none of target_modules");
  }
  {
    Adapter adapter("bert");
    adapter.model = base_model("llama");
    BOOST_TEST(adapter.refused_text().find("belongs to no layer of the model") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(missing_files_are_refused) {
  Adapter adapter;
  fs::remove(adapter.path() + "/adapter_model.safetensors");
  BOOST_TEST(adapter.refused_text() ==
             "must be a folder with adapter_model.safetensors (names of the Hub are not downloaded); it has none");
  fs::remove(adapter.path() + "/adapter_config.json");
  BOOST_TEST(adapter.refused_text() ==
             "must be a folder with adapter_config.json (names of the Hub are not downloaded); it has none");
}

BOOST_AUTO_TEST_SUITE_END()
