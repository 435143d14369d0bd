// What adapt() of preprocessing layers finds, its copies and its limits.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Table csv_table(const std::string& text) {
  const Folder folder;
  return read_csv(folder.write("t.csv", {text.begin(), text.end()}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adapting)

BOOST_AUTO_TEST_CASE(a_reader_adapts_from_its_first_chunk) {
  const Folder folder;
  const std::string text = "x\n1\n2\n3\n4\n5\n";
  CsvReader reader(folder.write("a.csv", {text.begin(), text.end()}), 2);
  reader.next();
  FeatureSpace space({{"x", FeatureSpace::integer_categorical({.num_oov_indices = 0})}});
  space.adapt(reader);
  BOOST_TEST(space.width() == 5);
  space.adapt(reader);
  BOOST_TEST(space.width() == 5);
  BOOST_TEST(reader.next()->to_tensor().to_doubles() == (std::vector<double>{3, 4}));
}

BOOST_AUTO_TEST_CASE(tables_without_rows_are_refused_or_empty) {
  const Table none = csv_table("x\n");
  const auto refuse = [&](const char* type) {
    return refused<ValueError>([&] { FeatureSpace({{"x", type}}, {.name = "s"}).adapt(none); });
  };
  BOOST_TEST(refuse("float_normalized") == "[FeatureSpace \"s\"] feature \"x\": adapt: there must be rows; got none");
  BOOST_TEST(refuse("integer_hashed") == "[FeatureSpace \"s\"] adapt: there must be rows; got none");
  BOOST_TEST(refuse("string_hashed") == "[FeatureSpace \"s\"] adapt: there must be rows; got none");
  FeatureSpace space({{"x", "float_normalized"}}, {.name = "s"});
  space.adapt(csv_table("x\n1\n"));
  BOOST_TEST(space(none).shape() == (Shape{0, 1}), boost::test_tools::per_element());
  BOOST_TEST(refused<ValueError>([&] { space.dataset(none); }) ==
             "[FeatureSpace \"s\"] the table must have rows; got none");
}

BOOST_AUTO_TEST_CASE(fillings_take_the_type_of_the_feature) {
  const Column small(Tensor({2}, std::vector<std::int8_t>{1, 0}), Tensor({2}, std::vector<bool>{false, true}));
  FeatureSpace space({{"x", "integer_categorical"}}, {.fillna = {{"x", 1000}}});
  space.adapt(Table({{"x", small}}));
  BOOST_TEST(space.get_vocabulary("x") == (std::vector<std::string>{"-1", "1000", "1"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(models_keep_the_width_of_their_features) {
  const Table three = csv_table("x\na\nb\nc\n"), other = csv_table("x\nd\ne\nf\n"), two = csv_table("x\na\nb\n");
  const std::string error =
      "[FeatureSpace \"s\"] feature \"x\": adapt: must keep the 4 columns that a model was built for; got 3: use a new "
      "layer for a new model";
  FeatureSpace space({{"x", "string_categorical"}}, {.name = "s"});
  for (int fold = 0; fold < 2; ++fold) {  // models that no longer exist don't count
    space.adapt(two);
    space.adapt(three);
    Sequential model({space, Dense(1)});
    model.predict(space(three));
    BOOST_TEST(refused<ValueError>([&] { space.adapt(two); }) == error);
    BOOST_TEST(space.width() == 4);
    space.adapt(other);
    const Folder folder;
    model.save(folder.path("m.mezzo"));
    BOOST_TEST(FeatureSpace::load(folder.path("m.mezzo"))(other).equal(space(other)));
    FeatureSpace apart = clone(space);
    apart.adapt(other);
    BOOST_TEST(refused<ValueError>([&] { FeatureSpace(space).adapt(two); }) == error);
  }
  {
    Input x({4});
    Model graph(x, Dense(1)(space(x)));
    BOOST_TEST(refused<ValueError>([&] { space.adapt(two); }) == error);
  }
  space.adapt(two);
  BOOST_TEST(space.width() == 3);
}

BOOST_AUTO_TEST_CASE(clones_adapt_apart) {
  const Tensor few({3}, std::vector<float>{1, 2, 3}), many({4}, std::vector<float>{5, 6, 7, 8});
  Discretization bins({.num_bins = 3});
  bins.adapt(few);
  const std::vector<double> boundaries = bins.bin_boundaries();
  Discretization other_bins = clone(bins), same_bins = bins;
  other_bins.adapt(many);
  BOOST_TEST(bins.bin_boundaries() == boundaries);
  BOOST_TEST((other_bins.bin_boundaries() != boundaries));
  same_bins.adapt(many);
  BOOST_TEST(bins.bin_boundaries() == other_bins.bin_boundaries());

  IntegerLookup lookup;
  lookup.adapt(few.cast(DType::int64));
  IntegerLookup other = clone(lookup), same = lookup;
  other.adapt(many.cast(DType::int64));
  BOOST_TEST(lookup.get_vocabulary() == (std::vector<std::int64_t>{-1, 3, 2, 1}));
  BOOST_TEST(other.get_vocabulary() == (std::vector<std::int64_t>{-1, 8, 7, 6, 5}));
  same.set_vocabulary({9});
  BOOST_TEST(lookup.get_vocabulary() == (std::vector<std::int64_t>{-1, 9}));

  Normalization normalize;
  normalize.adapt(few.reshape({3, 1}));
  Normalization other_normalize = clone(normalize);
  other_normalize.adapt(many.reshape({4, 1}));
  BOOST_TEST(normalize.get_weights()[0].item() == 2);
  BOOST_TEST(other_normalize.get_weights()[0].item() == 6.5);

  StringLookup words;
  words.adapt(Strings{"a"});
  StringLookup other_words = clone(words);
  other_words.adapt(Strings{"b"});
  BOOST_TEST(words.get_vocabulary() == (std::vector<std::string>{"[UNK]", "a"}));
}

BOOST_AUTO_TEST_CASE(models_keep_the_columns_of_encoded_tokens) {
  const Tensor three({3, 1}, std::vector<std::int64_t>{1, 2, 3}), two({2, 1}, std::vector<std::int64_t>{4, 5});
  IntegerLookup lookup({.output_mode = "multi_hot", .name = "l"});
  Discretization bins({.num_bins = 3, .output_mode = "one_hot", .name = "d"});
  const std::string end = " columns that a model was built for; got ";
  lookup.adapt(three);
  bins.adapt(three);
  {
    Sequential tokens({lookup, Dense(1)}), numbers({bins, Dense(1)});
    tokens.predict(three);
    numbers.predict(three);
    BOOST_TEST(refused<ValueError>([&] { lookup.adapt(two); }) ==
               "[IntegerLookup \"l\"] adapt: must keep the 4" + end + "3: use a new layer for a new model");
    BOOST_TEST(refused<ValueError>([&] { lookup.set_vocabulary({1}); }) ==
               "[IntegerLookup \"l\"] set_vocabulary: must keep the 4" + end + "2: use a new layer for a new model");
    BOOST_TEST(lookup.vocabulary_size() == 4);
    lookup.set_vocabulary({7, 8, 9});
    const std::size_t columns = bins.bin_boundaries().size() + 1;
    BOOST_TEST(refused<ValueError>([&] { bins.adapt(two); }) == "[Discretization \"d\"] adapt: must keep the " +
                                                                    std::to_string(columns) + end +
                                                                    "2: use a new layer for a "
                                                                    "new model");
  }
  lookup.adapt(two);
  bins.adapt(two);
  BOOST_TEST(lookup.vocabulary_size() == 3);
}

BOOST_AUTO_TEST_CASE(integers_of_any_size_are_saved) {
  constexpr std::int64_t large = std::int64_t{1} << 40, least = std::numeric_limits<std::int64_t>::min();
  const Folder folder;
  Sequential model({Input({2}, {.dtype = DType::int64}), IntegerLookup({.num_oov_indices = 2,
                                                                        .mask_token = large,
                                                                        .oov_token = -large,
                                                                        .vocabulary = {large + 1, least, -large - 1},
                                                                        .oov_method = "farmhash",
                                                                        .salt = {large, -large}})});
  model.save(folder.path("m.mezzo"));
  const Tensor x({3, 2}, std::vector<std::int64_t>{large, large + 1, least, 5, 6, -large - 1});
  BOOST_TEST(load_model(folder.path("m.mezzo"))->predict(x).equal(model.predict(x)));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_finite_are_refused) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto refuse = [](const auto& make) { return refused<ValueError>(make); };
  BOOST_TEST(refuse([&] { Rescaling{nan}; }) == "[Rescaling] scale must be finite; got nan");
  BOOST_TEST(refuse([&] { Rescaling({.offset = -inf, .name = "r"}); }) ==
             "[Rescaling \"r\"] offset must be finite; got -inf");
  BOOST_TEST(refuse([&] {
               Normalization({.mean = array({0.0, inf}), .variance = array({1.0, 1.0})});
             }) == "[Normalization] mean must be finite; got inf");
  BOOST_TEST(refuse([&] { Normalization({.mean = 0, .variance = nan}); }) ==
             "[Normalization] variance must be finite; got nan");
  BOOST_TEST(refuse([] { Normalization({.mean = 0, .variance = -1}); }) ==
             "[Normalization] variance must be at least 0; got -1");
  BOOST_TEST(refuse([&] {
               Discretization({.bin_boundaries = {0, nan, 1}});
             }) == "[Discretization] bin_boundaries must be in ascending order; got (0, nan, 1)");
  BOOST_TEST(refuse([&] { Resizing(2, 2, {.fill_value = nan}); }) == "[Resizing] fill_value must be finite; got nan");
  BOOST_TEST(refuse([&] { RandomRotation(0.1, {.fill_value = inf}); }) ==
             "[RandomRotation] fill_value must be finite; got inf");
  const Tensor rows({2, 1}, std::vector<double>{1, nan});
  Normalization normalize;
  BOOST_TEST(refuse([&] { normalize.adapt(rows); }) ==
             "[Normalization] adapt: mean and variance must be finite; got nan and nan");
  Discretization bins({.num_bins = 2});
  BOOST_TEST(refuse([&] { bins.adapt(rows); }) == "[Discretization] adapt: numbers must be finite; got nan");
  BOOST_TEST(refuse([&] {
               bins.adapt(Dataset::from_tensors({{"x", rows}}));
             }) == "[Discretization] adapt: numbers must be finite; got nan");
}

BOOST_AUTO_TEST_SUITE_END()
