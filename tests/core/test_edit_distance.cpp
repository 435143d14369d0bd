#include <boost/test/unit_test.hpp>

#include <mezzo/core/edit_distance.hpp>

using mezzo::detail::nearest_name;
using mezzo::detail::nearest_text;

BOOST_AUTO_TEST_SUITE(edit_distance)

BOOST_AUTO_TEST_CASE(distances_count_insertions_removals_replacements_and_swaps) {
  BOOST_TEST(mezzo::detail::edit_distance("", "") == 0);
  BOOST_TEST(mezzo::detail::edit_distance("relu", "") == 4);
  BOOST_TEST(mezzo::detail::edit_distance("rellu", "relu") == 1);
  BOOST_TEST(mezzo::detail::edit_distance("kitten", "sitting") == 3);
  BOOST_TEST(mezzo::detail::edit_distance("mes", "mse") == 1);
  BOOST_TEST(mezzo::detail::edit_distance("abcd", "badc") == 2);
  BOOST_TEST(mezzo::detail::edit_distance("ca", "abc") == 3);  // a swapped pair isn't changed again
}

BOOST_AUTO_TEST_CASE(a_misspelled_name_has_a_nearest_one) {
  BOOST_TEST(nearest_name("acuracy", {"auc", "accuracy", "precision"}) == "accuracy");
  BOOST_TEST(nearest_name("trian", {"trace", "train"}) == "train");
  BOOST_TEST(nearest_name("rleu", {"elu", "relu"}) == "relu");
  BOOST_TEST(nearest_name("cat", {"hat", "car"}) == "car");
  BOOST_TEST(nearest_name("acuracy", {"Accuracy", "accuracy"}) == "accuracy");
  BOOST_TEST(nearest_name("DENSE", {"Discretization", "Dense"}) == "Dense");
  BOOST_TEST(nearest_name("dens", {"Dense"}) == "Dense");
}

BOOST_AUTO_TEST_CASE(beginnings_parts_and_initials_are_near) {
  BOOST_TEST(nearest_name("BatchNorm", {"Hashing", "BatchNormalization"}) == "BatchNormalization");
  BOOST_TEST(nearest_name("gray", {"rgb", "rgba", "grayscale"}) == "grayscale");
  BOOST_TEST(nearest_name("epochs", {"steps", "max_epochs"}) == "max_epochs");
  BOOST_TEST(nearest_name("lr", {"name", "learning_rate"}) == "learning_rate");
  BOOST_TEST(nearest_name("mse", {"MeanSquaredError", "Mean"}) == "MeanSquaredError");
  BOOST_TEST(nearest_name("trainer.max_epoch", {"trainer", "data"}) == "trainer");
}

BOOST_AUTO_TEST_CASE(other_words_have_no_nearest_name) {
  BOOST_TEST(nearest_name("y", {"a", "b"}) == "");
  BOOST_TEST(nearest_name("lala", {"mlp", "lenet"}) == "");
  BOOST_TEST(nearest_name("mean", {"avg", "max"}) == "");
  BOOST_TEST(nearest_name("list", {"concat", "dict"}) == "");
  BOOST_TEST(nearest_name("", {"a"}) == "");
  BOOST_TEST(nearest_name("dense", {}) == "");
  BOOST_TEST(nearest_text("lala", {"mlp"}) == "");
  BOOST_TEST(nearest_text("mpl", {"mlp"}) == "; nearest: \"mlp\"");
}

BOOST_AUTO_TEST_CASE(long_and_foreign_names_are_compared) {
  BOOST_TEST(nearest_name(std::string(100000, 'x'), {"mlp"}) == "");
  BOOST_TEST(nearest_name("gr\xc3\xb6\xc3\x9f", {"gr\xc3\xb6\xc3\x9f"
                                                 "e"}) ==
             "gr\xc3\xb6\xc3\x9f"
             "e");
}

BOOST_AUTO_TEST_SUITE_END()
