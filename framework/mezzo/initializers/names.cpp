#include <mezzo/initializers/names.hpp>

#include <mezzo/initializers/constant.hpp>
#include <mezzo/initializers/identity.hpp>
#include <mezzo/initializers/orthogonal.hpp>
#include <mezzo/initializers/random_normal.hpp>
#include <mezzo/initializers/random_uniform.hpp>
#include <mezzo/initializers/truncated_normal.hpp>
#include <mezzo/initializers/variance_scaling.hpp>

namespace mezzo {
namespace {

template <class I>
Any<Initializer> create(const std::string&) {
  return I();
}

}  // namespace

const NameTable<Initializer>& initializer_names() {
  static const NameTable<Initializer> table("initializer", {{"constant", create<Constant>},
                                                            {"glorot_normal", create<GlorotNormal>},
                                                            {"glorot_uniform", create<GlorotUniform>},
                                                            {"he_normal", create<HeNormal>},
                                                            {"he_uniform", create<HeUniform>},
                                                            {"identity", create<IdentityInitializer>},
                                                            {"lecun_normal", create<LecunNormal>},
                                                            {"lecun_uniform", create<LecunUniform>},
                                                            {"normal", create<RandomNormal>},
                                                            {"one", create<Ones>},
                                                            {"ones", create<Ones>},
                                                            {"orthogonal", create<Orthogonal>},
                                                            {"random_normal", create<RandomNormal>},
                                                            {"random_uniform", create<RandomUniform>},
                                                            {"truncated_normal", create<TruncatedNormal>},
                                                            {"uniform", create<RandomUniform>},
                                                            {"variance_scaling", create<VarianceScaling>},
                                                            {"zero", create<Zeros>},
                                                            {"zeros", create<Zeros>}});
  return table;
}

}  // namespace mezzo
