"""Tells whether the words of a clause stand in a valid order, by one encoder block of a transformer.

Method: Vaswani et al., 2017, "Attention Is All You Need".
"""

from programs import initialize, integers, keras, np

layers = keras.layers
ops = keras.ops

# Kinds of the words in valid clauses: determiner, adjective, noun, verb, manner.
KINDS = "danvm"
ORDERS = ["dnv", "dnvm", "dnvdn", "danvdn", "danvm", "dnvdanm"]
WORDS_PER_KIND = 3
LENGTH = 8


def clauses(stream, count):
    """Lists of numbers of words, from 1 on, and 1 for valid ones. The others begin with their second or third word."""
    late = integers(stream, (count,), 2) * (1 + integers(stream + 1, (count,), 2))
    orders = integers(stream + 2, (count,), len(ORDERS))
    choices = integers(stream + 3, (count, LENGTH), WORDS_PER_KIND)
    lists = []
    for begin, order, choice in zip(late, orders, choices):
        words = [1 + WORDS_PER_KIND * KINDS.index(kind) + int(word) for kind, word in zip(ORDERS[order], choice)]
        lists.append(words[begin:] + words[:begin])
    return lists, (late == 0).astype("int32")


# docs: begin
class WordsInPlaces(layers.Layer):
    """Sum of a vector for each word and one for its place."""

    def __init__(self, words, places, width):
        super().__init__()
        self.of_words = layers.Embedding(input_dim=words, output_dim=width)
        self.of_places = layers.Embedding(input_dim=places, output_dim=width)

    def call(self, numbers):
        places = ops.arange(start=0, stop=ops.shape(numbers)[1], step=1)
        return self.of_words(numbers) + self.of_places(places)


class Refined(layers.Layer):
    """Adds to its input what a layer makes of it, and normalizes the sum. The layer gets the input `times` times."""

    def __init__(self, layer, times=1):
        super().__init__()
        self.layer, self.times = layer, times
        self.drop = layers.Dropout(0.0)
        self.normalize = layers.LayerNormalization(epsilon=1e-5)

    def call(self, x):
        return self.normalize(x + self.drop(self.layer(*[x] * self.times)))
# docs: end


def judge_of_clauses(words, width):
    # docs: begin
    numbers = keras.Input(shape=(LENGTH,), dtype="int32")
    attention = layers.MultiHeadAttention(num_heads=2, key_dim=width // 2)
    each_place = keras.Sequential([layers.Dense(2 * width, activation="relu"), layers.Dense(width)])
    encoded = WordsInPlaces(words, LENGTH, width)(numbers)
    encoded = Refined(each_place)(Refined(attention, times=2)(encoded))
    summary = layers.GlobalAveragePooling1D()(encoded)
    return keras.Model(numbers, layers.Dense(2, activation="softmax")(summary))
    # docs: end


def record():
    lists, valid = clauses(300, 64)
    unseen_lists, unseen_valid = clauses(310, 24)
    model = judge_of_clauses(1 + len(KINDS) * WORDS_PER_KIND, 8)
    shapes = initialize(model)
    # docs: begin
    padded, unseen = (keras.utils.pad_sequences(some, maxlen=LENGTH, padding="post") for some in (lists, unseen_lists))
    model.compile(metrics=["accuracy"], loss="sparse_categorical_crossentropy", optimizer="adam")
    history = model.fit(padded, valid, batch_size=4, epochs=15, validation_data=(unseen, unseen_valid), shuffle=False,
                        verbose=0)
    verdicts = model.predict(unseen, verbose=0)
    # docs: end
    return {"shapes": shapes, "history": history.history, "padded": padded.ravel().tolist(),
            "verdicts": verdicts[:, 1].tolist()}
