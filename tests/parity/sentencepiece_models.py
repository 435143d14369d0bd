"""Records small SentencePiece models of each kind, and their ids, offsets and decoded texts for 2,000 lines.

The models are trained here on lines of recorded/tokenizers/lines.json.
"""

import base64
import io
import json
from pathlib import Path

import sentencepiece

RECORDED = Path(__file__).parent / "recorded"
OPEN_LINES = 40  # every 40th line has its results in the file; of the others there is a hash

KINDS = {
    "bpe": dict(model_type="bpe", vocab_size=900, byte_fallback=True, normalization_rule_name="identity",
                remove_extra_whitespaces=False, split_digits=True, character_coverage=0.98, pad_id=3),
    "unigram": dict(model_type="unigram", vocab_size=900, user_defined_symbols=["[MASK]", "<sep>"],
                    hard_vocab_limit=False, character_coverage=0.98),
    "char": dict(model_type="char", vocab_size=300, normalization_rule_name="identity", hard_vocab_limit=False,
                 character_coverage=0.98, add_dummy_prefix=False),
    "word": dict(model_type="word", vocab_size=300, normalization_rule_name="identity", unk_surface=" ?? "),
}


def line_of(row):
    return row["text"] if "text" in row else bytes.fromhex(row["hex"]).decode("utf-8", errors="replace")


def trained(options, lines):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, minloglevel=2,
                                             num_threads=1, **options)
    return model.getvalue()


def result(processor, text):
    found = processor.encode(text, out_type="immutable_proto")
    ids = [piece.id for piece in found.pieces]
    return {"ids": ids, "offsets": [[piece.begin, piece.end] for piece in found.pieces],
            "decoded": processor.decode(ids)}


def digest(found):
    text = "\n".join([",".join(map(str, found["ids"])), ",".join(f"{a}-{b}" for a, b in found["offsets"]),
                      found["decoded"]])
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def main():
    rows = [line_of(row) for row in json.loads((RECORDED / "tokenizers" / "lines.json").read_text())]
    corpus = rows[:800]  # the Bible, the sources, and the first scripts
    cases = {}
    for kind, options in KINDS.items():
        model = trained(options, corpus)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        found = [result(processor, text) for text in rows]
        cases[kind] = {"model": base64.b64encode(model).decode(), "size": processor.vocab_size(),
                       "shown": {i: found[i] for i in range(0, len(rows), OPEN_LINES)},
                       "hashes": "".join(map(digest, found))}
        framed = sentencepiece.SentencePieceProcessor(model_proto=model, add_bos=True, add_eos=True)
        cases[kind]["framed"] = framed.encode("In the beginning")
    path = RECORDED / "sentencepiece_models.json"
    lines = [f"{json.dumps(kind)}: {json.dumps(case, separators=(',', ':'))}" for kind, case in cases.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(cases)} models, {path.stat().st_size} bytes")


main()
