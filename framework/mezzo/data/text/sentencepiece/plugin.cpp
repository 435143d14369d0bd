// The plug-in mezzo_sentencepiece: the tokenizers of libsentencepiece. It is linked only with that, not with mezzo.
// Debian's libsentencepiece exports a Protobuf of its own: in a program with another one both would end the program at
// its start, unless the plug-in is loaded with symbols of its own.
#include "plugin.hpp"

#include <sentencepiece_processor.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using mezzo::sentencepiece_plugin::Functions;
using mezzo::sentencepiece_plugin::Piece;
using mezzo::sentencepiece_plugin::Text;
using sentencepiece::SentencePieceProcessor;

std::string_view view(Text text) { return {text.data, text.bytes}; }

const SentencePieceProcessor& processor_of(const void* model) {
  return *static_cast<const SentencePieceProcessor*>(model);
}

void write(char* to, std::size_t bytes, const std::string& text) { std::snprintf(to, bytes, "%s", text.c_str()); }

void* open_model(Text model, char* error, std::size_t error_bytes) {
  auto processor = std::make_unique<SentencePieceProcessor>();
  const auto status = processor->LoadFromSerializedProto(view(model));
  if (status.ok()) return processor.release();
  write(error, error_bytes, status.ToString());
  return nullptr;
}

void close_model(void* model) {
  delete static_cast<SentencePieceProcessor*>(model);  // NOLINT(cppcoreguidelines-owning-memory)
}

void encode(const void* model, Text text, void (*take)(void*, const Piece&), void* argument) {
  const SentencePieceProcessor& processor = processor_of(model);
  const auto pieces = processor.EncodeAsImmutableProto(view(text));
  for (std::size_t i = 0; i < pieces.pieces_size(); ++i) {
    const auto piece = pieces.pieces(static_cast<int>(i));
    const auto& written = piece.piece();
    take(argument, {piece.id(), piece.begin(), piece.end(), processor.IsUnknown(static_cast<int>(piece.id())) ? 1 : 0,
                    written.data(), written.size()});
  }
}

int decode(const void* model, const Text* pieces, std::size_t count, void (*take)(void*, Text), void* argument,
           char* error, std::size_t error_bytes) {
  std::vector<std::string> list;
  for (std::size_t i = 0; i < count; ++i) list.emplace_back(view(pieces[i]));
  std::string text;
  const auto status = processor_of(model).Decode(list, &text);
  if (!status.ok()) {
    write(error, error_bytes, status.ToString());
    return 1;
  }
  take(argument, {text.data(), text.size()});
  return 0;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void mezzo_sentencepiece_functions(Functions* functions) {
  *functions = {mezzo::sentencepiece_plugin::current_version,
                open_model,
                close_model,
                [](const void* model) { return processor_of(model).bos_id(); },
                [](const void* model) { return processor_of(model).eos_id(); },
                encode,
                decode};
}
