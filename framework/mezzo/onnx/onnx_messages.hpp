#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <mezzo/onnx/onnx_fields.hpp>

/// The messages of ONNX files, with the names and numbers of onnx.proto and the accessors that generated code has. They
/// aren't those of Debian's libonnx, whose libprotobuf can't be loaded together with libsentencepiece: that has symbols
/// of another version of Protobuf.
namespace mezzo::detail::onnx {

class GraphProto;

class StringStringEntryProto {
  MEZZO_PROTO_TEXT(key)
  MEZZO_PROTO_TEXT(value)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, key_);
    field(2, value_);
  }
};

class TensorProto {
 public:
  enum DataType : std::int32_t {
    UNDEFINED = 0,
    FLOAT = 1,
    UINT8 = 2,
    INT8 = 3,
    UINT16 = 4,
    INT16 = 5,
    INT32 = 6,
    INT64 = 7,
    STRING = 8,
    BOOL = 9,
    FLOAT16 = 10,
    DOUBLE = 11,
    UINT32 = 12,
    UINT64 = 13,
    COMPLEX64 = 14,
    COMPLEX128 = 15,
    BFLOAT16 = 16
  };
  enum DataLocation : std::int32_t { DEFAULT = 0, EXTERNAL = 1 };

  MEZZO_PROTO_LIST(std::int64_t, dims)
  MEZZO_PROTO_VALUE(std::int32_t, data_type)
  MEZZO_PROTO_TEXT(segment)
  MEZZO_PROTO_LIST(float, float_data)
  MEZZO_PROTO_LIST(std::int32_t, int32_data)
  MEZZO_PROTO_LIST(std::string, string_data)
  MEZZO_PROTO_LIST(std::int64_t, int64_data)
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_TEXT(raw_data)
  MEZZO_PROTO_LIST(double, double_data)
  MEZZO_PROTO_LIST(std::uint64_t, uint64_data)
  MEZZO_PROTO_LIST(StringStringEntryProto, external_data)
  MEZZO_PROTO_VALUE(DataLocation, data_location)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, dims_);
    field(2, data_type_);
    field(3, segment_);
    field(4, float_data_);
    field(5, int32_data_);
    field(6, string_data_);
    field(7, int64_data_);
    field(8, name_);
    field(9, raw_data_);
    field(10, double_data_);
    field(11, uint64_data_);
    field(13, external_data_);
    field(14, data_location_);
  }
};

class TensorShapeProto {
 public:
  class Dimension {
    MEZZO_PROTO_VALUE(std::int64_t, dim_value)
    MEZZO_PROTO_TEXT(dim_param)

    template <class Visitor>
    void visit(Visitor&& field) {
      field(1, dim_value_);
      field(2, dim_param_);
    }
  };

  MEZZO_PROTO_LIST(Dimension, dim)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, dim_);
  }
};

class TypeProto {
 public:
  class Tensor {
    MEZZO_PROTO_VALUE(std::int32_t, elem_type)
    MEZZO_PROTO_MESSAGE(TensorShapeProto, shape)

    template <class Visitor>
    void visit(Visitor&& field) {
      field(1, elem_type_);
      field(2, shape_);
    }
  };

  MEZZO_PROTO_MESSAGE(Tensor, tensor_type)
  MEZZO_PROTO_TEXT(sequence_type)  // the bytes of a message that is not read
  MEZZO_PROTO_TEXT(map_type)
  MEZZO_PROTO_TEXT(sparse_tensor_type)
  MEZZO_PROTO_TEXT(optional_type)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, tensor_type_);
    field(4, sequence_type_);
    field(5, map_type_);
    field(8, sparse_tensor_type_);
    field(9, optional_type_);
  }
};

class ValueInfoProto {
  MEZZO_PROTO_TEXT(name)
  MEZZO_PROTO_MESSAGE(TypeProto, type)
  MEZZO_PROTO_TEXT(doc_string)

  template <class Visitor>
  void visit(Visitor&& field) {
    field(1, name_);
    field(2, type_);
    field(3, doc_string_);
  }
};

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
