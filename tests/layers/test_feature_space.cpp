#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Spaces = std::map<std::string, FeatureSpaceOptions>;

Spaces float_spaces() {
  using F = FeatureSpace;
  return {
      {"float", {.features = {{"age", "float"}}}},
      {"normalized", {.features = {{"age", "float_normalized"}, {"income", F::float_normalized()}}}},
      {"rescaled", {.features = {{"age", F::float_rescaled(0.1, -1.5)}, {"income", "float_rescaled"}}}},
      {"discretized", {.features = {{"age", "float_discretized"}, {"income", F::float_discretized(5)}}}},
      {"few_bins",
       {.features = {{"age", "float_discretized"}, {"income", "float_discretized"}}, .num_discretization_bins = 3}},
      {"boundaries",
       {.features = {{"share",
                      F::float_discretized({.bin_boundaries = {0.1, 0.3, 0.6, 0.7, 0.9}, .output_mode = "int"})}},
        .output_mode = "dict"}},
      {"crossed_bins",
       {.features = {{"age", F::float_discretized(4)}, {"income", F::float_discretized(6)}},
        .output_mode = "dict",
        .crosses = {F::cross({"age", "income"}, 12, {.output_mode = "int"})}}},
  };
}

Spaces index_spaces() {
  using F = FeatureSpace;
  return {
      {"integers", {.features = {{"zip", "integer_categorical"}}}},
      {"few_integers", {.features = {{"zip", F::integer_categorical({.max_tokens = 6, .num_oov_indices = 3})}}}},
      {"strings", {.features = {{"city", "string_categorical"}, {"job", "string_categorical"}}}},
      {"few_strings", {.features = {{"city", F::string_categorical({.max_tokens = 5, .num_oov_indices = 2})}}}},
      {"hashed", {.features = {{"zip", "integer_hashed"}, {"city", F::string_hashed(7)}}, .hashing_dim = 10}},
      {"indices",
       {.features = {{"age", F::float_discretized(4, {.output_mode = "int"})},
                     {"zip", F::integer_categorical({.output_mode = "int"})},
                     {"city", F::string_categorical({.output_mode = "int"})},
                     {"job", F::string_hashed(9, {.output_mode = "int"})}},
        .output_mode = "dict"}},
      {"crosses",
       {.features = {{"city", "string_categorical"}, {"job", "string_hashed"}, {"zip", "integer_categorical"}},
        .crosses = {{"job", "city"}, F::cross({"zip", "city"}, 11)},
        .crossing_dim = 16}},
      {"all",
       {.features = {{"zip", "integer_hashed"},
                     {"city", "string_categorical"},
                     {"age", "float_normalized"},
                     {"share", "float"},
                     {"income", F::float_discretized(8)}},
        .crosses = {{"zip", "city"}, {"city", "income"}},
        .crossing_dim = 10}},
      {"all_dict",
       {.features = {{"zip", F::integer_categorical({.output_mode = "int"})},
                     {"city", "string_categorical"},
                     {"age", "float_normalized"},
                     {"share", "float"}},
        .output_mode = "dict",
        .crosses = {{"zip", "city"}}}},
  };
}

Table table_of(const nlohmann::json& columns) {
  std::vector<std::pair<std::string, Column>> out;
  for (const auto& item : columns.items()) {
    if (item.value().is_array()) {
      out.emplace_back(item.key(), Column(Strings(item.value().get<std::vector<std::string>>())));
    } else {
      out.emplace_back(item.key(), Column(recorded_tensor(item.value())));
    }
  }
  return Table(std::move(out));
}

Table adapted_rows() { return table_of(recorded("feature_space").at("table")); }
Table other_rows() { return table_of(recorded("feature_space").at("others")); }

/// Equal but for the rounding of means, which Keras computes in float32.
void check_close(const Tensor& got, const nlohmann::json& expected) {
  const Tensor wanted = recorded_tensor(expected);
  BOOST_TEST(got.shape() == wanted.shape());
  if (got.shape() != wanted.shape()) return;
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  for (std::size_t i = 0; i < a.size(); ++i) BOOST_TEST(std::abs(a[i] - b[i]) <= 1e-5 * std::max(1.0, std::abs(b[i])));
}

void check_space(const FeatureSpace& space, const nlohmann::json& expected) {
  for (const auto& item : expected.at("vocabularies").items()) {
    BOOST_TEST(space.get_vocabulary(item.key()) == item.value().get<std::vector<std::string>>(),
               boost::test_tools::per_element());
  }
  const nlohmann::json& output = expected.at("output");
  if (output.contains("shape")) {
    check_close(space(other_rows()), output);
    return;
  }
  const auto encoded = space.encode(other_rows());
  BOOST_TEST(encoded.size() == output.size());
  for (const auto& [name, tensor] : encoded) {
    BOOST_TEST_CONTEXT(name) check_close(tensor, output.at(name));
  }
}

void check_spaces(const Spaces& spaces) {
  for (const auto& [name, options] : spaces) {
    BOOST_TEST_CONTEXT(name) {
      FeatureSpace space(options);
      space.adapt(adapted_rows());
      check_space(space, recorded("feature_space").at(name));
    }
  }
}

FeatureSpaceOptions mixed_options() { return index_spaces().at("all"); }

std::string refusal(const FeatureSpaceOptions& options) {
  FeatureSpaceOptions named = options;
  named.name = "s";
  return refused<Error>([&] { FeatureSpace{named}; });
}

Table people(const std::string& text, const ReadCsvOptions& options = {}) {
  const Folder folder;
  return read_csv(folder.write("people.csv", {text.begin(), text.end()}), options);
}

/// The text without the path of the file.
std::string without_path(std::string text) {
  const std::size_t begin = text.find("of \"");
  if (begin == std::string::npos) return text;
  return text.substr(0, begin) + text.substr(text.find(')', begin));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(feature_space)

BOOST_AUTO_TEST_CASE(floats_equal_keras) { check_spaces(float_spaces()); }

BOOST_AUTO_TEST_CASE(indices_equal_keras) { check_spaces(index_spaces()); }

BOOST_AUTO_TEST_CASE(chunks_of_a_file_adapt_as_the_whole) {
  const Folder folder;
  std::string text = "age,city,zip\n";
  for (int i = 0; i < 500; ++i) {
    text += std::to_string(i % 97) + "." + std::to_string(i % 7) + ",c" + std::to_string(i * i % 13) + "," +
            std::to_string(i % 5) + "\n";
  }
  const std::string path = folder.write("a.csv", {text.begin(), text.end()});
  const FeatureSpaceOptions options{.features = {{"age", FeatureSpace::float_discretized(6)},
                                                 {"zip", "integer_categorical"},
                                                 {"city", "string_categorical"}}};
  FeatureSpace whole(options), chunks(options);
  whole.adapt(read_csv(path));
  chunks.adapt(CsvReader(path, 33));
  BOOST_TEST(whole(read_csv(path)).equal(chunks(read_csv(path))));
}

BOOST_AUTO_TEST_CASE(samples_of_a_data_set_are_the_rows) {
  const Table table = adapted_rows().assign("y", Column(Tensor({300}, DType::int64)));
  FeatureSpace space(mixed_options());
  BOOST_TEST(refused<ValueError>([&] { space.dataset(table); }) ==
             "[FeatureSpace] adapt() must be called first: it was not");
  space.adapt(table);
  const Dataset data = space.dataset(table, {.targets = {"y"}, .weights = {"share"}});
  BOOST_TEST(data.fields().size() == 3U);
  BOOST_TEST((data.fields()[1].role == Role::target && data.fields()[2].role == Role::weight));
  Tensor joined = Tensor({300, space.width()});
  std::int64_t row = 0;
  auto batches = DataLoader(data, {.batch_size = 37, .workers = 2}).epoch(0);
  while (const auto batch = batches.next()) {
    const Tensor& features = (*batch)["features"];
    std::copy_n(features.data<float>(), features.size(), joined.mutable_data<float>() + row * space.width());
    row += batch->size;
  }
  BOOST_TEST(row == 300);
  BOOST_TEST(joined.equal(space(table)));

  FeatureSpace parts(index_spaces().at("all_dict"));
  parts.adapt(table);
  const HostBatch batch = parts.dataset(table).gather({0, 1, 2});
  const auto encoded = parts.encode(table);
  for (const auto& [name, tensor] : encoded) BOOST_TEST(batch[name].equal(tensor.slice(0, 3)));
  BOOST_TEST(refused<ValueError>([&] { parts.dataset(table, {.targets = {"age"}}); }) ==
             "[FeatureSpace] a target or weight must have another name than a field of features; got \"age\"");
}

BOOST_AUTO_TEST_CASE(missing_values_are_refused_or_filled) {
  const std::string text = "age,zip,city\n31,1,Lyon\n,2,\n40,,Oslo\n";
  const FeatureSpaceOptions options{
      .features = {{"age", "float_normalized"}, {"zip", "integer_categorical"}, {"city", "string_categorical"}},
      .name = "s"};
  const auto refuse = [&](const Table& table) {
    return without_path(refused<Error>([&] { FeatureSpace(options).adapt(table); }));
  };
  BOOST_TEST(refuse(people(text)) ==
             "[FeatureSpace \"s\"] row 1 (line 3 ), column \"age\" must have a value; it is missing: give the "
             "FeatureSpace a value by .fillna, or use fillna() or dropna() of the table");
  BOOST_TEST(refuse(people(text).fillna({{"age", 40}})).find("row 2 (line 4 ), column \"zip\" must have a value") !=
             std::string::npos);
  FeatureSpaceOptions filled = options;
  filled.fillna = {{"age", 35.5}, {"zip", 2}, {"city", "?"}};
  FeatureSpace space(filled), same(options);
  space.adapt(people(text));
  const Table by_hand = people(text).fillna({{"age", 35.5}, {"zip", 2}, {"city", "?"}});
  same.adapt(by_hand);
  BOOST_TEST(space(people(text)).equal(same(by_hand)));
  // A row of which nothing is known has columns of other types.
  BOOST_TEST(space(people("age,zip,city\n31,2,Lyon\n,,\n").range(1, 2))
                 .equal(same(Table({{"age", Tensor({1}, std::vector<float>{35.5F})},
                                    {"zip", Tensor({1}, std::vector<std::int64_t>{2})},
                                    {"city", Strings{"?"}}}))));
  BOOST_TEST(
      space(people("age,zip,city\n,,\n")).equal(same(by_hand.range(1, 2).assign("zip", by_hand["zip"].take({2})))));
}

BOOST_AUTO_TEST_CASE(columns_of_other_types_are_refused) {
  const auto refuse = [](const char* type, const Table& table) {
    return without_path(refused<Error>([&] { FeatureSpace({{"x", type}}, {.name = "s"}).adapt(table); }));
  };
  BOOST_TEST(refuse("float", people("y\n1\n")) == "[FeatureSpace \"s\"] unknown column \"x\"; valid names: y");
  BOOST_TEST(refuse("string_hashed", people("x\n1\n")) ==
             "[FeatureSpace \"s\"] column \"x\" must have strings or categories for a feature of type string_hashed; "
             "got int64");
  BOOST_TEST(refuse("float_normalized", people("x\na\n")) ==
             "[FeatureSpace \"s\"] column \"x\" must have numbers for a feature of type float_normalized; got str");
  BOOST_TEST(refuse("integer_hashed", people("x\n1\n0.5\n")) ==
             "[Table] row 1 (line 3 ), column \"x\" must be a number that fits int64; got 0.5");
  BOOST_TEST(refuse("float", people("x\n1e39\n")) ==
             "[Table] row 0 (line 2 ), column \"x\" must be a number that fits float32; got 1e+39");
  BOOST_TEST(refuse("float_normalized", people("x\ninf\n")).find("mean and variance must be finite") !=
             std::string::npos);
  BOOST_TEST(refuse("float_normalized", people("x\n1\n").range(0, 0)) ==
             "[FeatureSpace \"s\"] feature \"x\": adapt: there must be rows; got none");
  FeatureSpace space({{"x", FeatureSpace::string_categorical({.num_oov_indices = 0})}}, {.name = "s"});
  space.adapt(people("x\na\nb\n"));
  BOOST_TEST(refused<ValueError>([&] { space(people("x\nc\n")); }) ==
             "[FeatureSpace \"s\"] feature \"x\": \"c\" is not in the vocabulary; use num_oov_indices = 1 for unknown "
             "tokens");
}

BOOST_AUTO_TEST_CASE(options_out_of_range_are_refused) {
  using F = FeatureSpace;
  const std::string s = "[FeatureSpace \"s\"] ";
  BOOST_TEST(refusal({}) == s + "features must be given; got none");
  BOOST_TEST(refused<NameError>([] {
               F({{"a", "floats"}});
             }).rfind("[FeatureSpace] unknown type \"floats\"; valid names: float, float_discretized, ", 0) == 0U);
  BOOST_TEST(refusal({.features = {{"a", "float"}}, .output_mode = "list"}) ==
             s + "unknown output_mode \"list\"; valid names: concat, dict");
  BOOST_TEST(refusal({.features = {{"a", "float"}, {"a", "float"}}}) ==
             s + "names of features and crosses must differ; got \"a\" twice");
  BOOST_TEST(refusal({.features = {{"a", F::string_categorical({.output_mode = "int"})}}}) ==
             s + "feature \"a\": output_mode must be \"one_hot\" for a feature that is concatenated; got \"int\": use "
                 "output_mode = \"dict\" for the FeatureSpace");
  BOOST_TEST(refusal({.features = {{"a", F::string_hashed(0)}}}) ==
             s + "feature \"a\": num_bins must lie in [1, 2147483648]; got 0");
  BOOST_TEST(refusal({.features = {{"a", F::float_discretized({})}}, .num_discretization_bins = 0}) ==
             s + "feature \"a\": num_bins must lie in [1, 2147483648]; got 0");
  BOOST_TEST(refusal({.features = {{"a", F::float_discretized(2, {.bin_boundaries = {1}})}}}) ==
             s + "feature \"a\": one of num_bins and bin_boundaries must be given; got both");
  BOOST_TEST(refusal({.features = {{"a", F::float_discretized({.bin_boundaries = {1, 0}})}}}) ==
             s + "feature \"a\": bin_boundaries must be in ascending order; got (1, 0)");
  BOOST_TEST(refusal({.features = {{"a", F::float_discretized({.bin_boundaries = {0, std::nan(""), 1}})}}}) ==
             s + "feature \"a\": bin_boundaries must be in ascending order; got (0, nan, 1)");
  BOOST_TEST(refusal({.features = {{"a", F::float_rescaled(std::nan(""))}}}) ==
             s + "feature \"a\": scale must be finite; got nan");
  BOOST_TEST(refusal({.features = {{"a", F::float_rescaled(1, -HUGE_VAL)}}}) ==
             s + "feature \"a\": offset must be finite; got -inf");
  BOOST_TEST(refusal({.features = {{"a", F::float_rescaled(1e39)}}}) ==
             s + "feature \"a\": scale must fit float32; got 1e+39");
  BOOST_TEST(refused<ValueError>([] { F({}); }) == "[FeatureSpace] features must be given; got none");
  BOOST_TEST(refusal({.features = {{"a", F::integer_categorical({.max_tokens = 1})}}}) ==
             s + "feature \"a\": max_tokens must be above 1; got 1");
  BOOST_TEST(refusal({.features = {{"a", "float"}, {"b", "string_hashed"}}, .crosses = {{"a", "b"}}}) ==
             s + "cross \"a_X_b\": features must be categorical, hashed or discretized; \"a\" is float");
  BOOST_TEST(refusal({.features = {{"a", "string_hashed"}}, .crosses = {{"a", "b"}}}) ==
             s + "cross \"a_X_b\": unknown feature \"b\"; valid names: a");
  BOOST_TEST(refusal({.features = {{"a", "string_hashed"}}, .crosses = {{"a", "a"}}, .crossing_dim = 0}) ==
             s + "cross \"a_X_a\": crossing_dim must lie in [1, 2147483648]; got 0");
  BOOST_TEST(refusal({.features = {{"a", "string_hashed"}}, .fillna = {{"a", 1}}}) ==
             s + "fillna: \"a\" must have a text for a feature of type string_hashed");
  BOOST_TEST(refusal({.features = {{"a", "float"}}, .fillna = {{"a", std::nan("")}}}) ==
             s + "fillna: \"a\" must have a number that fits float32; got nan");
  BOOST_TEST(refusal({.features = {{"a", "float_normalized"}}, .fillna = {{"a", 1e39}}}) ==
             s + "fillna: \"a\" must have a number that fits float32; got 1e+39");
  BOOST_TEST(refusal({.features = {{"a", "integer_hashed"}}, .fillna = {{"a", 2.5}}}) ==
             s + "fillna: \"a\" must have a number that fits int64; got 2.5");
  BOOST_TEST(refusal({.features = {{"a", "float"}}, .fillna = {{"b", 1}}}) ==
             s + "fillna: unknown feature \"b\"; valid names: a");
}

BOOST_AUTO_TEST_CASE(files_keep_all_bits) {
  const Folder folder;
  FeatureSpaceOptions options = mixed_options();
  options.fillna = {{"age", 40.25}, {"city", "Lyon"}};
  FeatureSpace space(options);
  space.adapt(adapted_rows());
  const Tensor expected = space(other_rows());
  space.save(folder.path("s.mezzo"));
  const FeatureSpace again = FeatureSpace::load(folder.path("s.mezzo"));
  BOOST_TEST(again(other_rows()).equal(expected));
  const Table unknown = other_rows().assign("age", Column(Tensor({8}, std::vector<float>(8, std::nanf("")))));
  BOOST_TEST(again(unknown).equal(space(unknown)));
  FeatureSpace adapted_again = again;
  adapted_again.adapt(other_rows());
  BOOST_TEST(!adapted_again(other_rows()).equal(expected));

  FeatureSpace cloned = clone(space);
  cloned.adapt(other_rows());
  BOOST_TEST(space(other_rows()).equal(expected));

  FeatureSpace fresh({{"x", "string_categorical"}});
  fresh.save(folder.path("fresh"));
  FeatureSpace read = FeatureSpace::load(folder.path("fresh"));
  read.adapt(people("x\na\n"));
  BOOST_TEST(read.width() == 2);
}

BOOST_AUTO_TEST_CASE(models_have_their_feature_space) {
  const Folder folder;
  FeatureSpace space({{"age", "float_normalized"}, {"city", "string_categorical"}}, {.name = "people"});
  Sequential model({space, Dense(4, {.activation = "relu"}), Dense(1)});
  model.compile({.loss = "mse"});
  const Table table = adapted_rows();
  space.adapt(table);
  model.fit(space.dataset(table, {.targets = {"share"}}), {.epochs = 1});
  model.save(folder.path("m.mezzo"));
  const Tensor expected = model.predict(space(other_rows()));
  auto again = load_model(folder.path("m.mezzo"));
  const FeatureSpace read = FeatureSpace::load(folder.path("m.mezzo"));
  BOOST_TEST(read.name() == "people");
  BOOST_TEST(again->predict(read(other_rows())).equal(expected));
  BOOST_TEST(refused<FileError>([&] { FeatureSpace::load(folder.path("m.mezzo"), "x"); }) ==
             "[FeatureSpace \"" + folder.path("m.mezzo") + "\"] unknown FeatureSpace \"x\"; valid names: people");
  BOOST_TEST(refused<ShapeError>([&] {
               model.predict(Tensor({2, 3}));
             }) == "[FeatureSpace \"people\"] input axis -1 must be " + std::to_string(space.width()) +
                       " (columns of the encoded features); got shape (2, 3)");

  Input x({space.width()});
  Model graph(x, Dense(1)(space(x)));
  graph.save(folder.path("g.mezzo"));
  BOOST_TEST(FeatureSpace::load(folder.path("g.mezzo"))(other_rows()).equal(space(other_rows())));
}

BOOST_AUTO_TEST_SUITE_END()
