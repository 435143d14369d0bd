"""Records ids, offsets, tokens and decoded texts of 2,000 lines by Hugging Face's `tokenizers`.

The tokenizers, of each kind of model, are trained here on the King James Bible and on the sources of this repository.
recorded/tokenizers/lines.json has the lines; those that are not UTF-8 are in hexadecimal digits. Each other file there
has a tokenizer.json, the results of some lines, and a hash of the results of each line. With --keep the tokenizers of the files are used, not trained.
"""

import io
import json
import random
import subprocess
import sys
import unicodedata
from pathlib import Path

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
RECORDED = HERE / "recorded" / "tokenizers"
BIBLE = Path("/usr/lib/bible.data")  # of Debian's package bible-kjv-text
OPEN_LINES = 2  # of every 40 lines, with their results in the file
VOCABULARY = 2000

GPT4 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
        r"|\s+(?!\S)|\s+")
LLAMA3 = GPT4  # the same text in Llama 3's tokenizer.json
TIKTOKEN = (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
            r"|\s*[\r\n]|\s+(?!\S)|\s")
CLIP = (r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")

# First and last code point of the letters of 20 scripts.
SCRIPTS = {"Latin": (0x41, 0x17F), "Greek": (0x370, 0x3FF), "Cyrillic": (0x400, 0x4FF), "Armenian": (0x531, 0x587),
           "Hebrew": (0x591, 0x5EA), "Arabic": (0x60C, 0x669), "Devanagari": (0x901, 0x970), "Bengali": (0x981, 0x9FA),
           "Gurmukhi": (0xA02, 0xA74), "Tamil": (0xB82, 0xBF2), "Thai": (0xE01, 0xE5B), "Tibetan": (0xF00, 0xFCF),
           "Georgian": (0x10A0, 0x10FB), "Hangul Jamo": (0x1100, 0x11F9), "Ethiopic": (0x1200, 0x137C),
           "Cherokee": (0x13A0, 0x13F4), "Khmer": (0x1780, 0x17E9), "Mongolian": (0x1800, 0x18A9),
           "Kana": (0x3041, 0x30FE), "Han": (0x4E00, 0x9FA5), "Hangul": (0xAC00, 0xD7A3)}
EMOJI = ["😀", "👨‍👩‍👧‍👦", "👍🏽", "🇩🇪🇯🇵", "🏳️‍🌈", "1️⃣", "☺︎", "❤️", "🤷‍♀️", "🧑‍💻", "©", "™", "♥", "🀄", "🎉🎊", "⌚️", "🅰", "Ⓜ", "🈚", "🕴"]
ODD = ["\u00a0", "\u2003", "\u3000", "\u2028", "\u1680", "\u202f", "\u0085", "\u200b", "\u200d", "\ufeff", "\u00ad",
       "\x00", "\x01", "\x7f", "\x9f", "\t", "\r\n", "\n", "\r", "\x0b", "\x0c", "\x1c", "\u2581", "\ufffd", "\u180e",
       "\ue000", "e\u0301", "a\u0323\u0307", "a\u0307\u0323", "\u1e9b\u0323", "\u0344", "\u1100\u1161\u11a8", "ﬁ", "½",
       "①", "Ⅳ", "Ａ", "ㇰ", "㍿", "ﷺ", "İ", "ẞ", "ſ", "K", "Å", "Σς", "ǆ", "ŉ", "\u212b", "\u0cca", "²", "٣", "१", "〇",
       "‿", "_", "’s", "'S", "'ſ", "'LL", "don't", "I'VE", "…", "«»", "、。", "$^`~", "<s>", "</s>", "[MASK]", "[UNK]",
       "<unk>", "<|endoftext|>", "<0x0A>", "##a", "</w>", "Ġ", "▁a", "yesterday", "Yesterday", "YESTERDAY", "[DAY]"]


def bible():
    """Verses of the Bible as datasets/bible_kjv reads them: windows in the format of `compress` without its header."""
    data = BIBLE.read_bytes()
    count = int.from_bytes(data[0x58:0x5C], "big")
    places = [int.from_bytes(data[at:at + 4], "big") for at in range(0x5C, 0x5C + 4 * (count + 1), 4)]
    windows = [subprocess.run(["gzip", "-dc"], input=b"\x1f\x9d\x90" + data[begin:end], stdout=subprocess.PIPE,
                              check=True).stdout for begin, end in zip(places, places[1:])]
    return [line.split(" ", 1)[1] for line in b"".join(windows).decode("latin-1").splitlines()[1:]]


def sources():
    files = sorted(p for folder in ("framework", "models") for p in (ROOT / folder).rglob("*.[ch]pp"))
    return [line for path in files[::7] for line in path.read_text().splitlines() if line.strip()]


def letters(first, last):
    return [chr(c) for c in range(first, last + 1) if unicodedata.ucd_3_2_0.category(chr(c)) != "Cn"]


def lines(verses, code):
    rng = random.Random(20261126)
    out = [b"", b" ", b"  ", b"\n", "\u00e9".encode()]
    out += [one.encode() for one in rng.sample(verses, 350) + rng.sample(code, 350)]
    for first, last in SCRIPTS.values():
        alphabet = letters(first, last)
        for _ in range(18):
            words = ["".join(rng.choices(alphabet, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 7))]
            line = rng.choice([" ", " ", "  ", ", "]).join(words)
            out.append(line.replace("\u1886", "\u1884").encode())  # a mark since Unicode 9, a letter in older tables
    for _ in range(150):
        out.append("".join(rng.choice(EMOJI + ["", " ", "a", "text "]) for _ in range(rng.randint(1, 9))).encode())
    for _ in range(350):
        parts = [rng.choice(ODD + [" ", " ", "a", "Word", "12", "é"]) for _ in range(rng.randint(1, 12))]
        out.append("".join(parts).encode())
    for run in (" ", "a", "7", "\n", "\t", "ab", "é", "한", "=", "-=", " a", "\r\n", "\u3000", "😀", "1a", "A"):
        out += [(rng.choice(["", "x ", "("]) + run * n + rng.choice(["", " y", ")"])).encode() for n in (2, 3, 17, 130, 600)]
    while len(out) < 2000:
        bad = bytearray(rng.choice(out[5:1500])[:120])
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(bad) + 1)
            bad[at:at + rng.randint(0, 2)] = bytes(rng.choices([0x80, 0xC3, 0xE2, 0xF0, 0xED, 0xA0, 0xFF, 0xC0, 0x9F], k=rng.randint(1, 3)))
        out.append(bytes(bad))
    return out[:2000]


def text_of(line):
    return line.decode("utf-8", errors="replace")


def trained(tokenizer, trainer, corpus):
    tokenizer.train_from_iterator(corpus, trainer)
    return tokenizer


def bpe_trainer(special=(), alphabet=(), **options):
    return trainers.BpeTrainer(vocab_size=VOCABULARY, special_tokens=list(special), initial_alphabet=list(alphabet),
                               show_progress=False, **options)


def byte_level(corpus, pre_tokenizer, special=(), **options):
    tokenizer = Tokenizer(models.BPE(**options))
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    return trained(tokenizer, bpe_trainer(special, pre_tokenizers.ByteLevel.alphabet()), corpus)


def split_then_bytes(pattern):
    return pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(pattern), "isolated"),
                                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])


def gpt2(corpus):
    tokenizer = byte_level(corpus, pre_tokenizers.ByteLevel(add_prefix_space=False), ["<|endoftext|>"])
    tokenizer.post_processor = processors.ByteLevel(trim_offsets=False)
    return tokenizer


def roberta(corpus):
    tokenizer = byte_level(corpus, pre_tokenizers.ByteLevel(), ["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.add_special_tokens([AddedToken("[MASK]", lstrip=True, special=True)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return tokenizer


def llama3(corpus):
    tokenizer = byte_level(corpus, split_then_bytes(LLAMA3), ["<s>", "<|endoftext|>"], ignore_merges=True)
    template = processors.TemplateProcessing("<s> $A", "<s> $A <s>:1 $B:1", [("<s>", 0)])
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(), template])
    return tokenizer


def llama2(corpus):
    """BPE of whole lines with bytes for unknown characters, as SentencePiece's."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    special = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    trained(tokenizer, bpe_trainer(special, limit_alphabet=120), corpus)
    tokenizer.pre_tokenizer = None
    description = json.loads(tokenizer.to_str())
    description["added_tokens"] = description["added_tokens"][:3]
    tokenizer = Tokenizer.from_str(json.dumps(description))
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A", "<s> $A $B:1", [("<s>", 1)])
    return tokenizer


def clip(corpus):
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                                                 normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(CLIP), "removed", invert=True)
    tokenizer.decoder = decoders.BPEDecoder()
    return trained(tokenizer, bpe_trainer(["<|endoftext|>"], limit_alphabet=100, end_of_word_suffix="</w>"), corpus)


def prefixed(corpus):
    tokenizer = Tokenizer(models.BPE(unk_token="[UNK]", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(left=True, right=False)])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(False)])
    tokenizer.decoder = decoders.WordPiece(cleanup=False)
    return trained(tokenizer, bpe_trainer(["[UNK]"], limit_alphabet=100, continuing_subword_prefix="##"), corpus)


def bert(corpus, **options):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(**options)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trained(tokenizer, trainers.WordPieceTrainer(vocab_size=VOCABULARY, special_tokens=special, limit_alphabet=300,
                                                 show_progress=False), corpus)
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return tokenizer


def unigram_trainer(special=("<s>", "</s>", "<unk>")):
    return trainers.UnigramTrainer(vocab_size=VOCABULARY, special_tokens=list(special), unk_token="<unk>",
                                   show_progress=False)


def charsmap():
    """The compiled map of SentencePiece's default normalizer."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(["a b c d"] * 9), model_writer=model, vocab_size=10,
                                             hard_vocab_limit=False, minloglevel=2)
    return sentencepiece_model_pb2.ModelProto.FromString(model.getvalue()).normalizer_spec.precompiled_charsmap


def xlm(corpus):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap()),
                                                 normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trained(tokenizer, unigram_trainer(), corpus)
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>",
                                                             [("<s>", 0), ("</s>", 1)])
    return tokenizer


def unigram_bytes(corpus):
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC(), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])
    trained(tokenizer, unigram_trainer(["<unk>", *(f"<0x{byte:02X}>" for byte in range(256))]), corpus)
    description = json.loads(tokenizer.to_str())
    description["added_tokens"] = []
    description["model"]["byte_fallback"] = True
    return Tokenizer.from_str(json.dumps(description))


def words(corpus):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(),
                                                       pre_tokenizers.Punctuation("contiguous"),
                                                       pre_tokenizers.Digits(individual_digits=True)])
    trained(tokenizer, trainers.WordLevelTrainer(vocab_size=VOCABULARY, special_tokens=["[UNK]"], show_progress=False), corpus)
    tokenizer.add_tokens([AddedToken("[DAY]", normalized=False), AddedToken("Yesterday", normalized=True)])
    return tokenizer


def delimited(corpus):
    tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.NFKD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Punctuation("merged_with_previous"),
        pre_tokenizers.Split(Regex(r"\b[aeiou]\w"), "merged_with_next"), pre_tokenizers.Split("th", "removed")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(Regex("[aeiou]+"), "_"), decoders.CTC("x", "q", True)])
    return trained(tokenizer, trainers.WordLevelTrainer(vocab_size=VOCABULARY, special_tokens=["[UNK]"], show_progress=False), corpus)


def with_added_tokens(corpus):
    tokenizer = gpt2(corpus)
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_tokens([AddedToken("yesterday", normalized=True), AddedToken("[DAY]", lstrip=True, rstrip=True, normalized=False),
                          AddedToken("the", single_word=True), AddedToken("[MASK]", rstrip=True, normalized=False)])
    tokenizer.add_special_tokens([AddedToken("Word", special=True, normalized=False), "</s>"])
    return tokenizer


KINDS = {
    "gpt2": gpt2, "roberta": roberta, "gpt4": lambda corpus: byte_level(corpus, split_then_bytes(GPT4)),
    "tiktoken": lambda corpus: byte_level(corpus, split_then_bytes(TIKTOKEN)), "llama3": llama3, "llama2": llama2,
    "clip": clip, "prefixed": prefixed, "bert": bert,
    "bert_cased": lambda corpus: bert(corpus, lowercase=False, strip_accents=True, clean_text=False), "xlm": xlm,
    "unigram_bytes": unigram_bytes, "words": words, "delimited": delimited, "added": with_added_tokens,
}
PAIRS = [("In the beginning God created", "the heaven and the earth"), ("", "second only"), ("first only", ""),
         ("one two three four five six seven eight nine ten", "one two"), ("a b", "one two three four five six seven")]


def result(tokenizer, text):
    encoded = tokenizer.encode(text)
    return {"ids": encoded.ids, "offsets": [list(one) for one in encoded.offsets], "tokens": encoded.tokens,
            "words": [-1 if word is None else word for word in encoded.word_ids],
            "decoded": tokenizer.decode(encoded.ids), "all": tokenizer.decode(encoded.ids, skip_special_tokens=False)}


def digest(found):
    """FNV-1a with 32 bits of a text of the result."""
    parts = [",".join(map(str, found["ids"])), ",".join(f"{begin}-{end}" for begin, end in found["offsets"]),
             " ".join(found["tokens"]), ",".join(map(str, found["words"])), found["decoded"], found["all"]]
    value = 0x811C9DC5
    for byte in "\n".join(parts).encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def flat(encoded):
    return {"ids": encoded.ids, "types": encoded.type_ids, "offsets": [list(one) for one in encoded.offsets],
            "mask": encoded.attention_mask, "special": encoded.special_tokens_mask,
            "overflowing": [{**flat(one), "overflowing": []} for one in encoded.overflowing]}


def cut_and_padded(tokenizer):
    """Pairs and texts with truncation and padding of all kinds."""
    cases = []
    truncations = [None] + [{"max_length": length, "stride": stride, "strategy": strategy, "direction": direction}
                            for length, stride in ((5, 0), (9, 2), (16, 1))
                            for strategy in ("longest_first", "only_first", "only_second")
                            for direction in ("right", "left")]
    paddings = [None, {"direction": "left", "pad_id": 1, "pad_type_id": 1, "pad_token": "p", "length": 12},
                {"pad_to_multiple_of": 8}]
    for index, truncation in enumerate(truncations):
        padding = paddings[index % 3]
        tokenizer.no_truncation(), tokenizer.no_padding()
        if truncation:
            tokenizer.enable_truncation(**truncation)
        if padding:
            tokenizer.enable_padding(**padding)
        for first, second in PAIRS:
            for pair in (None, second):
                for special in (True, False):
                    try:
                        found = flat(tokenizer.encode(first, pair, add_special_tokens=special))
                    except BaseException:
                        found = None
                    cases.append({"truncation": truncation, "padding": padding, "text": first, "pair": pair,
                                  "special": special, "found": found})
    tokenizer.no_truncation(), tokenizer.no_padding()
    return cases


def recorded_tokenizer(name):
    return Tokenizer.from_str(json.dumps(json.loads((RECORDED / f"{name}.json").read_text())["tokenizer"]))


def main():
    RECORDED.mkdir(exist_ok=True)
    verses, code = bible(), sources()
    corpus = verses[::5] + code
    texts = lines(verses, code)
    rows = [{"text": one.decode()} if one == text_of(one).encode() else {"hex": one.hex()} for one in texts]
    (RECORDED / "lines.json").write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")
    for name, make in KINDS.items():
        tokenizer = recorded_tokenizer(name) if "--keep" in sys.argv else make(corpus)
        found = [result(tokenizer, text_of(line)) for line in texts]
        shown = [{"line": i, **found[i]} for i in range(len(found)) if i % 40 < OPEN_LINES and len(texts[i]) < 200]
        group = {"tokenizer": json.loads(tokenizer.to_str()), "shown": shown,
                 "hashes": "".join(digest(one) for one in found)}
        if name in ("bert", "roberta", "llama3", "gpt2"):
            group["cut"] = cut_and_padded(tokenizer)
        parts = [f"{json.dumps(key)}: {json.dumps(part, ensure_ascii=False, separators=(',', ':'))}" for key, part in group.items()]
        path = RECORDED / f"{name}.json"
        path.write_text("{\n" + ",\n".join(parts) + "\n}\n")
        print(f"{name}: {tokenizer.get_vocab_size()} tokens, {path.stat().st_size} bytes")


main()
