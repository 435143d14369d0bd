#include <mezzo/io/hdf5_file.hpp>
#include <mezzo/io/hdf5_writer.hpp>

#include "fuzz.hpp"
#include "support/paths.hpp"

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const mezzo::detail::Hdf5File file(bytes, "[input]");
  for (const auto& [path, array] : file.arrays()) {
    touch(file.read(path));
    file.texts(path, "dtype");
  }
  for (const char* attribute : {"model_config", "layer_names", "one", "fixed"}) file.texts("", attribute);
  file.texts("a/vars", "name");
}

std::vector<Bytes> seeds() {
  std::vector<Bytes> out;
  mezzo::detail::Hdf5Writer writer("[seed]");
  writer.add("a/vars/0", mezzo::Tensor({2, 3}));
  writer.add_text("a/vars", "name", "first");
  out.push_back(writer.finish());
  const auto recorded = mezzo_tests::tests_dir() / "parity" / "recorded" / "keras_files";
  for (const char* name :
       {"hdf5/numbers.h5", "hdf5/refused_lzf.h5", "hdf5/refused_virtual.h5", "keras_2_list/weights.h5"}) {
    out.push_back(content_of((recorded / name).string()));
  }
  return out;
}

const Target target("hdf5", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
