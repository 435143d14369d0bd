#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/onnx/onnx_fields.hpp>
#include <mezzo/onnx/onnx_graph_messages.hpp>

/// The messages of ONNX files, with the names and numbers of onnx.proto and the accessors that generated code has. They
/// aren't those of Debian's libonnx, whose libprotobuf can't be loaded together with libsentencepiece: that has symbols
/// of another version of Protobuf.
namespace mezzo::detail::onnx {

class OperatorSetIdProto {
  MEZZO_PROTO_TEXT(domain)
  MEZZO_PROTO_VALUE(std::int64_t, version)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, domain_);
    field(2, version_);
  }
};

class FunctionProto {
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_LIST(std::string, input)
  MEZZO_PROTO_LIST(std::string, output)
  MEZZO_PROTO_LIST(std::string, attribute)
  MEZZO_PROTO_LIST(NodeProto, node)
  MEZZO_PROTO_LIST(OperatorSetIdProto, opset_import)
  MEZZO_PROTO_TEXT(domain)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, name_);
    field(4, input_);
    field(5, output_);
    field(6, attribute_);
    field(7, node_);
    field(9, opset_import_);
    field(10, domain_);
  }
};

class ModelProto {
  MEZZO_PROTO_VALUE(std::int64_t, ir_version)
  MEZZO_PROTO_TEXT(producer_name)
  MEZZO_PROTO_TEXT(producer_version)
  MEZZO_PROTO_TEXT(domain)
  MEZZO_PROTO_VALUE(std::int64_t, model_version)
  MEZZO_PROTO_TEXT(doc_string)
  MEZZO_PROTO_MESSAGE(GraphProto, graph)
  MEZZO_PROTO_LIST(OperatorSetIdProto, opset_import)
  MEZZO_PROTO_LIST(StringStringEntryProto, metadata_props)
  MEZZO_PROTO_LIST(FunctionProto, functions)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, ir_version_);
    field(2, producer_name_);
    field(3, producer_version_);
    field(4, domain_);
    field(5, model_version_);
    field(6, doc_string_);
    field(7, graph_);
    field(8, opset_import_);
    field(14, metadata_props_);
    field(25, functions_);
  }

  /// Bytes of the message.
  std::string SerializeAsString() const;

  /// Replaces the message by one that was serialized. Unknown fields are skipped. False if the bytes are damaged.
  bool ParseFromArray(const void* bytes, std::size_t count);
};

}  // namespace mezzo::detail::onnx
