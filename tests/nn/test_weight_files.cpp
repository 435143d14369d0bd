#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/io/file.hpp>
#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// "dense.weight (3, 4) dense.bias (3,)", sorted by name.
std::string content(const std::string& path) {
  std::vector<std::string> parts;
  const SafetensorsFile file(path);
  for (const auto& entry : file.entries()) parts.push_back(entry.name + " " + to_string(entry.shape));
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " ") + part;
  return text;
}

std::string where(const std::string& path) { return "[safetensors \"" + path + "\"] "; }

/// Saves a layer with random weights, loads the file into another one, and compares them.
template <class L>
void check_round_trip(L& from, L& to, const std::string& expected) {
  const Folder folder;
  std::uint64_t seed = 1;
  for (const Variable& weight : from.weights()) weight.assign(random_tensor(weight.shape(), DType::float32, seed++));
  from.save_weights(folder.path("a"));
  BOOST_TEST(content(folder.path("a")) == expected);
  to.load_weights(folder.path("a"));
  BOOST_TEST(changed_since(values_of(from), to) == "");
}

class Block : public Layer {
 public:
  explicit Block(const std::string& name = "") : Layer("Block", ScaleOptions{1.0, name, {}}) {}

 protected:
  Value call(const Value& x) override { return scale_(bn_(x)); }

 private:
  BatchNormalization bn_ = sub("bn", BatchNormalization());
  Scale scale_ = sub("scale", Scale());
};

class Net : public Model {
 public:
  explicit Net(const detail::WeightFileRules& rules = {}) : Model("Net") { set_weight_files(rules); }

 protected:
  Value call(const Value& x) override { return fc_(flatten_(blocks_(conv_(x)))); }

 private:
  Conv2D conv_ = sub("conv", Conv2D({.filters = 2, .kernel_size = {3, 1}}));
  Sequential blocks_ = sub("blocks", Sequential({Block("0"), Block("1")}));
  Flatten flatten_ = sub("flatten", Flatten());
  Dense fc_ = sub("fc", Dense({.units = 3}));
};

Net built(const detail::WeightFileRules& rules = {}) {
  Net net(rules);
  net.build({1, 3, 1, 4});
  return net;
}

Sequential two_layers(const std::string& policy = "") {
  return Sequential({Input({.shape = {2}}), Dense({.units = 3}), Dense({.units = 1})}, {.dtype = Policy(policy)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weight_files)

BOOST_AUTO_TEST_CASE(models_of_every_kind_come_back) {
  Sequential sequential[] = {two_layers(), two_layers()};
  check_round_trip(sequential[0], sequential[1],
                   "dense.bias (3,) dense.weight (3, 2) dense_1.bias (1,) dense_1.weight (1, 3)");

  const auto functional = [] {
    const Value x = Input({.shape = {4}});
    return Model({.inputs = {x}, .outputs = {Dense({.units = 1, .name = "out"})(Scale({.name = "gain"})(x))}});
  };
  Model models[] = {functional(), functional()};
  check_round_trip(models[0], models[1], "gain.gain (4,) out.bias (1,) out.weight (1, 4)");

  Net nets[] = {built(), built()};
  check_round_trip(nets[0], nets[1],
                   "blocks.0.bn.bias (2,) blocks.0.bn.running_mean (2,) blocks.0.bn.running_var (2,) "
                   "blocks.0.bn.weight (2,) blocks.0.scale.gain (2,) "
                   "blocks.1.bn.bias (2,) blocks.1.bn.running_mean (2,) blocks.1.bn.running_var (2,) "
                   "blocks.1.bn.weight (2,) blocks.1.scale.gain (2,) "
                   "conv.bias (2,) conv.weight (2, 4, 3, 1) fc.bias (3,) fc.weight (3, 2)");

  Scale own[2];
  for (Scale& layer : own) layer.build({1, 4});
  check_round_trip(own[0], own[1], "gain (4,)");

  Embedding tables[] = {Embedding({.input_dim = 5, .output_dim = 2}), Embedding({.input_dim = 5, .output_dim = 2})};
  for (Embedding& table : tables) table.build({1});
  check_round_trip(tables[0], tables[1], "weight (5, 2)");
}

BOOST_AUTO_TEST_CASE(kernels_are_in_torchs_layout) {
  const Folder folder;
  Dense dense({.units = 2});
  dense.build({1, 3});
  dense.weights()[0].assign(Tensor({3, 2}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  dense.save_weights(folder.path("a"));
  const std::vector<double> expected{1, 3, 5, 2, 4, 6};
  BOOST_TEST(SafetensorsFile(folder.path("a")).read("weight").to_doubles() == expected,
             boost::test_tools::per_element());

  Conv2D conv({.filters = 5, .kernel_size = {2, 3}, .use_bias = false});
  conv.build({1, 8, 8, 4});
  const Tensor kernel = random_tensor({2, 3, 4, 5});
  conv.weights()[0].assign(kernel);
  conv.save_weights(folder.path("b"));
  const Tensor saved = SafetensorsFile(folder.path("b")).read("weight");
  BOOST_TEST((saved.shape() == Shape{5, 4, 2, 3}));
  for (std::int64_t i = 0; i < kernel.size(); ++i) {  // i = ((h * 3 + w) * 4 + in) * 5 + out
    const std::int64_t out = i % 5, in = i / 5 % 4, w = i / 20 % 3, h = i / 60;
    BOOST_TEST(saved.data<float>()[((out * 4 + in) * 2 + h) * 3 + w] == kernel.data<float>()[i]);
  }
}

BOOST_AUTO_TEST_CASE(files_do_not_depend_on_the_policy) {
  const Folder folder;
  for (const char* policy : {"float32", "mixed_bfloat16", "bfloat16", "float16", "float64"}) {
    Sequential model = two_layers(policy);
    for (const Variable& weight : model.weights()) weight.assign(small_integers(weight.shape()));
    model.save_weights(folder.path("a"));
    const bool wide = std::string(policy) == "float64";
    const SafetensorsFile file(folder.path("a"));
    for (const auto& entry : file.entries()) {
      BOOST_TEST((entry.dtype == (wide ? DType::float64 : DType::float32)));
    }
    for (const char* other : {"float32", "bfloat16", "float64"}) {
      Sequential to = two_layers(other);
      const DType dtype = to.weights()[0].dtype();
      to.load_weights(folder.path("a"));
      BOOST_TEST((to.weights()[0].dtype() == dtype));
      for (std::size_t i = 0; i < 4; ++i) {
        BOOST_TEST(largest_difference(to.weights()[i].value(), model.weights()[i].value()) == 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_loaded_is_what_computes) {
  const Folder folder;
  Sequential from = two_layers(), to = two_layers();
  const Tensor x = random_tensor({4, 2});
  to.compile({.loss = "mse"});
  to.fit(x, Tensor({4, 1}), {.verbose = false});
  from.save_weights(folder.path("a"));
  to.load_weights(folder.path("a"));
  BOOST_TEST(to.predict(x).equal(from.predict(x)));
  to.fit(x, Tensor({4, 1}), {.verbose = false});
  BOOST_TEST(!to.predict(x).equal(from.predict(x)));
}

BOOST_AUTO_TEST_CASE(everything_that_does_not_fit_is_listed_and_nothing_changes) {
  const Folder folder;
  const std::string path = folder.path("a");
  save_safetensors(path, {{"dense.weight", Tensor({3, 2})},
                          {"dense.bias", Tensor({4})},
                          {"dense_1.bias", Tensor({1}, DType::int64)},
                          {"extra", Tensor({1})}});
  Sequential model = two_layers();
  const auto before = values_of(model);
  const std::string fits_not = where(path) + "does not fit [Sequential]: ";
  const std::string others =
      "missing tensor \"dense_1.weight\"; tensor \"dense_1.bias\" must be a float, got int64; "
      "unexpected tensor \"extra\"";
  BOOST_TEST(refused<FileError>([&] { model.load_weights(path); }) ==
             fits_not + others + "; tensor \"dense.bias\" must have shape (3,), got (4,)");
  BOOST_TEST(refused<FileError>([&] { model.load_weights(path, {.skip_mismatch = true}); }) == fits_not + others);
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(mismatched_shapes_may_be_skipped_with_one_warning) {
  const Folder folder;
  const std::string path = folder.path("a");
  Sequential other({Input({.shape = {2}}), Dense({.units = 3}), Dense({.units = 5})});
  other.save_weights(path);
  Sequential model = two_layers();
  const auto before = values_of(model);
  const CapturedOutput output;
  model.load_weights(path, {.skip_mismatch = true});
  BOOST_TEST(output.text() == "mezzo: warning: " + where(path) +
                                  "skip_mismatch skipped: tensor \"dense_1.weight\" must have shape (1, 3), got "
                                  "(5, 3); tensor \"dense_1.bias\" must have shape (1,), got (5,)\n");
  BOOST_TEST(changed_since(before, model) == "dense/kernel");  // biases are zero in both
  BOOST_TEST(model.weights()[0].value().equal(other.weights()[0].value()));
}

BOOST_AUTO_TEST_CASE(a_damaged_file_changes_nothing) {
  const Folder folder;
  Sequential model = two_layers();
  model.save_weights(folder.path("a"));
  detail::Bytes bytes = detail::read_file(folder.path("a"), 100'000);
  bytes.back() ^= 1U;
  for (const Variable& weight : model.weights()) weight.assign(Tensor(weight.shape()));
  const auto before = values_of(model);
  BOOST_TEST(refused<FileError>([&] { model.load_weights(folder.write("b", bytes)); }) ==
             where(folder.path("b")) + "tensor \"dense_1.weight\": the checksum differs: the file is damaged");
  BOOST_TEST(refused<FileError>([&] { model.load_weights(folder.path("c")); }) ==
             "[load_weights \"" + folder.path("c") + "\"] no such file or directory");
  save_safetensors(folder.path("d"), {}, {{"format_version", "2"}});
  BOOST_TEST(refused<FileError>([&] { model.load_weights(folder.path("d")); }) ==
             where(folder.path("d")) + "format_version must be 1; got \"2\"");
  bytes.back() ^= 1U;
  const std::string text(bytes.begin(), bytes.end());
  bytes[text.find("\"crc32\"") + 5] ^= 1U;
  BOOST_TEST(refused<FileError>([&] { model.load_weights(folder.write("e", bytes)); }) ==
             where(folder.path("e")) + "a file with format_version must have the metadata entry crc32; got none");
  BOOST_TEST(changed_since(before, model) == "");
}

BOOST_AUTO_TEST_CASE(the_first_of_many_faults_are_listed) {
  const Folder folder;
  NamedTensors tensors;
  for (int i = 0; i < 1000; ++i) tensors.emplace_back("t" + std::to_string(i), Tensor());
  save_safetensors(folder.path("a"), tensors);
  Sequential model = two_layers();
  const std::string text = refused<FileError>([&] { model.load_weights(folder.path("a")); });
  BOOST_TEST(text.size() < 2000U);
  BOOST_TEST(text.find("; unexpected tensor \"t110\"; unexpected tensor \"t111\"; and 984 more") != text.npos, text);
}

BOOST_AUTO_TEST_CASE(a_layer_has_to_be_built) {
  Net net;
  BOOST_TEST(refused<ValueError>([&] { net.save_weights("x"); }) ==
             "[Net] save_weights needs a layer that was built, by build() or a call; got one without weights");
  // Weights wait for the first call; a file that is none doesn't.
  BOOST_TEST(!refused<FileError>([&] { net.load_weights("x"); }).empty());
}

BOOST_AUTO_TEST_CASE(buffers_of_torchs_are_left_out) {
  const Folder folder;
  BatchNormalization layer;
  layer.build({1, 2});
  save_safetensors(folder.path("a"), {{"weight", Tensor({2})},
                                      {"bias", Tensor({2})},
                                      {"running_mean", Tensor({2})},
                                      {"running_var", Tensor({2})},
                                      {"num_batches_tracked", Tensor({}, DType::int64)}});
  layer.load_weights(folder.path("a"));
  BOOST_TEST(layer.weights()[0].value().to_doubles()[1] == 0);
}

BOOST_AUTO_TEST_CASE(a_model_may_have_names_and_layouts_of_its_own) {
  const Folder folder;
  const detail::WeightFileRules rules{.rename = {{"^blocks\\.(\\d+)\\.bn", "h.$1.norm"}, {"^fc\\.", "head."}},
                                      .plain = {"head\\.weight"},
                                      .skip = {"position_ids"},
                                      .optional_prefix = "net."};
  Net from = built(rules), to = built(rules);
  check_round_trip(from, to,
                   "blocks.0.scale.gain (2,) blocks.1.scale.gain (2,) conv.bias (2,) conv.weight (2, 4, 3, 1) "
                   "h.0.norm.bias (2,) h.0.norm.running_mean (2,) h.0.norm.running_var (2,) h.0.norm.weight (2,) "
                   "h.1.norm.bias (2,) h.1.norm.running_mean (2,) h.1.norm.running_var (2,) h.1.norm.weight (2,) "
                   "head.bias (3,) head.weight (2, 3)");

  from.save_weights(folder.path("a"));
  const SafetensorsFile file(folder.path("a"));
  NamedTensors prefixed{{"net.position_ids", Tensor({1}, DType::int64)},
                        {"net.h.0.norm.num_batches_tracked", Tensor({}, DType::int64)}};
  for (const auto& entry : file.entries()) prefixed.emplace_back("net." + entry.name, file.read(entry.name));
  save_safetensors(folder.path("b"), prefixed);
  Net another = built(rules);
  another.load_weights(folder.path("b"));
  BOOST_TEST(changed_since(values_of(from), another) == "");
  BOOST_TEST(refused<ValueError>([] {
               built({.plain = {"("}});
             }).find("[Net] weight files: a rule must be a regular expression; got \"(\" (") == 0U);
}

BOOST_AUTO_TEST_CASE(a_shared_layer_is_saved_once_and_loaded_by_any_of_its_names) {
  const Folder folder;
  const auto make = [] {
    const Sequential shared({Dense({.units = 2})});
    Sequential model({Input({.shape = {2}}), Sequential({shared}, {.name = "a"}), Sequential({shared}, {.name = "b"})});
    return model;
  };
  Sequential from = make(), to = make();
  check_round_trip(from, to, "a.sequential.dense.bias (2,) a.sequential.dense.weight (2, 2)");
  const Tensor weight = random_tensor({2, 2}), bias({2});
  save_safetensors(
      folder.path("a"),
      {{"b.sequential.dense.weight", weight}, {"a.sequential.dense.bias", bias}, {"b.sequential.dense.bias", bias}});
  to.load_weights(folder.path("a"));
  const Tensor loaded = to.weights()[0].value();
  BOOST_TEST(loaded.data<float>()[1] == weight.data<float>()[2]);
}

Net with_facts(const detail::WeightFacts& facts) {
  Net net;
  detail::set_weight_facts(*net.state(), facts);
  net.build({1, 3, 1, 4});
  return net;
}

BOOST_AUTO_TEST_CASE(copies_and_facts_in_files_must_agree) {
  const Folder folder;
  Net from = with_facts({.numbers = {{"heads", 2}}});
  from.save_weights(folder.path("a"));
  const SafetensorsFile file(folder.path("a"));
  BOOST_TEST(file.metadata().at("heads") == "2");
  Net same = with_facts({.numbers = {{"heads", 2}}}), other = with_facts({.numbers = {{"heads", 4}}}), none = built({});
  same.load_weights(folder.path("a"));
  none.load_weights(folder.path("a"));
  const auto before = values_of(other);
  BOOST_TEST(refused<FileError>([&] { other.load_weights(folder.path("a")); }) ==
             where(folder.path("a")) + "does not fit [Net]: heads must be 4; the file has 2");
  BOOST_TEST(changed_since(before, other) == "");

  Net copied = with_facts({.copies = {{"again", "fc.bias"}}});
  for (const float number : {0.0F, 1.0F}) {
    NamedTensors tensors{{"again", Tensor({3}, std::vector<float>{0, 0, number})}};
    for (const auto& entry : file.entries()) tensors.emplace_back(entry.name, file.read(entry.name));
    save_safetensors(folder.path("b"), tensors);
    BOOST_TEST(refused<FileError>([&] { copied.load_weights(folder.path("b")); }) ==
               (number == 0
                    ? ""
                    : where(folder.path("b")) +
                          "does not fit [Net]: tensor \"again\" must be a copy of \"fc.bias\", whose numbers the "
                          "layer uses in its place; it has other numbers"));
  }
}

BOOST_AUTO_TEST_SUITE_END()
