#pragma once

namespace mezzo_docs {

/// A block of a page, registered by the source that blocks.py makes of the page.
struct Block {
  Block(const char* page, int line, void (*run)());

  const char* page;
  int line;
  void (*run)();  ///< nullptr: the block is compiled only
};

}  // namespace mezzo_docs
