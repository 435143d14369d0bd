"""Transformers of the torch peer: a BERT-like classifier and a GPT-like language model."""

import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width: int, heads: int, causal: bool):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """One block. A causal block normalizes first, as in GPT-2; the others normalize last, as in BERT."""

    def __init__(self, width: int, heads: int, hidden: int, causal: bool):
        super().__init__()
        self.causal = causal
        self.attention = Attention(width, heads, causal)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def feed_forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(functional.gelu(self.fc1(x), approximate="tanh" if self.causal else "none"))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.causal:
            x = x + self.attention(self.norm1(x))
            return x + self.feed_forward(self.norm2(x))
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.feed_forward(x))


class Transformer(nn.Module):
    """With `classes` 0 a causal language model, whose head is the embedding; else a classifier of the first token."""

    def __init__(self, vocabulary: int, context: int, width: int, heads: int, hidden: int, layers: int,
                 classes: int = 0):
        super().__init__()
        self.language_model = classes == 0
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.norm = nn.LayerNorm(width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden, self.language_model) for _ in range(layers))
        if self.language_model:
            self.head = nn.Linear(width, vocabulary, bias=False)
            self.head.weight = self.tokens.weight
        else:
            self.pool, self.head = nn.Linear(width, width), nn.Linear(width, classes)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        if not self.language_model:
            x = self.norm(x)
        for block in self.blocks:
            x = block(x)
        if self.language_model:
            return self.head(self.norm(x)).flatten(0, 1)
        return self.head(torch.tanh(self.pool(x[:, 0])))
