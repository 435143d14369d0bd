"""Records a training step in float64 of small models (all except ResNet): logits, loss, gradients; and text generated
by GPT-2 and Llama. Those, BERT and DistilBERT are Hugging Face's, the vision transformer is torchvision's.

Weights and images come from formula.py.
"""

import torch
import transformers
from formula import IMAGES, digits, numbers, sketch, weight, write
from small import BERT, DISTILBERT, GPT, LLAMA, VIT
from torch import nn
from torchvision.models import VisionTransformer

torch.set_num_threads(1)


class ChannelsLast(nn.Module):
    """Takes images of shape (batch, height, width, channels)."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, x):
        return self.model(x.permute(0, 3, 1, 2))


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2, self.fc3 = nn.Linear(60, 7), nn.Linear(7, 6), nn.Linear(6, 4)

    def forward(self, x):
        return self.fc3(self.fc2(self.fc1(x.flatten(1)).relu()).relu())


class CNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.fc = nn.Conv2d(2, 32, 3), nn.Conv2d(32, 64, 3), nn.Linear(256, 4)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        x = self.pool(self.conv2(self.pool(self.conv1(x).relu())).relu())
        return self.fc(x.permute(0, 2, 3, 1).flatten(1))  # flattened as NHWC


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.conv3 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5), nn.Conv2d(16, 120, 5)
        self.fc1, self.fc2 = nn.Linear(120, 84), nn.Linear(84, 10)
        self.pool = nn.AvgPool2d(2)

    def forward(self, x):
        x = self.pool(self.conv2(self.pool(self.conv1(x).tanh())).tanh())
        return self.fc2(self.fc1(self.conv3(x).tanh().flatten(1)).tanh())


def load_formula(model):
    """Sets the weights by the formula. Returns their names and shapes; a weight that is used twice appears once."""
    before = {n: weight(n, tuple(p.shape), i, 0) for i, (n, p) in enumerate(model.named_parameters())}
    model.load_state_dict(before, strict=False)
    if hasattr(model, "tie_weights"):
        model.tie_weights()
    assert all(torch.equal(p, before[n]) for n, p in model.named_parameters())
    return [[n, list(p.shape)] for n, p in before.items()]


def record(model, inputs, call=None, prefix=""):
    model = model.double().train()
    weights = load_formula(model)
    if isinstance(inputs, tuple):
        shape = inputs
        arguments = [torch.from_numpy(numbers(IMAGES, torch.Size(shape).numel()).reshape(shape))]
        case = {"shape": list(shape)}
    else:
        arguments = inputs
        case = {"inputs": [{"shape": list(x.shape), "dtype": "int64", "data": x.flatten().tolist()} for x in inputs]}
    logits = (call or model)(*arguments)
    labels = [7 * i % logits.shape[-1] for i in range(logits[..., 0].numel())]
    loss = nn.functional.cross_entropy(logits.flatten(0, -2), torch.tensor(labels))
    loss.backward()
    assert all(n.startswith(prefix) for n, _ in weights)
    return {
        **case,
        "beta": 0,
        "labels": labels,
        "logits": [digits(x) for x in logits.detach().flatten().tolist()],
        "loss": digits(loss.item()),
        "weights": [[n[len(prefix):], s] for n, s in weights],
        "gradients": {n[len(prefix):]: sketch(p.grad) for n, p in model.named_parameters()},
        "moved": {},
    }


def integers(stream, shape, below):
    draws = torch.from_numpy(numbers(stream, torch.Size(shape).numel()))
    return ((draws + 1) / 2 * below).long().reshape(shape)


def bert():
    model = transformers.BertForSequenceClassification(transformers.BertConfig(num_labels=3, **BERT))
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [0, 1, 0, 1, 1, 1, 0]])
    types = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 0, 0, 0], [0] * 7])
    ids = 1 + integers(1, (3, 7), 18)
    ids[1, 4:] = 0  # padding, and only there: torch leaves out the gradient of this index (padding_idx)
    return record(model, [ids, mask, types],
                  lambda ids, mask, types: model(ids, attention_mask=mask, token_type_ids=types).logits)


def distilbert():
    model = transformers.DistilBertForSequenceClassification(transformers.DistilBertConfig(num_labels=3, **DISTILBERT))
    mask = torch.tensor([[1] * 7, [1] * 4 + [0] * 3, [0, 1, 0, 1, 1, 1, 0]])
    ids = 1 + integers(1, (3, 7), 18)
    ids[1, 4:] = 0  # padding, and only there: torch leaves out the gradient of this index (padding_idx)
    return record(model, [ids, mask], lambda ids, mask: model(ids, attention_mask=mask).logits)


def language_model(model):
    case = record(model, [integers(2, (2, 7), 17)], lambda ids: model(ids).logits)
    prompt = integers(3, (2, 3), 17)
    model.eval()
    mask = torch.ones_like(prompt)
    greedy = model.generate(prompt, attention_mask=mask, do_sample=False, max_new_tokens=9)
    eos = greedy[0, 5].item()
    ended = model.generate(prompt, attention_mask=mask, do_sample=False, max_new_tokens=9, eos_token_id=eos,
                           pad_token_id=eos)
    case["generated"] = {"prompt": prompt.tolist(), "greedy": greedy.tolist(), "eos": eos, "ended": ended.tolist()}
    return case


def main():
    cases = {
        "bert": bert(),
        "distilbert": distilbert(),
        "gpt": language_model(transformers.GPT2LMHeadModel(transformers.GPT2Config(**GPT))),
        "llama": language_model(transformers.LlamaForCausalLM(transformers.LlamaConfig(**LLAMA))),
        "vit": record(ChannelsLast(VisionTransformer(**VIT)), (2, 8, 8, 3), prefix="model."),
        "lenet": record(ChannelsLast(LeNet()), (2, 28, 28, 1), prefix="model."),
        "mlp": record(MLP(), (3, 5, 4, 3)),
        "cnn": record(ChannelsLast(CNN()), (3, 14, 14, 2), prefix="model."),
    }
    write("models", cases, f"torch {torch.__version__}, transformers {transformers.__version__}")


main()
