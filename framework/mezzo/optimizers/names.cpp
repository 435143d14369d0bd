#include <mezzo/core/name_table.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/sgd.hpp>

namespace mezzo {
namespace {

template <class O>
Any<Optimizer> create(const std::string&) {
  return O();
}

}  // namespace

Any<Optimizer> Optimizer::from_name(const std::string& name) {
  static const NameTable<Optimizer> table("optimizer", {{"Adam", create<Adam>},
                                                        {"AdamW", create<AdamW>},
                                                        {"SGD", create<SGD>},
                                                        {"adam", create<Adam>},
                                                        {"adamw", create<AdamW>},
                                                        {"sgd", create<SGD>}});
  return table.at(name);
}

}  // namespace mezzo
