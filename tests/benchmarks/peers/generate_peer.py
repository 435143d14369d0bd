"""Tokens per second of greedy generation with a GPT-2 of 124 million weights in PyTorch; prints one line of JSON.

generate_peer.py CONFIG [--batch N] [--prompt P] [--tokens T] [--seconds S]. CONFIG is fp32 or bf16 (weights and caches
in bfloat16), then optionally compile, joined by `+`. Keys and values are in a static cache, written in place. With
compile, the step of a token is one compiled graph.
"""

import argparse
import json
import os
import resource
import time

import torch
from torch import nn
from torch.nn import functional

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS = 50257, 1024, 768, 12, 12


class Block(nn.Module):
    def __init__(self, batch: int, capacity: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.fc1, self.fc2 = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in ["keys", "values"]:
            self.register_buffer(name, torch.zeros(batch, HEADS, capacity, WIDTH // HEADS))

    def forward(self, x: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        batch, length, _ = x.shape
        split = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = split.permute(2, 0, 3, 1, 4)
        self.keys.index_copy_(2, positions, k)
        self.values.index_copy_(2, positions, v)
        y = functional.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.fc2(functional.gelu(self.fc1(self.norm2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self, batch: int, capacity: int) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.blocks = nn.ModuleList(Block(batch, capacity) for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.register_buffer("seen", torch.tril(torch.ones(capacity, capacity, dtype=torch.bool)))

    def forward(self, ids: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.places(positions)
        mask = self.seen[positions]
        for block in self.blocks:
            x = block(x, positions, mask)
        return functional.linear(self.norm(x[:, -1]), self.tokens.weight).argmax(-1, keepdim=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", help="fp32 or bf16, then +compile")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--prompt", type=int, default=32, help="tokens of the prompts")
    parser.add_argument("--tokens", type=int, default=96, help="new tokens of a generation")
    parser.add_argument("--seconds", type=float, default=5, help="duration of the timed generations, at least 2")
    arguments = parser.parse_args()
    config = set(arguments.config.split("+"))
    torch.manual_seed(0)
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    model = GPT(arguments.batch, arguments.prompt + arguments.tokens).eval()
    if "bf16" in config:
        model = model.to(torch.bfloat16)
    step = torch.compile(model, dynamic=False) if "compile" in config else model
    prompt = torch.randint(VOCABULARY, (arguments.batch, arguments.prompt))

    @torch.inference_mode()
    def generate() -> tuple[float, list[float]]:
        start = time.perf_counter()
        token = model(prompt, torch.arange(arguments.prompt))
        begin = time.perf_counter() - start
        times = []
        for i in range(arguments.tokens - 1):
            start = time.perf_counter()
            token = step(token, torch.tensor([arguments.prompt + i]))
            times.append(time.perf_counter() - start)
        return begin, times

    start = time.perf_counter()
    generate()
    first = time.perf_counter() - start
    begins, tokens, rounds = [], [], 0
    end = time.perf_counter() + arguments.seconds
    while time.perf_counter() < end or rounds < 2:
        begin, times = generate()
        begins.append(begin)
        tokens += times
        rounds += 1
    begins.sort()
    tokens.sort()
    median = tokens[len(tokens) // 2]
    print(json.dumps({
        "framework": f"torch {torch.__version__}",
        "workload": "generate",
        "config": arguments.config,
        "batch": arguments.batch,
        "per_s": round(arguments.batch / median, 1),
        "best": round(arguments.batch / tokens[0], 1),
        "ms": round(median * 1e3, 3),
        "prompt_ms": round(begins[len(begins) // 2] * 1e3, 3),
        "first_s": round(first, 3),
        "rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }))


if __name__ == "__main__":
    main()
