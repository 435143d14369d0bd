#pragma once
#include <cstddef>
#include <cstdint>

/// Functions of the plug-in mezzo_sentencepiece. They take plain data, so that one plug-in fits the static and the
/// shared library.
namespace mezzo::sentencepiece_plugin {

constexpr int current_version = 1;

/// A piece that a text was divided into: its id, and the bytes [begin, end) of the text.
struct Piece {
  std::uint32_t id, begin, end;
  int unknown;       ///< 1: the unknown piece
  const char* text;  ///< as in the vocabulary, or of the unknown part; not terminated
  std::size_t bytes;
};

/// A text; not terminated.
struct Text {
  const char* data;
  std::size_t bytes;
};

struct Functions {
  int version;  ///< current_version of the plug-in
  /// Reads a model. Null with a text in `error` if that fails.
  void* (*open)(Text model, char* error, std::size_t error_bytes);
  void (*close)(void* model);
  int (*bos_id)(const void* model);  ///< -1: the model has none
  int (*eos_id)(const void* model);
  /// Calls take(argument, piece) for each piece of a text.
  void (*encode)(const void* model, Text text, void (*take)(void* argument, const Piece& piece), void* argument);
  /// Calls take(argument, text) with the text of the pieces. 0, or 1 with a text in `error`.
  int (*decode)(const void* model, const Text* pieces, std::size_t count, void (*take)(void* argument, Text text),
                void* argument, char* error, std::size_t error_bytes);
};

/// Type of mezzo_sentencepiece_functions.
using Get = void (*)(Functions* functions);

}  // namespace mezzo::sentencepiece_plugin
