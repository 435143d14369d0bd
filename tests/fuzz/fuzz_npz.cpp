#include <mezzo/io/npz.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) {
  for (const auto& [name, tensor] : mezzo::load_npz(file_of(bytes))) touch(tensor);
}

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  const mezzo_tests::Folder folder;
  mezzo::save_npz(folder.path("a.npz"), {{"x", mezzo::Tensor({2, 3})}, {"y", mezzo::Tensor({0}, mezzo::DType::int8)}});
  return {content_of(folder.path("a.npz"))};
}
