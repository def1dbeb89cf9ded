#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/node.h"

namespace sapwood::capture {

graph::DType to_dtype(at::ScalarType type);
graph::Device to_device(const at::Device& device);

/// "aten.add.Tensor" for the operator aten::add, overload Tensor; an empty overload is "default".
std::string op_target(const c10::OperatorName& name);
graph::OpDecl op_decl(const c10::OperatorHandle& op);

/// Metadata of a real tensor; `storage` is the number by which the recorder knows its storage.
graph::TensorMeta tensor_meta(const at::Tensor& tensor, std::optional<int32_t> storage);

/// The node that holds the present value of a tensor argument.
using ReadTensor = std::function<graph::NodeId(const at::Tensor&)>;

/// Arguments of a call in the form of a graph node: trailing defaults are left out, keyword-only ones go to `kwargs`.
struct CallArguments {
  graph::ArgumentList args;
  std::vector<std::pair<std::string, graph::Argument>> kwargs;
};

/// Errors: unsupported for an argument that a graph can't hold (a generator, a stream, a custom class), naming it.
CallArguments convert_arguments(const c10::FunctionSchema& schema, at::ArrayRef<c10::IValue> values,
                                const ReadTensor& read);

}  // namespace sapwood::capture
