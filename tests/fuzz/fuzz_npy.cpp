#include <mezzo/io/npy.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

void mezzo_fuzz::read_input(const Bytes& bytes) { touch(mezzo::load_npy(file_of(bytes))); }

std::vector<mezzo_fuzz::Bytes> mezzo_fuzz::seeds() {
  const mezzo_tests::Folder folder;
  std::vector<Bytes> out;
  for (const mezzo::DType dtype : {mezzo::DType::float32, mezzo::DType::boolean, mezzo::DType::float16}) {
    mezzo::save_npy(folder.path("a.npy"), mezzo::Tensor({2, 3}, dtype));
    out.push_back(content_of(folder.path("a.npy")));
  }
  std::string fortran = text_of(out[0]);
  fortran.replace(fortran.find("False"), 5, "True ");
  out.push_back(bytes_of(fortran));
  return out;
}
