#include <mezzo/optimizers/names.hpp>

#include <mezzo/optimizers/adadelta.hpp>
#include <mezzo/optimizers/adafactor.hpp>
#include <mezzo/optimizers/adagrad.hpp>
#include <mezzo/optimizers/adamax.hpp>
#include <mezzo/optimizers/adamw.hpp>
#include <mezzo/optimizers/ftrl.hpp>
#include <mezzo/optimizers/lamb.hpp>
#include <mezzo/optimizers/lars.hpp>
#include <mezzo/optimizers/lion.hpp>
#include <mezzo/optimizers/muon.hpp>
#include <mezzo/optimizers/nadam.hpp>
#include <mezzo/optimizers/rmsprop.hpp>
#include <mezzo/optimizers/schedule_free_adamw.hpp>
#include <mezzo/optimizers/sgd.hpp>

namespace mezzo {
namespace {

template <class O>
Any<Optimizer> create(const std::string&) {
  return O();
}

}  // namespace

const NameTable<Optimizer>& optimizer_names() {
  static const NameTable<Optimizer> table("optimizer", {{"Adadelta", create<Adadelta>},
                                                        {"Adafactor", create<Adafactor>},
                                                        {"Adagrad", create<Adagrad>},
                                                        {"Adam", create<Adam>},
                                                        {"AdamW", create<AdamW>},
                                                        {"Adamax", create<Adamax>},
                                                        {"Ftrl", create<Ftrl>},
                                                        {"LARS", create<LARS>},
                                                        {"Lamb", create<Lamb>},
                                                        {"Lion", create<Lion>},
                                                        {"Muon", create<Muon>},
                                                        {"Nadam", create<Nadam>},
                                                        {"RMSprop", create<RMSprop>},
                                                        {"SGD", create<SGD>},
                                                        {"ScheduleFreeAdamW", create<ScheduleFreeAdamW>},
                                                        {"adadelta", create<Adadelta>},
                                                        {"adafactor", create<Adafactor>},
                                                        {"adagrad", create<Adagrad>},
                                                        {"adam", create<Adam>},
                                                        {"adamax", create<Adamax>},
                                                        {"adamw", create<AdamW>},
                                                        {"ftrl", create<Ftrl>},
                                                        {"lamb", create<Lamb>},
                                                        {"lars", create<LARS>},
                                                        {"lion", create<Lion>},
                                                        {"muon", create<Muon>},
                                                        {"nadam", create<Nadam>},
                                                        {"rmsprop", create<RMSprop>},
                                                        {"schedulefreeadamw", create<ScheduleFreeAdamW>},
                                                        {"sgd", create<SGD>}});
  return table;
}

}  // namespace mezzo
