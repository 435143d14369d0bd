"""Records the order of the weights of random functional models of Keras: branches, shared layers, operations, models
in models. A case: `inputs`, nodes [kind, name, operands] that make the values after them, `outputs`, `weights`."""

import random

from common import keras, write

SIZE = 3


def make_nodes(rng, inputs, count):
    """Random nodes; a "dense" whose name occurs before is a further call of that layer."""
    nodes = []
    for i in range(count):
        operand = lambda: max(rng.randrange(inputs + i), rng.randrange(inputs + i))
        kind = rng.choice(["dense", "dense", "dense", "norm", "add", "join", "relu", "plus", "model", "again"])
        dense = sorted({node[1] for node in nodes if node[0] == "dense"})
        if kind == "again" and dense:
            nodes.append(["dense", rng.choice(dense), [operand()]])
        elif kind in ("add", "join", "plus"):
            nodes.append([kind, f"{kind}{i}", [operand(), operand()]])
        else:
            nodes.append([kind if kind != "again" else "dense", f"{kind}{i}", [operand()]])
    return nodes


def apply(kind, name, operands, layers):
    layer = layers.get(name)
    if kind == "dense":
        layer = layers.setdefault(name, keras.layers.Dense(SIZE, name=name))
        return layer(operands[0])
    if kind == "norm":
        return keras.layers.BatchNormalization(name=name)(operands[0])
    if kind == "relu":
        return keras.ops.relu(operands[0])
    if kind == "plus":
        return operands[0] + operands[1]
    if kind == "add":
        return keras.layers.Add(name=name)(operands)
    if kind == "join":
        return keras.layers.Dense(SIZE, name=name)(keras.layers.Concatenate()(operands))
    x = keras.Input((SIZE,))
    y = keras.layers.Dense(SIZE, name=f"{name}_inner")(x)
    return keras.Model(x, y, name=name)(operands[0])


def case(seed):
    rng = random.Random(seed)
    inputs = rng.randint(1, 3)
    nodes = make_nodes(rng, inputs, rng.randint(3, 12))
    values = [keras.Input((SIZE,)) for _ in range(inputs)]
    layers = {}
    for kind, name, operands in nodes:
        values.append(apply(kind, name, [values[i] for i in operands], layers))
    used = {i for _, _, operands in nodes for i in operands}
    ends = [i for i in range(inputs, len(values)) if i not in used] or [len(values) - 1]
    if rng.random() < 0.3:
        ends.append(rng.randrange(inputs, len(values)))
    rng.shuffle(ends)
    outputs = list(dict.fromkeys(ends))
    model = keras.Model(values[:inputs], [values[i] for i in outputs])
    weights = [weight.path.removeprefix(model.name + "/") for weight in model.weights]
    return {"inputs": inputs, "nodes": nodes, "outputs": outputs, "weights": weights}


write("weight_order", {str(seed): case(seed) for seed in range(60)})
