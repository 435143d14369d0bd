"""The work of mezzo_loading with torchvision's transforms v2, or with Python's strings, in PyTorch's DataLoader.

loading_peer.py pictures|jitter|texts [--workers N] [--seconds S] prints a line of JSON. Threads of a process: 1 with
workers, else PyTorch's own number.
"""

import argparse
import json
import string
import time

import torch
from torchvision.transforms import v2

STRIP = str.maketrans("", "", string.punctuation)


class Pictures(torch.utils.data.Dataset):
    def __init__(self, jitter):
        self.images = torch.randint(0, 256, (256, 3, 224, 224), dtype=torch.uint8)
        colors = [v2.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.05)] if jitter else []
        self.change = v2.Compose([v2.Resize(256, antialias=True), v2.RandomCrop(224), v2.RandomHorizontalFlip(), *colors,
                                  v2.ToDtype(torch.float32, scale=True),
                                  v2.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.change(self.images[i])


class Texts(torch.utils.data.Dataset):
    def __init__(self):
        self.indices = {f"word{i}": i + 2 for i in range(20000)}
        words = torch.randint(0, 25000, (2048, 200)).tolist()
        self.texts = ["".join(f"Word{k}, " for k in row) for row in words]

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, i):
        tokens = self.texts[i].lower().translate(STRIP).split()[:200]
        ids = [self.indices.get(token, 1) for token in tokens]
        return torch.tensor(ids + [0] * (200 - len(ids)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work", choices=["pictures", "jitter", "texts"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    data = Texts() if options.work == "texts" else Pictures(options.work == "jitter")
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True, num_workers=options.workers,
                                         persistent_workers=options.workers > 0)
    samples, begin, passed = 0, None, 0.0
    while passed < options.seconds:
        for batch in loader:
            if begin is None:  # the first batch starts the clock
                begin = time.perf_counter()
                continue
            samples += len(batch)
            passed = time.perf_counter() - begin
            if passed >= options.seconds:
                break
    print(json.dumps({"work": options.work, "workers": options.workers, "per_s": round(samples / passed)}))


if __name__ == "__main__":
    main()
