"""keras.io/examples/generative/text_generation_with_miniature_gpt, without dropout, for a text made by a formula"""

from examples import initialize, integers, keras, np, uniform

layers, ops = keras.layers, keras.ops
vocab_size, maxlen, embed_dim, num_heads, feed_forward_dim = 12, 10, 8, 2, 16


def causal_attention_mask(batch_size, n_dest, n_src, dtype):
    """Mask the upper half of the dot product matrix in self attention."""
    i = ops.arange(n_dest)[:, None]
    j = ops.arange(n_src)
    m = i >= j - n_src + n_dest
    mask = ops.cast(m, dtype)
    mask = ops.reshape(mask, [1, n_dest, n_src])
    return ops.tile(mask, [batch_size, 1, 1])


# docs: begin
class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.0):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads, embed_dim)
        self.ffn = keras.Sequential([
            layers.Dense(ff_dim, activation="relu"),
            layers.Dense(embed_dim),
        ])
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout1 = layers.Dropout(rate)
        self.dropout2 = layers.Dropout(rate)

    def call(self, inputs):
        input_shape = ops.shape(inputs)
        batch_size = input_shape[0]
        seq_len = input_shape[1]
        causal_mask = causal_attention_mask(batch_size, seq_len, seq_len, "bool")
        attention_output = self.att(inputs, inputs, attention_mask=causal_mask)
        attention_output = self.dropout1(attention_output)
        out1 = self.layernorm1(inputs + attention_output)
        ffn_output = self.ffn(out1)
        ffn_output = self.dropout2(ffn_output)
        return self.layernorm2(out1 + ffn_output)
# docs: end


class TokenAndPositionEmbedding(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.token_emb = layers.Embedding(input_dim=vocab_size, output_dim=embed_dim)
        self.pos_emb = layers.Embedding(input_dim=maxlen, output_dim=embed_dim)

    def call(self, x):
        maxlen = ops.shape(x)[-1]
        positions = ops.arange(0, maxlen, 1)
        positions = self.pos_emb(positions)
        x = self.token_emb(x)
        return x + positions


def create_model():
    inputs = layers.Input(shape=(maxlen,), dtype="int32")
    embedding_layer = TokenAndPositionEmbedding(maxlen, vocab_size, embed_dim)
    x = embedding_layer(inputs)
    transformer_block = TransformerBlock(embed_dim, num_heads, feed_forward_dim)
    x = transformer_block(x)
    outputs = layers.Dense(vocab_size)(x)
    model = keras.Model(inputs=inputs, outputs=[outputs, x])
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss=[loss_fn, None])  # No loss and optimization based on word embeddings
    return model


class TextGenerator(keras.callbacks.Callback):
    def __init__(self, max_tokens, start_tokens, index_to_word, top_k=10):
        self.max_tokens = max_tokens
        self.start_tokens = start_tokens
        self.index_to_word = index_to_word
        self.k = top_k
        self.texts = []

    def sample_from(self, logits, number):
        logits, indices = ops.top_k(logits, k=self.k, sorted=True)
        indices = np.asarray(indices).astype("int32")
        preds = keras.activations.softmax(ops.expand_dims(logits, 0))[0]
        preds = np.asarray(preds)
        return int(indices[np.sum(np.cumsum(preds) < number)])  # np.random.choice(indices, p=preds)

    def detokenize(self, number):
        return self.index_to_word[number]

    def on_epoch_end(self, epoch, logs=None):
        start_tokens = list(self.start_tokens)
        numbers = uniform(50 + epoch, (self.max_tokens + 1,), 0.0, 1.0)
        tokens_generated = []
        while len(tokens_generated) <= self.max_tokens:
            pad_len = maxlen - len(start_tokens)
            sample_index = len(start_tokens) - 1
            if pad_len < 0:
                x = start_tokens[:maxlen]
                sample_index = maxlen - 1
            elif pad_len > 0:
                x = start_tokens + [0] * pad_len
            else:
                x = start_tokens
            x = np.array([x])
            y, _ = self.model.predict(x, verbose=0)
            sample_token = self.sample_from(y[0][sample_index], numbers[len(tokens_generated)])
            tokens_generated.append(sample_token)
            start_tokens.append(sample_token)
        self.texts.append(" ".join([self.detokenize(_) for _ in list(self.start_tokens) + tokens_generated]))


def record():
    vocab = ["", "the", "a", "film", "plot", "actor", "is", "was", "not", "very", "good", "bad"]
    # Sequences that count upwards, with an error here and there.
    tokenized = (integers(1, (32, 1), vocab_size) + np.arange(maxlen + 1)) % vocab_size
    tokenized = np.where(uniform(2, tokenized.shape, 0.0, 1.0) < 0.1, integers(3, tokenized.shape, vocab_size), tokenized)
    x, y = tokenized[:, :-1], tokenized[:, 1:]
    text_gen_callback = TextGenerator(12, [1, 2], vocab, top_k=3)
    model = create_model()
    shapes = initialize(model)
    history = model.fit(x, y, batch_size=8, epochs=4, verbose=0, callbacks=[text_gen_callback], shuffle=False).history
    return {"shapes": shapes, "history": history, "texts": text_gen_callback.texts}
