#include <mezzo/training/model/onnx_reader.hpp>

namespace mezzo::detail {
namespace {

OnnxReader reader_of_onnx = nullptr;

}  // namespace

OnnxReader onnx_reader() { return reader_of_onnx; }

bool set_onnx_reader(OnnxReader reader) {
  reader_of_onnx = reader;
  return true;
}

}  // namespace mezzo::detail
