"""keras.io/examples/generative/dcgan_overriding_train_step, without dropout"""

from examples import epochs, initialize, keras, minimize, normal, np, pictures, uniform

layers, ops = keras.layers, keras.ops
latent_dim = 8


def build():
    discriminator = keras.Sequential([
        keras.Input(shape=(16, 16, 3)),
        layers.Conv2D(8, kernel_size=4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(16, kernel_size=4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Flatten(),
        layers.Dense(1, activation="sigmoid"),
    ], name="discriminator")
    generator = keras.Sequential([
        keras.Input(shape=(latent_dim,)),
        layers.Dense(4 * 4 * 16),
        layers.Reshape((4, 4, 16)),
        layers.Conv2DTranspose(16, kernel_size=4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2DTranspose(32, kernel_size=4, strides=2, padding="same"),
        layers.LeakyReLU(negative_slope=0.2),
        layers.Conv2D(3, kernel_size=5, padding="same", activation="sigmoid"),
    ], name="generator")
    return discriminator, generator


def record():
    discriminator, generator = build()
    shapes = initialize(discriminator) + initialize(generator, 200)
    images, _ = pictures(16, 16, 3)
    latent, second = normal(10, (16, latent_dim)), normal(20, (16, latent_dim))
    label_noise = uniform(30, (16, 2), 0.0, 1.0)
    d_optimizer, g_optimizer = (keras.optimizers.Adam(learning_rate=0.0001 * n) for n in (10, 20))
    d_optimizer.build(discriminator.trainable_weights)
    g_optimizer.build(generator.trainable_weights)
    loss_fn = keras.losses.BinaryCrossentropy()

    def train_step(batch):
        real_images = images[batch]
        batch_size = len(real_images)
        generated_images = generator(latent[batch])
        combined_images = ops.concatenate([generated_images, real_images], axis=0)
        labels = np.concatenate([np.ones((batch_size, 1)), np.zeros((batch_size, 1))], axis=0)
        labels += 0.05 * label_noise[batch].T.reshape(-1, 1)
        d_logs = minimize(d_optimizer, discriminator.trainable_weights,
                          lambda: loss_fn(labels, discriminator(combined_images)))
        misleading_labels = np.zeros((batch_size, 1))
        g_logs = minimize(g_optimizer, generator.trainable_weights,
                          lambda: loss_fn(misleading_labels, discriminator(generator(second[batch]))))
        return {"d_loss": d_logs["loss"], "g_loss": g_logs["loss"]}

    return {"shapes": shapes, "history": epochs(4, 16, 8, train_step)}
