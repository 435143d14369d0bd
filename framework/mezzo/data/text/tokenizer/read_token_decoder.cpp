#include <mezzo/data/text/tokenizer/part_reader.hpp>
#include <mezzo/data/text/tokenizer/read_parts.hpp>

namespace mezzo::detail {
namespace {

TokenDecoderPtr read_byte_level_bytes(JsonFields& fields) {
  for (const char* name : {"add_prefix_space", "trim_offsets", "use_regex"}) {
    fields.flag(name, true);  // of the pre-tokenizer of the same name
  }
  return byte_level_decoder();
}

TokenDecoderPtr read_word_pieces(JsonFields& fields) {
  std::string prefix = fields.text("prefix");
  return word_piece_decoder(std::move(prefix), fields.flag("cleanup"));
}

TokenDecoderPtr read_metaspaces(JsonFields& fields) {
  const char32_t replacement = fields.character("replacement");
  bool drops = fields.flag("add_prefix_space", true);
  if (fields.has("prepend_scheme")) drops = fields.choice("prepend_scheme", {"always", "first", "never"}) != 2;
  fields.flag("split", true);  // of the pre-tokenizer of the same name
  fields.text("str_rep", "");  // the replacement, in older files
  return metaspace_decoder(replacement, drops);
}

TokenDecoderPtr read_stripping(JsonFields& fields) {
  const char32_t content = fields.character("content");
  const std::int64_t start = fields.count("start");
  return strip_decoder(content, static_cast<std::size_t>(start), static_cast<std::size_t>(fields.count("stop")));
}

TokenDecoderPtr read_decoder_replacing(JsonFields& fields) {
  TextPattern pattern = read_text_pattern(fields.object("pattern"));
  return replace_decoder(std::move(pattern), fields.text("content"));
}

TokenDecoderPtr read_ctc(JsonFields& fields) {
  std::string pad = fields.text("pad_token");
  std::string delimiter = fields.text("word_delimiter_token");
  return ctc_decoder(std::move(pad), std::move(delimiter), fields.flag("cleanup"));
}

TokenDecoderPtr read_decoders(JsonFields& fields) {
  return decoder_sequence(read_list<TokenDecoderPtr>(fields, "decoders", read_token_decoder));
}

constexpr PartReader<TokenDecoderPtr> decoder_readers[] = {
    {"BPEDecoder", [](JsonFields& fields) { return bpe_decoder(fields.text("suffix")); }},
    {"ByteFallback", [](JsonFields&) { return byte_fallback_decoder(); }},
    {"ByteLevel", read_byte_level_bytes},
    {"CTC", read_ctc},
    {"Fuse", [](JsonFields&) { return fuse_decoder(); }},
    {"Metaspace", read_metaspaces},
    {"Replace", read_decoder_replacing},
    {"Sequence", read_decoders},
    {"Strip", read_stripping},
    {"WordPiece", read_word_pieces},
};

}  // namespace

TokenDecoderPtr read_token_decoder(JsonFields fields) { return read_part(fields, "decoder", decoder_readers); }

}  // namespace mezzo::detail
