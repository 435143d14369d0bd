"""Imitates pictures of interference fringes by a Wasserstein GAN, whose critic pays for slopes that differ from 1
(Gulrajani et al., 2017)."""

from programs import epochs, initialize, jax, keras, minimize, normal, np, uniform

layers, ops, Adam = keras.layers, keras.ops, keras.optimizers.Adam
SIDE, NOISE, COUNT, BATCH, LESSONS = 10, 6, 32, 8, 2


def fringes():
    """Waves of random direction, wavelength and phase, from -1 to 1."""
    place = np.linspace(0, 1, SIDE)
    down, right = uniform(1, (COUNT, 1, 1), -5, 5), uniform(2, (COUNT, 1, 1), 2, 7)
    phase = uniform(3, (COUNT, 1, 1), 0, 6)
    return np.cos(down * place[:, None] + right * place + phase)[..., None]


def chain(name, shape, stages):
    entry = value = layers.Input(shape=shape)
    for stage in stages:
        value = stage(value)
    return keras.Model(entry, value, name=name)


def critic_stages():
    yield layers.ZeroPadding2D(padding=((1, 1), (2, 0)))
    for channels in (4, 8):
        yield layers.Conv2D(channels, kernel_size=3, use_bias=False, strides=2, padding="same")
        yield layers.LeakyReLU(negative_slope=0.3)
        yield layers.Dropout(0.0)
    yield from (layers.Flatten(), layers.Dense(1))


def imitator_stages():
    yield from (layers.Dense(3 * 3 * 6, use_bias=False), layers.Reshape((3, 3, 6)))
    for channels in (6, 4):
        yield from (layers.BatchNormalization(), layers.LeakyReLU(negative_slope=0.3), layers.UpSampling2D(2))
        yield layers.Conv2D(channels, kernel_size=3, use_bias=False, padding="same")
    yield from (layers.Cropping2D(cropping=((1, 1), (0, 2))), layers.Conv2D(1, kernel_size=1), layers.Activation("tanh"))


class FringeGan(keras.Model):
    def __init__(self, imitator, critic, weight):
        super().__init__()
        self.imitator, self.critic, self.weight = imitator, critic, weight

    def compile(self, teacher, artist, critic_loss, imitator_loss):
        super().compile()
        self.teacher, self.artist = teacher, artist
        self.critic_loss, self.imitator_loss = critic_loss, imitator_loss

    def penalty(self, real, fake, share):
        between = share * real + (1 - share) * fake
        slope = jax.grad(lambda x: ops.sum(self.critic(x, training=True)))(between)
        steepness = ops.sum(slope**2, axis=(1, 2, 3))
        return ops.mean(ops.square(1 - ops.sqrt(steepness)))

    def cost_of_critic(self, real, noise, share):
        fake = self.imitator(noise, training=True)
        distance = self.critic_loss(self.critic(real, training=True), self.critic(fake, training=True))
        penalty = self.penalty(real, fake, share)
        return distance + self.weight * penalty, {"distance": distance, "penalty": penalty}

    def cost_of_imitator(self, noise):
        return self.imitator_loss(self.critic(self.imitator(noise, training=True), training=True))

    def train_step(self, real, noise, shares):
        for i in range(LESSONS):
            lesson = minimize(self.teacher, self.critic.trainable_weights,
                              lambda i=i: self.cost_of_critic(real, noise[:, i], shares[:, i]))
        drawn = minimize(self.artist, self.imitator.trainable_weights, lambda: self.cost_of_imitator(noise[:, -1]))
        return {**lesson, "imitator": drawn["loss"]}


def record():
    imitator = chain("imitator", (NOISE,), imitator_stages())
    critic = chain("critic", (SIDE, SIDE, 1), critic_stages())
    shapes = initialize(imitator) + initialize(critic, 200)
    gan = FringeGan(imitator, critic, weight=10.0)
    teacher, artist = (Adam(rate, beta_2=0.9, beta_1=0.5) for rate in (0.002, 0.003))
    gan.compile(teacher, artist,
                critic_loss=lambda real, fake: ops.mean(fake) - ops.mean(real),
                imitator_loss=lambda fake: -ops.mean(fake))
    real, noise = fringes(), normal(4, (COUNT, LESSONS + 1, NOISE))
    shares = uniform(9, (COUNT, LESSONS, 1, 1, 1), 0, 1)
    history = epochs(3, COUNT, BATCH, lambda rows: gan.train_step(real[rows], noise[rows], shares[rows]))
    pictures = np.asarray(imitator(noise[:BATCH, 0], training=True))
    scores = critic.predict(real[:6], verbose=0)
    return {
        "shapes": shapes,
        "history": history,
        "column": pictures[:2, :, 4].ravel().tolist(),
        "scores": scores.ravel().tolist(),
    }
