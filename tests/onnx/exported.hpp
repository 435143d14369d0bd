#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <mezzo/io/npz.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/onnx.hpp>
#include <mezzo/onnx/onnx_file.hpp>

#include "support/folder.hpp"
#include "support/tensors.hpp"

namespace mezzo_tests {

// The message of a model's ONNX file.
inline ::onnx::ModelProto exported(mezzo::Module& model, const mezzo::ExportOnnxOptions& options = {}) {
  const Folder folder;
  mezzo::export_onnx(model, folder.path("a.onnx"), options);
  return mezzo::detail::read_onnx_file(folder.path("a.onnx"), "[test]");
}

// "MatMul Add Relu": the operators of a graph in order.
inline std::string operators_of(const ::onnx::ModelProto& model) {
  std::string text;
  for (const auto& node : model.graph().node()) text += (text.empty() ? "" : " ") + node.op_type();
  return text;
}

// "x: 1 (batch, 4)": name, number of the dtype and sizes of an input or output.
inline std::string text_of(const ::onnx::ValueInfoProto& value) {
  const auto& type = value.type().tensor_type();
  std::string sizes;
  for (const auto& dim : type.shape().dim()) {
    sizes += (sizes.empty() ? "" : ", ") + (dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value()));
  }
  return value.name() + ": " + std::to_string(type.elem_type()) + " (" + sizes + ")";
}

// "kernel (4, 3)", ...: the arrays of a graph.
inline std::string arrays_of(const ::onnx::ModelProto& model) {
  std::string text;
  for (const auto& array : model.graph().initializer()) {
    const mezzo::Shape shape(array.dims().begin(), array.dims().end());
    text += (text.empty() ? "" : " ") + array.name() + " " + mezzo::to_string(shape);
  }
  return text;
}

// A folder for files that tests/parity/onnx_export.py compares with ONNX Runtime: that of the variable MEZZO_ONNX, or a
// temporary one.
class CaseFolder {
 public:
  std::string path(const std::string& name) const {
    const char* given = std::getenv("MEZZO_ONNX");
    return given == nullptr ? folder_.path(name) : (std::filesystem::path(given) / name).string();
  }

 private:
  Folder folder_;
};

using Runs = std::vector<std::vector<mezzo::Tensor>>;

// Writes the arrays of runs of a case: "0.in.0", "0.out.0", ...
inline void write_runs(const std::string& path, const Runs& inputs, const Runs& outputs) {
  std::map<std::string, mezzo::Tensor> arrays;
  for (std::size_t run = 0; run < inputs.size(); ++run) {
    const auto add = [&](const char* kind, const std::vector<mezzo::Tensor>& list) {
      for (std::size_t i = 0; i < list.size(); ++i) {
        const bool narrow = list[i].dtype() == mezzo::DType::bfloat16;  // numpy lacks it
        arrays[std::to_string(run) + kind + std::to_string(i)] = narrow ? list[i].cast(mezzo::DType::float32) : list[i];
      }
    };
    add(".in.", inputs[run]);
    add(".out.", outputs[run]);
  }
  mezzo::save_npz(path, arrays);
}

// Exports a model, with its outputs for the inputs of each run.
inline void write_case(mezzo::Model& model, const std::string& name, const Runs& runs,
                       const mezzo::ExportOnnxOptions& options = {}) {
  BOOST_TEST_CONTEXT(name) {
    const CaseFolder folder;
    Runs outputs;
    for (const auto& inputs : runs) {
      const mezzo::Tensors results = model.predict_all(mezzo::Tensors(inputs), {.batch_size = 1024});
      outputs.emplace_back();
      for (const auto& entry : results) outputs.back().push_back(entry.second);
    }
    mezzo::export_onnx(model, folder.path(name + ".onnx"), options);
    write_runs(folder.path(name + ".npz"), runs, outputs);
    BOOST_TEST(std::filesystem::exists(folder.path(name + ".onnx")));
  }
}

}  // namespace mezzo_tests
