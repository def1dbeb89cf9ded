#include <algorithm>

#include "graph/number_text.h"
#include "graph/text_printer.h"
#include "graph/text_words.h"

namespace sapwood::graph {

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

void TextPrinter::node_name(NodeId id) {
  out_ += '%';
  name((*graph_)[id].name);
}

void TextPrinter::items(const ArgumentList& list) {
  join(list, [&](const Argument& item) { argument(item); });
}

void TextPrinter::tuple(const ArgumentList& list) {
  out_ += '(';
  items(list);
  out_ += list.size() == 1 ? ",)" : ")";
}

void TextPrinter::dict(const std::vector<std::pair<std::string, Argument>>& entries) {
  out_ += '{';
  join(entries, [&](const auto& entry) {
    append_quoted(entry.first, out_);
    out_ += ": ";
    argument(entry.second);
  });
  out_ += '}';
}

void TextPrinter::call_arguments(const Node& node) {
  out_ += '(';
  items(node.args);
  bool first = node.args.empty();
  for (const auto& [key, arg] : node.kwargs) {
    if (!first) out_ += ", ";
    first = false;
    word(key);
    out_ += '=';
    argument(arg);
  }
  out_ += ')';
}

/// `device("cuda:0")` and the like.
void TextPrinter::named(std::string_view function, std::string_view text) {
  out_ += function;
  out_ += '(';
  append_quoted(text, out_);
  out_ += ')';
}

void TextPrinter::argument(const Argument& arg) {
  std::visit(Overloaded{
                 [&](NoneArg) { out_ += "None"; },
                 [&](NodeArg v) { node_name(v.id); },
                 [&](bool v) { out_ += v ? "True" : "False"; },
                 [&](int64_t v) { append_int(v, out_); },
                 [&](double v) { append_float(v, out_); },
                 [&](const std::string& v) { append_quoted(v, out_); },
                 [&](const std::complex<double>& v) {
                   out_ += "complex(";
                   append_float(v.real(), out_);
                   out_ += ", ";
                   append_float(v.imag(), out_);
                   out_ += ')';
                 },
                 [&](DType v) { out_ += dtype_name(v); },
                 [&](const Device& v) { named("device", v.str()); },
                 [&](Layout v) { out_ += layout_name(v); },
                 [&](MemoryFormat v) { out_ += memory_format_name(v); },
                 [&](const SymExpr& v) {
                   out_ += "sym(";
                   out_ += v.str();
                   out_ += ')';
                 },
                 [&](const ListArg& v) {
                   out_ += '[';
                   items(v.items);
                   out_ += ']';
                 },
                 [&](const TupleArg& v) { tuple(v.items); },
                 [&](const DictArg& v) { dict(v.items); },
                 [&](const SliceArg& v) {
                   out_ += "slice(";
                   items(v.bounds);
                   out_ += ')';
                 },
                 [&](const OperatorArg& v) { named("operator", v.name); },
                 [&](const OpaqueArg& v) { named("opaque", v.repr); },
             },
             arg.value);
}

void TextPrinter::values(const std::vector<Value>& list, char open, char close) {
  out_ += open;
  join(list, [&](const Value& item) { value(item, false); });
  if (open == '(' && list.size() == 1) out_ += ',';
  out_ += close;
}

/// `whole`: this is all that the node yields, not an element of it.
void TextPrinter::value(const Value& val, bool whole) {
  const auto expression = [&](std::string_view function, const SymExpr& expr) {
    out_ += function;
    out_ += '(';
    out_ += expr.str();
    out_ += ')';
  };
  std::visit(Overloaded{
                 [&](const NoneValue&) { out_ += "None"; },
                 [&](const TensorMeta& v) { tensor(v, whole); },
                 [&](const SymIntValue& v) { expression("symint", v.expr); },
                 [&](const SymBoolValue& v) { expression("symbool", v.expr); },
                 [&](const SymFloatValue& v) {
                   out_ += "symfloat(";
                   append_quoted(v.expr, out_);
                   if (v.hint) out_ += ", ", append_float(*v.hint, out_);
                   out_ += ')';
                 },
                 [&](const TupleValue& v) { values(v.items, '(', ')'); },
                 [&](const ListValue& v) { values(v.items, '[', ']'); },
                 [&](const DictValue& v) {
                   out_ += '{';
                   join(v.items, [&](const auto& entry) {
                     append_quoted(entry.first, out_);
                     out_ += ": ";
                     value(entry.second, false);
                   });
                   out_ += '}';
                 },
                 [&](const ConstValue& v) {
                   out_ += "const(";
                   argument(v.value);
                   out_ += ')';
                 },
                 [&](const OpaqueValue& v) { named("opaque", v.repr); },
             },
             val.value);
}

void TextPrinter::size(const SymExpr& expr) {
  if (expr.is_const()) return append_int(expr.value(), out_);
  const std::string text = expr.str();
  const bool ambiguous = text.find_first_of("<>={}[]\"") != std::string::npos;  // would end the size early
  if (ambiguous) out_ += '(';
  out_ += text;
  if (ambiguous) out_ += ')';
}

void TextPrinter::sizes(const std::vector<SymExpr>& list, char open, char close) {
  out_ += open;
  join(list, [&](const SymExpr& item) { size(item); });
  out_ += close;
}

/// Opens `<` or continues the list in it.
void TextPrinter::detail(std::string_view name) {
  out_ += details_open_ ? ", " : "<";
  details_open_ = true;
  out_ += name;
}

void TextPrinter::optional_size(std::string_view name, const std::optional<SymExpr>& value,
                                const std::optional<SymExpr>& usual) {
  if (value == usual) return;
  detail(name);
  value ? size(*value) : void(out_ += "none");
}

void TextPrinter::tensor(const TensorMeta& tensor, bool whole) {
  out_ += dtype_name(tensor.dtype);
  sizes(tensor.shape, '[', ']');
  if (tensor.stride) {
    const bool usual = has_storage_by_default(tensor.layout) && *tensor.stride == contiguous_strides(tensor.shape);
    if (!usual) sizes(*tensor.stride, '{', '}');
  }
  tensor_details(tensor, whole);
  storages_.record(tensor, whole ? node_->id : kNoNode);
}

void TextPrinter::tensor_details(const TensorMeta& tensor, bool whole) {
  details_open_ = false;
  if (tensor.layout != Layout::kStrided) detail("layout="), out_ += layout_name(tensor.layout);
  if (tensor.device != Device{}) detail("device="), out_ += tensor.device.str();
  if (!tensor.subclass.empty()) detail("subclass="), word(tensor.subclass);
  if (tensor.requires_grad) detail("requires_grad");
  storage_details(tensor, whole);
  if (details_open_) out_ += '>';
}

void TextPrinter::storage_details(const TensorMeta& tensor, bool whole) {
  const bool stored = has_storage_by_default(tensor.layout);
  if (!tensor.stride && stored) detail("stride=none");
  optional_size("offset=", tensor.offset, stored ? std::optional<SymExpr>(0) : std::nullopt);
  if (!tensor.storage) {
    if (stored) detail("storage=none");
  } else if (!stored ||
             *tensor.storage != (whole ? storages_.default_number(*graph_, *node_, tensor) : storages_.next())) {
    const NodeId holder = graph_ != nullptr ? storages_.holder(*tensor.storage) : kNoNode;
    if (holder != kNoNode) {
      detail("alias="), node_name(holder);
    } else {
      detail("storage="), append_int(*tensor.storage, out_);
    }
  }
  const std::optional<SymExpr> usual = storages_.default_bytes(tensor);
  if (tensor.storage && !tensor.storage_bytes) {
    detail("storage_bytes=none");
  } else {
    optional_size("storage_bytes=", tensor.storage_bytes, usual);
  }
}

}  // namespace sapwood::graph
