"""keras.io/examples/structured_data/collaborative_filtering_movielens"""

from examples import initialize, integers, keras, np

layers, ops = keras.layers, keras.ops


class RecommenderNet(keras.Model):
    def __init__(self, num_users, num_movies, embedding_size, **kwargs):
        super().__init__(**kwargs)
        self.user_embedding = layers.Embedding(num_users, embedding_size, embeddings_initializer="he_normal",
                                               embeddings_regularizer=keras.regularizers.l2(1e-6))
        self.user_bias = layers.Embedding(num_users, 1)
        self.movie_embedding = layers.Embedding(num_movies, embedding_size, embeddings_initializer="he_normal",
                                                embeddings_regularizer=keras.regularizers.l2(1e-6))
        self.movie_bias = layers.Embedding(num_movies, 1)

    def call(self, inputs):
        user_vector = self.user_embedding(inputs[:, 0])
        user_bias = self.user_bias(inputs[:, 0])
        movie_vector = self.movie_embedding(inputs[:, 1])
        movie_bias = self.movie_bias(inputs[:, 1])
        dot_user_movie = ops.tensordot(user_vector, movie_vector, 2)
        # Add all the components (including bias)
        x = dot_user_movie + user_bias + movie_bias
        # The sigmoid activation forces the rating to between 0 and 1
        return ops.nn.sigmoid(x)


def record():
    num_users, num_movies = 12, 20
    x = np.stack([integers(1, (128,), num_users), integers(2, (128,), num_movies)], axis=1)
    ratings = 0.5 + (x[:, 0] * 7 + x[:, 1] * 3) % 10 / 2
    min_rating, max_rating = ratings.min(), ratings.max()
    y = (ratings - min_rating) / (max_rating - min_rating)
    train_indices = 112
    x_train, x_val, y_train, y_val = x[:train_indices], x[train_indices:], y[:train_indices], y[train_indices:]

    model = RecommenderNet(num_users, num_movies, 5)
    model.compile(loss=keras.losses.BinaryCrossentropy(), optimizer=keras.optimizers.Adam(learning_rate=0.001))
    model(x[:1])
    shapes = initialize(model)
    history = model.fit(x=x_train, y=y_train, batch_size=64, epochs=5, verbose=0, shuffle=False,
                        validation_data=(x_val, y_val)).history
    return {"shapes": shapes, "history": history}
