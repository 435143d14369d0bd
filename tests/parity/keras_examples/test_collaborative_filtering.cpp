// keras.io/examples/structured_data/collaborative_filtering_movielens: see collaborative_filtering.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

class RecommenderNet : public Model {
 public:
  RecommenderNet(std::int64_t num_users, std::int64_t num_movies, std::int64_t embedding_size)
      : Model("RecommenderNet"),
        user_embedding_(sub("user_embedding", embedding(num_users, embedding_size))),
        user_bias_(sub("user_bias", Embedding(num_users, 1))),
        movie_embedding_(sub("movie_embedding", embedding(num_movies, embedding_size))),
        movie_bias_(sub("movie_bias", Embedding(num_movies, 1))) {}

 protected:
  Value call(const Value& inputs) override {
    const Value users = take(inputs, 0, 1), movies = take(inputs, 1, 1);
    const Value user_vector = user_embedding_(users);
    const Value user_bias = user_bias_(users);
    const Value movie_vector = movie_embedding_(movies);
    const Value movie_bias = movie_bias_(movies);
    const Value dot_user_movie = tensordot(user_vector, movie_vector, 2);
    // Add all the components (including bias)
    const Value x = dot_user_movie + user_bias + movie_bias;
    // The sigmoid activation forces the rating to between 0 and 1
    return sigmoid(x);
  }

 private:
  static Embedding embedding(std::int64_t rows, std::int64_t size) {
    return Embedding(rows, size,
                     {.embeddings_initializer = "he_normal", .embeddings_regularizer = regularizers::l2(1e-6)});
  }

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
  const Tensor x_train = rows(x, 0, 112), x_val = rows(x, 112, 128), y_train = rows(y, 0, 112),
               y_val = rows(y, 112, 128);

  RecommenderNet model(num_users, num_movies, 5);
  model.compile({.optimizer = Adam(0.001), .loss = BinaryCrossentropy()});
  model(rows(x, 0, 1));
  auto expected = example("collaborative_filtering");
  initialize(model, expected["shapes"]);
  check_history(
      model.fit(x_train, y_train,
                {.batch_size = 64, .epochs = 5, .verbose = 0, .validation_data = {x_val, y_val}, .shuffle = false}),
      expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
