#pragma once

#include <string_view>

namespace sapwood::graph::testing {

/// A graph in which every key of `sapwood.graph/1` and every kind of argument and value occurs.
inline constexpr std::string_view kFullGraph = R"json({
"format":"sapwood.graph/1","name":"full graph","producer":{"torch":"2.13.0","source":"by hand","op":"odd key"},
"num_fwd_outputs":1,"static_lifetime_input_indices":[0,2],
"symbols":{"s0":{"hint":4,"lower":2,"upper":null,"unbacked":false},"u0":{"hint":null,"lower":0,"upper":9,"unbacked":true},
  "z9":{"hint":null,"lower":null,"upper":null,"unbacked":false}},
"ops":{"aten.sin.default":{"schema":"aten::sin(Tensor self) -> Tensor","tags":["core","point wise"],"is_mutable":false,"is_view":false},
  "aten.t.default":{"schema":"aten::t(Tensor(a) self) -> Tensor(a)","tags":[],"is_mutable":true,"is_view":true}},
"nodes":[
{"name":"primals_1","op":"placeholder","target":"primals_1","args":[],"kwargs":{},
 "val":{"tensor":{"dtype":"float32","device":"cpu","shape":[{"sym":"s0","hint":4},3],"stride":[3,1],"offset":0,"storage":0,
  "storage_bytes":{"sym":"12*s0","hint":48},"requires_grad":true,"layout":"strided","numel_hint":12}},
 "users":["odd name","sin","alias"],
 "meta":{"partitioner_tag":"must_be_in_forward","desc":"PlainAOTInput(idx=0)","tensor_meta":true}},
{"name":"tangents_1","op":"placeholder","target":"renamed","args":[1.0],"kwargs":{},
 "val":{"tensor":{"dtype":"bfloat16","device":"cuda:1","shape":[{"sym":"u0","hint":null,"fallback_hint":9}],"stride":[2],"offset":5,"storage":7,
  "storage_bytes":100,"requires_grad":false,"layout":"strided","numel_hint":9,"subclass":"my sub"}},
 "meta":{"partitioner_tag":"must_be_in_backward","tensor_meta":false}},
{"name":"sin","op":"call_function","target":"aten.sin.default","args":[{"node":"primals_1"}],"kwargs":{"out dtype":{"dtype":"int8"},"k":2},
 "val":{"tuple":[{"tensor":{"dtype":"float32","device":"cpu","shape":[2,0],"stride":[1,1],"offset":0,"storage":8,"storage_bytes":0,
    "requires_grad":false,"layout":"strided"}},
   {"list":[{"symint":"s0 + 1","hint":5}]},{"dict":{"a b":null,"c":{"const":3.0}}},{"tuple":[null]},{"tuple":[]}]},
 "meta":{"recompute":"MUST_CPU_OFFLOAD","ac_graph_id":3,"has_backward_hook":true,"autograd_backward":true,"memory_budget":0.25,"seq_nr":-1,
  "saved_tensor_with_no_vc_check":true,"saved_for_quantization":true,"is_gradient_acc":true,"is_functional_regenerated":true,
  "quantization_tag":"fp8 e4m3","custom":{"_region_activation_memory_budget":0.5,"mine":{"dict":{"x":[1,null,true]}}},
  "stack_trace":"f.py:1, in g, return \"x\\n\"\u0001 // # é","nn_module":"net.0","original_aten":"aten.sin.default","desc":["a","b c"],
  "unbacked_bindings":{"u0":"[0].size()[1]"},"tensor_meta":true,"mutation_region_id":2,"impure":true,"flops":123456789012,"hop":["body","n args"]}},
{"name":"getitem","op":"call_function","target":"operator.getitem","args":[{"node":"sin"},0],"kwargs":{},
 "val":{"tensor":{"dtype":"float32","device":"cpu","shape":[2,0],"stride":[1,1],"offset":0,"storage":8,"storage_bytes":0,"requires_grad":false,
  "layout":"strided"}},"meta":{"tensor_meta":true}},
{"name":"odd name","op":"call_function","target":"strange op!","args":[{"node":"primals_1"},null,true,false,3,3.0,-0.0,1e300,"text \" \\ \n",
  {"float":"inf"},{"float":"-inf"},{"float":"nan"},{"complex":[1.5,{"float":"inf"}]},[],[1,[2]],{"tuple":[]},{"tuple":[1]},{"tuple":[{"node":"sin"},2]},
  {"dict":{"key":{"node":"sin"},"other":{"slice":[null,3,-1]}}},{"dtype":"float8_e4m3fn"},{"device":"cuda:0"},{"layout":"sparse_csr"},
  {"memory_format":"channels_last"},{"slice":[0,null,null]},{"sym":"2*s0","hint":8},{"sym":"u0","hint":null},{"operator":"aten.t.default"},
  {"opaque":"<object at 0>"}],"kwargs":{},"meta":{}},
{"name":"sparse","op":"call_function","target":"placeholder","args":[],"kwargs":{},
 "val":{"tensor":{"dtype":"complex64","device":"cpu","shape":[3],"stride":null,"offset":null,"storage":null,"storage_bytes":null,"requires_grad":false,
  "layout":"sparse_coo"}},"meta":{"partitioner_tag":"is_backward","tensor_meta":true}},
{"name":"alias","op":"call_function","target":"aten.t.default","args":[{"node":"primals_1"}],"kwargs":{},
 "val":{"tensor":{"dtype":"float32","device":"cpu","shape":[3,{"sym":"s0","hint":4}],"stride":[1,3],"offset":0,"storage":0,
  "storage_bytes":{"sym":"12*s0","hint":48},"requires_grad":false,"layout":"strided","numel_hint":12}},"meta":{"tensor_meta":true}},
{"name":"num","op":"call_function","target":"operator.mul","args":[],"kwargs":{},"val":{"symfloat":"1.5*s0","hint":6.0},"meta":{}},
{"name":"flag","op":"call_function","target":"operator.ge","args":[],"kwargs":{},"val":{"symbool":"u0 >= 3","hint":null},"meta":{}},
{"name":"state","op":"call_function","target":"higher_order.run","args":[],"kwargs":{},"val":{"opaque":"BackwardState"},"meta":{}},
{"name":"nothing","op":"call_function","target":"aten.nothing.default","args":[],"kwargs":{},"val":null,"meta":{}},
{"name":"body","op":"get_attr","target":"body_graph","args":[],"kwargs":{},"meta":{}},
{"name":"constant","op":"get_attr","target":"constant","args":[],"kwargs":{},"val":{"const":[1,2]},"meta":{}},
{"name":"output","op":"output","target":"output","args":[[{"node":"sin"},null]],"kwargs":{},"meta":{"desc":["one"]}}],
"subgraphs":{"body_graph":{"nodes":[
  {"name":"x","op":"placeholder","target":"x","args":[],"kwargs":{},"val":{"tensor":{"dtype":"bool","device":"cpu","shape":[],"stride":[],"offset":0,
   "storage":0,"storage_bytes":1,"requires_grad":false,"layout":"strided"}},"meta":{"tensor_meta":true}},
  {"name":"output","op":"output","target":"output","args":[[{"node":"x"}]],"kwargs":{},"meta":{}}],
 "subgraphs":{"inner":{"nodes":[],"subgraphs":{},"attributes":{}}},"attributes":{}}},
"attributes":{"constant":{"tensor":{"dtype":"int64","device":"cpu","shape":[2],"stride":[1],"offset":0,"storage":40,"storage_bytes":16,
 "requires_grad":false,"layout":"strided"},"values":[1,2]}}
})json";

}  // namespace sapwood::graph::testing
