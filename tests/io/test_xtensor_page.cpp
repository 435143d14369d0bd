#include <boost/test/unit_test.hpp>

#include <iostream>

#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>

#include <mezzo/data/tables/read_csv.hpp>
#include <mezzo/io/csv.hpp>
#include <mezzo/io/npy.hpp>
#include <mezzo/io/npz.hpp>
#include <mezzo/xtensor.hpp>

#include "support/folder.hpp"

using namespace mezzo;

BOOST_AUTO_TEST_SUITE(xtensor_page)

// The body is the code block of docs/xtensor.md.
BOOST_AUTO_TEST_CASE(the_example_runs) {
  const mezzo_tests::Folder temporary;
  const std::string folder = temporary.path();
  const xt::xarray<float> array = {{1, 2, 3}, {4, 5, 6}};
  const Tensor tensor = array;                  // copies, row-major; float32 (2, 3)
  const Tensor sums = xt::sum(array, {0});      // any expression converts
  const xt::xarray<float> back = tensor;        // copies
  const xt::xtensor<float, 2> matrix = tensor;  // of a fixed rank: a ShapeError if it differs
  const auto view = xt::adapt(tensor.data<float>(), tensor.size(), xt::no_ownership(), tensor.shape());  // shares

  save_npy(folder + "/array.npy", tensor);  // numpy.load("array.npy")
  const Tensor loaded = load_npy(folder + "/array.npy");
  save_npz(folder + "/arrays.npz", {{"x", tensor}, {"sums", sums}});
  const std::map<std::string, Tensor> arrays = load_npz(folder + "/arrays.npz");
  save_csv(folder + "/table.csv", tensor, {.header = "a,b,c"});
  const Tensor table = read_csv(folder + "/table.csv").to_tensor();
  std::cout << tensor << std::endl;
  BOOST_TEST((loaded.equal(tensor) && table.equal(tensor) && arrays.at("sums").equal(sums)));
  BOOST_TEST((back == array && matrix(1, 2) == 6.0F && view(1, 0) == 4.0F));
}

BOOST_AUTO_TEST_SUITE_END()
