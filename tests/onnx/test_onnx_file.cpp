#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/onnx/onnx_file.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(onnx_file)

BOOST_AUTO_TEST_CASE(a_message_makes_the_round_trip) {
  const Folder folder;
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  model.mutable_graph()->set_name("empty");
  detail::write_onnx_file(model, folder.path("a.onnx"), "[export_onnx]");
  const ::onnx::ModelProto back = detail::read_onnx_file(folder.path("a.onnx"), "[load_onnx]");
  BOOST_TEST(back.SerializeAsString() == model.SerializeAsString());
}

BOOST_AUTO_TEST_CASE(other_files_are_refused) {
  const Folder folder;
  const std::string path = folder.path("a.onnx");
  const auto refused = [&](const std::string& content, const std::string& text) {
    folder.write("a.onnx", std::vector<std::uint8_t>(content.begin(), content.end()));
    check_throws<FileError>("[load_onnx] " + text, [&] { detail::read_onnx_file(path, "[load_onnx]"); });
  };
  refused(std::string("\x0a\xff\xff\xff", 4), "the file is damaged, or isn't an ONNX file");
  ::onnx::ModelProto model;
  model.set_ir_version(8);
  refused(model.SerializeAsString(), "the file must have a graph; it has none");
}

BOOST_AUTO_TEST_SUITE_END()
