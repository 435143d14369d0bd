// keras.io/examples/structured_data/collaborative_filtering_movielens: see collaborative_filtering.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const EmbeddingOptions regularized = {.embeddings_initializer = "he_normal",
                                      .embeddings_regularizer = regularizers::l2(1e-6)};

class RecommenderNet : public Model {
 public:
  RecommenderNet(std::int64_t num_users, std::int64_t num_movies, std::int64_t embedding_size)
      : Model("RecommenderNet"),
        user_embedding_(num_users, embedding_size, regularized),
        user_bias_(num_users, 1),
        movie_embedding_(num_movies, embedding_size, regularized),
        movie_bias_(num_movies, 1) {}

  Value call(const Value& inputs) override {
    const Value user_vector = user_embedding_(take(inputs, 0, 1));
    const Value user_bias = user_bias_(take(inputs, 0, 1));
    const Value movie_vector = movie_embedding_(take(inputs, 1, 1));
    const Value movie_bias = movie_bias_(take(inputs, 1, 1));
    const Value dot_user_movie = tensordot(user_vector, movie_vector, 2);
    // Add all the components (including bias)
    const Value x = dot_user_movie + user_bias + movie_bias;
    // The sigmoid activation forces the rating to between 0 and 1
    return sigmoid(x);
  }

 private:
  Embedding user_embedding_, user_bias_, movie_embedding_, movie_bias_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(collaborative_filtering)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  const std::int64_t num_users = 12, num_movies = 20;
  const Value users = random_integers(1, {128}, 12), movies = random_integers(2, {128}, 20);
  const Tensor x = stack({users, movies}, 1).tensor();
  const Value ratings = 0.5 + cast(mod(users * 7 + movies * 3, 10), DType::float32) / 2;
  const Value min_rating = min(ratings), max_rating = max(ratings);
  const Tensor y = ((ratings - min_rating) / (max_rating - min_rating)).tensor();
  const Tensor x_train = rows(x, 0, 112), y_train = rows(y, 0, 112);
  const ValidationData validation = {rows(x, 112, 128), rows(y, 112, 128)};

  RecommenderNet model(num_users, num_movies, 5);
  model.compile({.optimizer = Adam(0.001), .loss = BinaryCrossentropy()});
  model(rows(x, 0, 1));
  auto expected = example("collaborative_filtering");
  initialize(model, expected["shapes"]);
  const FitOptions fit{.batch_size = 64, .epochs = 5, .verbose = 0, .validation_data = validation, .shuffle = false};
  check_history(model.fit(x_train, y_train, fit), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
