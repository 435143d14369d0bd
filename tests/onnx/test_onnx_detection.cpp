// Boxes, places of largest elements and Fourier transforms.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "onnx/graph.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int int64_type = ::onnx::TensorProto::INT64;

Tensor counted(const Shape& shape) {
  const std::int64_t size = element_count(shape);
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < size; ++i) numbers.push_back(static_cast<float>(i));
  return Tensor(shape, numbers);
}

void check(const Value& got, const std::vector<double>& wanted) {
  BOOST_TEST(got.tensor().to_doubles() == wanted, boost::test_tools::tolerance(1e-5)
                                                      << boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(onnx_detection)

// The example of ONNX's specification.
BOOST_AUTO_TEST_CASE(boxes_that_overlap_better_ones_are_left_out) {
  OnnxFile file;
  file.input("boxes", {1, 6, 4});
  file.input("scores", {1, 1, 6});
  file.ints("most", {3});
  file.floats("overlap", {1}, {0.5F});
  file.floats("score", {1}, {0});
  file.node("NonMaxSuppression", {"boxes", "scores", "most", "overlap", "score"}, {"y"}, "nms");
  file.output("y");
  const Tensor boxes = Tensor({1, 6, 4}, std::vector<float>{0, 0,  1, 1,  0, 0.1F,  1, 1.1F,  0, -0.1F, 1, 0.9F,
                                                            0, 10, 1, 11, 0, 10.1F, 1, 11.1F, 0, 100,   1, 101});
  const Tensor scores = Tensor({1, 1, 6}, std::vector<float>{0.9F, 0.75F, 0.6F, 0.95F, 0.5F, 0.3F});
  const Any<Model> model = file.load();
  check((*model)(Values{Value(boxes), Value(scores)}).at(0), {0, 0, 3, 0, 0, 0, 0, 0, 5});
  check_throws<ValueError>(
      "[NonMaxSuppression \"nms\"] boxes must be a constant, or follow from shapes; got one that depends on the "
      "numbers "
      "of the batch",
      [&] {
        model->predict({{"boxes", boxes}, {"scores", scores}});
      });
}

BOOST_AUTO_TEST_CASE(boxes_of_images_have_one_size) {
  for (const bool known : {true, false}) {
    OnnxFile file;
    file.input("x", {1, 1, 4, 4});
    file.input("boxes", {-1, 4});
    file.input("images", {-1}, int64_type);
    auto& node = file.node("RoiAlign", {"x", "boxes", "images"}, {"y"}, "roi");
    set_int(node, "output_height", 2);
    set_int(node, "output_width", 2);
    set_int(node, "sampling_ratio", known ? 2 : 0);
    set_text(node, "coordinate_transformation_mode", "half_pixel");
    file.output("y");
    file.message.mutable_opset_import(0)->set_version(16);
    const Any<Model> model = file.load();
    const Tensor boxes({1, 4}, std::vector<float>{0, 0, 4, 4}), images({1}, DType::int64);
    const Values all = (*model)({Value(counted({1, 1, 4, 4})), Value(boxes), Value(images)});
    BOOST_TEST(Shape(all[0].shape()) == Shape({1, 1, 2, 2}));
    check(all[0], {2.5, 4.5, 10.5, 12.5});
  }
}

BOOST_AUTO_TEST_CASE(places_of_the_largest_elements) {
  OnnxFile file;
  file.input("x", {1, 2, 4, 4});
  auto& pool = file.node("MaxPool", {"x"}, {"p", "places"});
  set_ints(pool, "kernel_shape", {2, 2});
  set_ints(pool, "strides", {2, 2});
  auto& unpool = file.node("MaxUnpool", {"p", "places"}, {"y"});
  set_ints(unpool, "kernel_shape", {2, 2});
  set_ints(unpool, "strides", {2, 2});
  file.output("places");
  file.output("y");
  const Any<Model> model = file.load();
  const Values all = (*model)(Values{Value(counted({1, 2, 4, 4}))});
  check(all[0], {5, 7, 13, 15, 21, 23, 29, 31});
  std::vector<double> wanted(32, 0);
  for (const std::size_t place : {5U, 7U, 13U, 15U, 21U, 23U, 29U, 31U}) wanted[place] = static_cast<double>(place);
  check(all[1], wanted);
  OnnxFile columns;
  columns.input("x", {1, 1, 3, 4});
  auto& node = columns.node("MaxPool", {"x"}, {"p", "places"});
  set_ints(node, "kernel_shape", {2, 2});
  set_ints(node, "pads", {1, 1, 0, 0});
  set_int(node, "storage_order", 1);
  columns.output("places");
  // The last element of each window, counted along columns.
  check((*columns.load())(Values{Value(counted({1, 1, 3, 4}))}).at(0), {0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11});
}

BOOST_AUTO_TEST_CASE(fourier_transforms) {
  OnnxFile file;
  file.input("x", {1, 4, 1});
  file.node("DFT", {"x"}, {"y"});
  auto& half = file.node("DFT", {"x"}, {"half"});
  set_int(half, "onesided", 1);
  auto& back = file.node("DFT", {"y"}, {"back"});
  set_int(back, "inverse", 1);
  for (const char* name : {"y", "half", "back"}) file.output(name);
  const Any<Model> model = file.load();
  const Values all = (*model)(Values{Value(counted({1, 4, 1})) + 1});
  const auto rounded = [](const Value& x) { return mezzo::round(x, 4); };
  check(rounded(all[0]), {10, 0, -2, 2, -2, 0, -2, -2});
  check(rounded(all[1]), {10, 0, -2, 2, -2, 0});
  check(rounded(all[2]), {1, 0, 2, 0, 3, 0, 4, 0});
  OnnxFile frames;
  frames.input("x", {1, 6, 1});
  frames.ints("step", {2});
  frames.floats("window", {4}, {1, 2, 2, 1});
  frames.node("STFT", {"x", "step", "window"}, {"y"});
  frames.output("y");
  const Value y = (*frames.load())(Value(ones({1, 6, 1})));
  BOOST_TEST(Shape(y.shape()) == Shape({1, 2, 3, 2}));
  check(rounded(y), {6, 0, -1, -1, 0, 0, 6, 0, -1, -1, 0, 0});
}

BOOST_AUTO_TEST_SUITE_END()
