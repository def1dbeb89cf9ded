#include <cmath>

#include "graph/json_names.h"
#include "graph/json_writer.h"
#include "graph/number_text.h"

namespace sapwood::graph {

namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace

void JsonWriter::arguments(const ArgumentList& items) {
  join(items, '[', ']', [&](const Argument& item) { argument(item); });
}

void JsonWriter::named_arguments(const std::vector<std::pair<std::string, Argument>>& items) {
  join(items, '{', '}', [&](const auto& item) {
    string(item.first);
    out_ += ':';
    argument(item.second);
  });
}

void JsonWriter::float_argument(double v) {
  if (!std::isfinite(v)) out_ += "{\"float\":\"";
  append_float(v, out_);
  if (!std::isfinite(v)) out_ += "\"}";
}

void JsonWriter::argument(const Argument& arg) {
  const auto tagged = [&](std::string_view tag, std::string_view text) {
    out_ += "{\"";
    out_ += tag;
    out_ += "\":";
    string(text);
    out_ += '}';
  };
  const auto tagged_list = [&](std::string_view tag, const ArgumentList& items) {
    out_ += "{\"";
    out_ += tag;
    out_ += "\":";
    arguments(items);
    out_ += '}';
  };
  std::visit(Overloaded{
                 [&](NoneArg) { out_ += "null"; },
                 [&](NodeArg v) { tagged("node", (*graph_)[v.id].name); },
                 [&](bool v) { boolean(v); },
                 [&](int64_t v) { integer(v); },
                 [&](double v) { float_argument(v); },
                 [&](const std::string& v) { string(v); },
                 [&](const std::complex<double>& v) {
                   out_ += "{\"complex\":[";
                   float_argument(v.real());
                   out_ += ',';
                   float_argument(v.imag());
                   out_ += "]}";
                 },
                 [&](DType v) { tagged("dtype", dtype_name(v)); },
                 [&](const Device& v) { tagged("device", v.str()); },
                 [&](Layout v) { tagged("layout", layout_name(v)); },
                 [&](MemoryFormat v) { tagged("memory_format", memory_format_name(v)); },
                 [&](const SymExpr& v) {
                   out_ += "{\"sym\":";
                   string(v.str());
                   hints(v, false);
                   out_ += '}';
                 },
                 [&](const ListArg& v) { arguments(v.items); },
                 [&](const TupleArg& v) { tagged_list("tuple", v.items); },
                 [&](const DictArg& v) {
                   out_ += "{\"dict\":";
                   named_arguments(v.items);
                   out_ += '}';
                 },
                 [&](const SliceArg& v) { tagged_list("slice", v.bounds); },
                 [&](const OperatorArg& v) { tagged("operator", v.name); },
                 [&](const OpaqueArg& v) { tagged("opaque", v.repr); },
             },
             arg.value);
}

void JsonWriter::values(const std::vector<Value>& items) {
  join(items, '[', ']', [&](const Value& item) { value(item); });
}

void JsonWriter::value(const Value& val) {
  if (val.as<NoneValue>() != nullptr) {
    out_ += "null";
    return;
  }
  const auto key = [&](std::string_view tag) {
    out_ += "{\"";
    out_ += tag;
    out_ += "\":";
  };
  std::visit(Overloaded{
                 [&](const NoneValue&) {},
                 [&](const TensorMeta& v) { key("tensor"), tensor(v); },
                 [&](const SymIntValue& v) { key("symint"), string(v.expr.str()), hints(v.expr, false); },
                 [&](const SymFloatValue& v) {
                   key("symfloat"), string(v.expr), out_ += ",\"hint\":";
                   v.hint ? float_argument(*v.hint) : void(out_ += "null");
                 },
                 [&](const SymBoolValue& v) {
                   key("symbool"), string(v.expr.str()), out_ += ",\"hint\":";
                   const auto hint = v.expr.hint(root_.symbols);
                   out_ += !hint ? "null" : *hint != 0 ? "true" : "false";
                 },
                 [&](const TupleValue& v) { key("tuple"), values(v.items); },
                 [&](const ListValue& v) { key("list"), values(v.items); },
                 [&](const DictValue& v) {
                   key("dict");
                   join(v.items, '{', '}',
                        [&](const auto& item) { string(item.first), out_ += ':', value(item.second); });
                 },
                 [&](const ConstValue& v) { key("const"), argument(v.value); },
                 [&](const OpaqueValue& v) { key("opaque"), string(v.repr); },
             },
             val.value);
  out_ += '}';
}

void JsonWriter::tensor(const TensorMeta& t) {
  out_ += "{\"dtype\":";
  string(dtype_name(t.dtype));
  out_ += ",\"device\":";
  string(t.device.str());
  out_ += ",\"shape\":";
  sizes(t.shape);
  const auto optional_size = [&](std::string_view key, const std::optional<SymExpr>& v) {
    out_ += key;
    v ? size(*v, true) : void(out_ += "null");
  };
  out_ += ",\"stride\":";
  t.stride ? sizes(*t.stride) : void(out_ += "null");
  optional_size(",\"offset\":", t.offset);
  out_ += ",\"storage\":";
  optional_integer(t.storage ? std::optional<int64_t>(*t.storage) : std::nullopt);
  optional_size(",\"storage_bytes\":", t.storage_bytes);
  out_ += ",\"requires_grad\":";
  boolean(t.requires_grad);
  out_ += ",\"layout\":";
  string(layout_name(t.layout));
  bool symbolic = false;
  for (const SymExpr& s : t.shape) symbolic = symbolic || !s.is_const();
  if (symbolic) {
    out_ += ",\"numel_hint\":";
    optional_integer(t.numel().hint_or(root_.symbols, kFallbackHint));
  }
  if (!t.subclass.empty()) {
    out_ += ",\"subclass\":";
    string(t.subclass);
  }
  out_ += '}';
}

void JsonWriter::sizes(const std::vector<SymExpr>& items) {
  join(items, '[', ']', [&](const SymExpr& item) { size(item, true); });
}

void JsonWriter::size(const SymExpr& expr, bool fallback) {
  if (expr.is_const()) {
    integer(expr.value());
    return;
  }
  out_ += "{\"sym\":";
  string(expr.str());
  hints(expr, fallback);
  out_ += '}';
}

/// The hint of a symbolic expression, and its fallback where it has none.
void JsonWriter::hints(const SymExpr& expr, bool fallback) {
  const std::optional<int64_t> hint = expr.hint(root_.symbols);
  out_ += ",\"hint\":";
  optional_integer(hint);
  if (hint || !fallback) return;
  out_ += ",\"fallback_hint\":";
  optional_integer(expr.hint_or(root_.symbols, kFallbackHint));
}

}  // namespace sapwood::graph
