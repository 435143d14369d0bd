#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/onnx/onnx_fields.hpp>
#include <mezzo/onnx/onnx_tensor_messages.hpp>

// Messages of graphs: see onnx_messages.hpp.
namespace mezzo::detail::onnx {

class GraphProto;

class AttributeProto {
 public:
  enum AttributeType : std::int32_t {
    UNDEFINED = 0,
    FLOAT = 1,
    INT = 2,
    STRING = 3,
    TENSOR = 4,
    GRAPH = 5,
    FLOATS = 6,
    INTS = 7,
    STRINGS = 8,
    TENSORS = 9,
    GRAPHS = 10,
    SPARSE_TENSOR = 11,
    SPARSE_TENSORS = 12,
    TYPE_PROTO = 13,
    TYPE_PROTOS = 14
  };

  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_VALUE(float, f)
  MEZZO_PROTO_VALUE(std::int64_t, i)
  MEZZO_PROTO_TEXT(s)
  MEZZO_PROTO_MESSAGE(TensorProto, t)
  MEZZO_PROTO_MESSAGE(GraphProto, g)
  MEZZO_PROTO_LIST(float, floats)
  MEZZO_PROTO_LIST(std::int64_t, ints)
  MEZZO_PROTO_LIST(std::string, strings)
  MEZZO_PROTO_LIST(TensorProto, tensors)
  MEZZO_PROTO_TEXT(doc_string)
  MEZZO_PROTO_VALUE(AttributeType, type)
  MEZZO_PROTO_TEXT(ref_attr_name)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, name_);
    field(2, f_);
    field(3, i_);
    field(4, s_);
    field(5, t_);
    field(6, g_);
    field(7, floats_);
    field(8, ints_);
    field(9, strings_);
    field(10, tensors_);
    field(13, doc_string_);
    field(20, type_);
    field(21, ref_attr_name_);
  }
};

class NodeProto {
  MEZZO_PROTO_LIST(std::string, input)
  MEZZO_PROTO_LIST(std::string, output)
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_TEXT(op_type)
  MEZZO_PROTO_LIST(AttributeProto, attribute)
  MEZZO_PROTO_TEXT(doc_string)
  MEZZO_PROTO_TEXT(domain)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, input_);
    field(2, output_);
    field(3, name_);
    field(4, op_type_);
    field(5, attribute_);
    field(6, doc_string_);
    field(7, domain_);
  }
};

class GraphProto {
  MEZZO_PROTO_LIST(NodeProto, node)
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_LIST(TensorProto, initializer)
  MEZZO_PROTO_TEXT(doc_string)
  MEZZO_PROTO_LIST(ValueInfoProto, input)
  MEZZO_PROTO_LIST(ValueInfoProto, output)
  MEZZO_PROTO_LIST(ValueInfoProto, value_info)
  MEZZO_PROTO_LIST(std::string, sparse_initializer)  // the bytes of messages that are not read

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, node_);
    field(2, name_);
    field(5, initializer_);
    field(10, doc_string_);
    field(11, input_);
    field(12, output_);
    field(13, value_info_);
    field(15, sparse_initializer_);
  }
};

}  // namespace mezzo::detail::onnx
