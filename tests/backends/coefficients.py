"""Derives coefficients of backends/xsimd/math.hpp: of exp(), and of the normal distribution function that GELU uses.

Needs NumPy. Prints the coefficients, highest power first, with the largest relative error of the rounded ones. Those
for bfloat16 are printed with about the error of the ones in math.hpp, from which they differ in the fifth digit. Those
of exp(r) - 1 for float32 are of Cephes and not derived here.

    python3 tests/backends/coefficients.py
"""

import math

import numpy as np


def minimax(columns, target, weight, rounds=400):
    """Factors of `columns` whose sum has about the least largest error times `weight`, by Lawson's algorithm."""
    importance = np.ones_like(target)
    best = (np.inf, None)
    for _ in range(rounds):
        root = np.sqrt(importance) * weight
        numbers = np.linalg.lstsq(np.stack(columns, 1) * root[:, None], target * root, rcond=None)[0]
        error = np.abs(sum(n * column for n, column in zip(numbers, columns)) - target) * weight
        if error.max() < best[0]:
            best = (error.max(), numbers)
        importance *= (error / error.max() + 1e-3) ** 0.7
        importance /= importance.sum()
    return best[1]


def exponential(degree=6, ones=2):
    """exp(r) for |r| <= log(2) / 2. Coefficients are rounded one after the other, from the lowest power on."""
    r = 1.00005 * math.log(2) / 2 * np.cos(np.linspace(0, math.pi, 1501))
    return rounded_polynomial(r, np.exp(r), degree, [1.0] * ones)


def bell(factor, degree=5):
    """factor exp(-r / 2) for |r| <= log(2)."""
    r = 1.00005 * math.log(2) * np.cos(np.linspace(0, math.pi, 1501))
    exact = factor * np.exp(-r / 2)
    numbers, _ = rounded_polynomial(r, exact, degree, [])

    def error(of):
        ratio = np.polyval(of, r) / exact
        return (ratio.max() - ratio.min()) / 2

    return improved(np.array(numbers), error, (1, 2, 3, 4))


def rounded_polynomial(r, exact, degree, numbers):
    """Coefficients, and their error. `numbers`: the first ones, from the lowest power on."""
    while len(numbers) <= degree:
        rest = exact - np.polyval(numbers[::-1] or [0], r)
        columns = [r**i for i in range(len(numbers), degree + 1)]
        numbers.append(float(np.float32(minimax(columns, rest, 1 / exact)[0])))
    return numbers[::-1], np.abs(np.polyval(numbers[::-1], r) / exact - 1).max()


def improved(numbers, error, steps):
    """Moves float32 numbers by some units in the last place while that lessens the error. Returns both."""
    least, before = error(numbers), np.inf
    while least < before:
        before = least
        for i in range(numbers.size):
            kept = numbers[i]
            for units in [-n for n in reversed(steps)] + list(steps):
                numbers[i] = float(np.float32(kept) + np.float32(units) * np.spacing(np.float32(kept)))
                if error(numbers) < 0.9999 * least:
                    least, kept = error(numbers), numbers[i]
            numbers[i] = kept
    return numbers, least


def normal_ratio(above=4, below=5, most=13.4):
    """exp(a^2 / 2) times the normal distribution function at -a, as a quotient of polynomials.

    math.hpp subtracts multiples k of 2 log(2) as a float32 from a^2. The error of that number is a part of the ratio:
    k is about a^2 / (2 log(2)).
    """
    a = np.unique(np.concatenate([most * (1 - np.cos(np.linspace(0, math.pi, 3000))) / 2, np.linspace(0, most, 1500)]))
    excess = float(np.float32(2 * math.log(2))) / 2 - math.log(2)
    exact = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in a]) * np.exp(a * a / 2 * (1 - excess / math.log(2)))

    # Loeb's algorithm: a linear problem, weighted by the denominator of the round before.
    scaled, importance, denominator = a / 4, np.ones_like(a), (1 + a) ** below
    best = (np.inf, None, None)
    for turn in range(500):
        root = np.sqrt(importance) / (exact * denominator)
        columns = [scaled**i for i in range(above + 1)] + [-exact * scaled**i for i in range(below)]
        numbers = np.linalg.lstsq(np.stack(columns, 1) * root[:, None], exact * scaled**below * root, rcond=None)[0]
        numerator = np.polyval(numbers[above::-1], scaled)
        denominator = np.abs(np.polyval(np.append(1, numbers[:above:-1]), scaled))
        error = np.abs(numerator / denominator / exact - 1)
        if error.max() < best[0]:
            power = 4.0 ** np.arange(below, -1, -1)
            best = (error.max(), numbers[: above + 1] * power[: above + 1], numbers[above + 1 :] * power[:below])
        if turn > 5:
            importance *= (error / error.max() + 1e-3) ** 0.6
            importance /= importance.sum()

    # The leading coefficient of the numerator becomes 1: bell() has it as a factor.
    upper, lower = best[1][::-1], best[2][::-1]
    factor = upper[0]
    exact = exact / factor
    numbers = np.float32(np.concatenate([upper[1:] / factor, lower])).astype(float)

    def error(of):
        quotient = np.polyval(np.append(1, of[:above]), a) / np.polyval(np.append(1, of[above:]), a)
        return np.abs(quotient / exact - 1).max()

    numbers, least = improved(numbers, error, (1, 2, 3, 5, 8))
    return factor, numbers[:above], numbers[above:], least


def coarse_tail(degree=6, most=15):
    """exp(a^2 / 2) times the normal distribution function at -a, as a polynomial of 1 / (1 + 0.3 a)."""
    a = most * (1 - np.cos(np.linspace(0, math.pi, 2001))) / 2
    exact = np.array([math.erfc(x / math.sqrt(2)) / 2 for x in a]) * np.exp(a * a / 2)
    t = 1 / (1 + 0.3 * a)
    numbers = np.float32(minimax([t**i for i in range(degree, -1, -1)], exact, 1 / exact)).astype(float)
    return numbers, np.abs(np.polyval(numbers, t) / exact - 1).max()


def show(title, numbers, error=None):
    print(title + ":", ", ".join(f"{float(n):.9g}" for n in numbers), "" if error is None else f"error {error:.2g}")


if __name__ == "__main__":
    show("exponential", *exponential())
    leading, upper_numbers, lower_numbers, worst = normal_ratio()
    show("bell factor", [leading])
    show("bell", *bell(leading))
    show("normal ratio, above", upper_numbers)
    show("normal ratio, below", lower_numbers, worst)
    show("exponential for bfloat16", *exponential(4, 1))
    show("tail for bfloat16", *coarse_tail())
