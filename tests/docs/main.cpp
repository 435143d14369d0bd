// Runs the blocks of a page, each in a process and an empty folder of its own: docs_blocks PAGE
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <vector>

#include "docs/block.hpp"

namespace {

std::vector<mezzo_docs::Block>& blocks() {
  static std::vector<mezzo_docs::Block> all;
  return all;
}

int run_here(const mezzo_docs::Block& block) {
  std::string folder = (std::filesystem::temp_directory_path() / "mezzo_docs_XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr || chdir(folder.c_str()) != 0) return 1;
  alarm(100);
  int code = 0;
  try {
    block.run();
  } catch (const std::exception& error) {
    std::cerr << block.page << ":" << block.line << ": " << error.what() << std::endl;
    code = 1;
  }
  std::filesystem::current_path("/");
  std::filesystem::remove_all(folder);
  return code;
}

// The process has no threads yet, so the child may start its own.
bool passes(const mezzo_docs::Block& block) {
  std::cout << block.page << ":" << block.line << std::endl;
  const pid_t child = fork();
  if (child == 0) {
    const int code = run_here(block);
    std::cout.flush();
    std::_Exit(code);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (WIFSIGNALED(status)) std::cerr << block.page << ":" << block.line << ": signal " << WTERMSIG(status) << std::endl;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

mezzo_docs::Block::Block(const char* page, int line, void (*run)()) : page(page), line(line), run(run) {
  blocks().push_back(*this);
}

int main(int argc, char** argv) {
  int ran = 0, failed = 0;
  for (const auto& block : blocks()) {
    if (argc != 2 || std::string_view(block.page) != argv[1] || block.run == nullptr) continue;
    ++ran;
    if (!passes(block)) ++failed;
  }
  std::cout << ran << " blocks, " << failed << " failed" << std::endl;
  return failed == 0 ? 0 : 1;
}
