"""Sorts raw support messages into urgent ones and others: from strings with markup to a desk that answers strings."""

from programs import initialize, integers, keras, np

import tensorflow as tf

layers = keras.layers

OPENINGS = ["Hello,", "[b]Desk 4:[/b]", "[quote]Re: again[/quote]", "FW [ref=41]"]
DEVICES = ["the badge reader", "our [i]label printer[/i]", "The Cold Store", "one pump"]
PLACES = ["at gate B", "on floor 2", "in the lab [map=lab]", "near dock 7"]
STATES = [["needs new paper next week.", "works again, thanks", "gets a [i]new[/i] cover", "may move to the office"],
          ["smells of smoke!", "leaks on the [b]floor[/b]!!", "has locked people in", "lost all power again"]]


def support_messages(stream, count):
    """Texts, and 1 for those of urgent states."""
    urgent = integers(stream, (count,), 2)
    texts = [" ".join([OPENINGS[o], DEVICES[d], PLACES[p], STATES[kind][s]])
             for kind, (o, d, p, s) in zip(urgent, integers(stream + 1, (count, 4), 4))]
    return np.array(texts), urgent


def plain_words(texts):
    """Lower case without tags in brackets, punctuation and digits."""
    return tf.strings.regex_replace(tf.strings.lower(texts), r"\[[^\]]*\]|[^a-z ]", " ")


class SupportDesk:
    """Takes strings only: learns its words, then the model of their numbers."""

    def __init__(self, texts):
        self.numbers_of = layers.TextVectorization(max_tokens=36, output_sequence_length=18, output_mode="int",
                                                   standardize=plain_words)
        self.numbers_of.adapt(texts)
        self.model = keras.Sequential([
            keras.Input(shape=(None,), dtype="int64"),
            layers.Embedding(len(self.numbers_of.get_vocabulary()), 6),
            layers.Dropout(0.0),
            layers.Conv1D(8, 4, strides=2, padding="valid", activation="relu"),
            layers.Conv1D(8, 3, padding="valid", activation="relu"),
            layers.GlobalMaxPooling1D(),
            layers.Dense(5, activation="tanh"),
            layers.Dense(1, activation="sigmoid", name="urgency"),
        ])
        self.model.compile(metrics=["accuracy"], loss="binary_crossentropy", optimizer="adam")

    def learn(self, texts, urgent, unseen):
        known = self.numbers_of(unseen[0]), unseen[1]
        return self.model.fit(self.numbers_of(texts), urgent, batch_size=2, epochs=6, shuffle=False, verbose=0,
                              validation_data=known)

    def test(self, texts, urgent):
        return self.model.evaluate(self.numbers_of(texts), urgent, batch_size=16, verbose=0, return_dict=True)

    def urgency(self, texts):
        return self.model.predict(self.numbers_of(texts), verbose=0)[:, 0]


def record():
    texts, urgent = support_messages(200, 64)
    desk = SupportDesk(texts)
    shapes = initialize(desk.model)
    history = desk.learn(texts, urgent, support_messages(210, 24))
    letters = np.array(["[b]SMOKE[/b] in the lab, people locked in!", "thanks, [i]my screen[/i] works again",
                        "Who has the paper of [ref=7]?"])
    return {"shapes": shapes, "vocabulary": desk.numbers_of.get_vocabulary(), "history": history.history,
            "numbers": np.array(desk.numbers_of(letters)).ravel().tolist(),
            "test": desk.test(*support_messages(220, 24)), "urgency": desk.urgency(letters).tolist()}
