"""keras.io/examples/nlp/addition_rnn"""

from examples import initialize, integers, keras, np

layers = keras.layers
# Parameters for the model and dataset.
TRAINING_SIZE = 48
DIGITS = 2
REVERSE = True
# Maximum length of input is 'int + int' (e.g., '34+78'). Maximum length of int is DIGITS.
MAXLEN = DIGITS + 1 + DIGITS


class CharacterTable:
    """Given a set of characters: encode them to a one-hot integer representation, decode them."""

    def __init__(self, chars):
        """Initialize character table."""
        self.chars = sorted(set(chars))
        self.char_indices = dict((c, i) for i, c in enumerate(self.chars))
        self.indices_char = dict((i, c) for i, c in enumerate(self.chars))

    def encode(self, C, num_rows):
        """One-hot encode given string C."""
        x = np.zeros((num_rows, len(self.chars)))
        for i, c in enumerate(C):
            x[i, self.char_indices[c]] = 1
        return x

    def decode(self, x, calc_argmax=True):
        """Decode the given vector or 2D array to their character output."""
        if calc_argmax:
            x = x.argmax(axis=-1)
        return "".join(self.indices_char[x] for x in x)


def record():
    # All the numbers, plus sign and space for padding.
    chars = "0123456789+ "
    ctable = CharacterTable(chars)

    questions = []
    expected = []
    for a, b in integers(1, (TRAINING_SIZE, 2), 100):
        # Pad the data with spaces such that it is always MAXLEN.
        q = "{}+{}".format(a, b)
        query = q + " " * (MAXLEN - len(q))
        ans = str(a + b)
        # Answers can be of maximum size DIGITS + 1.
        ans += " " * (DIGITS + 1 - len(ans))
        if REVERSE:
            # Reverse the query, e.g., '12+345  ' becomes '  543+21'. (Note the space used for padding.)
            query = query[::-1]
        questions.append(query)
        expected.append(ans)

    x = np.zeros((len(questions), MAXLEN, len(chars)), dtype=bool)
    y = np.zeros((len(questions), DIGITS + 1, len(chars)), dtype=bool)
    for i, sentence in enumerate(questions):
        x[i] = ctable.encode(sentence, MAXLEN)
    for i, sentence in enumerate(expected):
        y[i] = ctable.encode(sentence, DIGITS + 1)

    # Explicitly set apart a part for validation data that we never train over.
    split_at = len(x) - len(x) // 4
    (x_train, x_val) = x[:split_at], x[split_at:]
    (y_train, y_val) = y[:split_at], y[split_at:]

    num_layers = 1  # Try to add more LSTM layers!
    model = keras.Sequential()
    # "Encode" the input sequence using a LSTM, producing an output of size 16.
    # Note: In a situation where your input sequences have a variable length, use input_shape=(None, num_feature).
    model.add(layers.Input((MAXLEN, len(chars))))
    model.add(layers.LSTM(16))
    # As the decoder RNN's input, repeatedly provide with the last output of RNN for each time step.
    model.add(layers.RepeatVector(DIGITS + 1))
    # The decoder RNN could be multiple layers stacked or a single layer.
    for _ in range(num_layers):
        # By setting return_sequences to True, return not only the last output but all the outputs so far.
        model.add(layers.LSTM(16, return_sequences=True))
    # Apply a dense layer to every temporal slice of an input.
    model.add(layers.Dense(len(chars), activation="softmax"))
    model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])
    shapes = initialize(model)

    # Train the model each generation and show predictions against the validation dataset.
    history = []
    for epoch in range(1, 4):
        fitted = model.fit(x_train, y_train, batch_size=8, epochs=1, validation_data=(x_val, y_val), shuffle=False,
                           verbose=0)
        history.append(fitted.history)
    guesses = []
    for ind in range(4):
        # Select samples from the validation set so we can visualize errors.
        rowx, rowy = x_val[np.array([ind])], y_val[np.array([ind])]
        preds = np.argmax(model.predict(rowx, verbose=0), axis=-1)
        q = ctable.decode(rowx[0])
        correct = ctable.decode(rowy[0])
        guess = ctable.decode(preds[0], calc_argmax=False)
        guesses.append("Q " + (q[::-1] if REVERSE else q) + " T " + correct + " G " + guess)
    return {"shapes": shapes, "history": history, "guesses": guesses}
