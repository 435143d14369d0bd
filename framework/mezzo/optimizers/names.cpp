#include <mezzo/optimizers/names.hpp>

#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/sgd.hpp>

namespace mezzo {
namespace {

template <class O>
Any<Optimizer> create(const std::string&) {
  return O();
}

}  // namespace

const NameTable<Optimizer>& optimizer_names() {
  static const NameTable<Optimizer> table("optimizer", {{"Adam", create<Adam>},
                                                        {"AdamW", create<AdamW>},
                                                        {"SGD", create<SGD>},
                                                        {"adam", create<Adam>},
                                                        {"adamw", create<AdamW>},
                                                        {"sgd", create<SGD>}});
  return table;
}

}  // namespace mezzo
