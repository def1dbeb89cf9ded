#include <array>
#include <limits>

#include "base/error.h"
#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/json_reader.h"
#include "graph/text_defaults.h"

namespace sapwood::graph {

namespace {

using Kind = JsonCursor::Kind;

constexpr size_t kUsualItems = 4;  // most lists are no longer: one allocation

enum ArgKey : uint8_t {
  kNode,
  kTuple,
  kDict,
  kDType,
  kDevice,
  kLayout,
  kMemoryFormat,
  kSlice,
  kFloat,
  kComplex,
  kOperator,
  kOpaque,
  kSym,
  kSymHint,
  kSymFallback,
  kArgKeyCount,
};
constexpr std::array<std::string_view, kArgKeyCount> kArgKeys = {
    "node",  "tuple",   "dict",     "dtype",  "device", "layout", "memory_format", "slice",
    "float", "complex", "operator", "opaque", "sym",    "hint",   "fallback_hint"};

enum ValKey : uint8_t {
  kValTensor,
  kSymInt,
  kSymFloat,
  kSymBool,
  kValTuple,
  kValList,
  kValDict,
  kConst,
  kValOpaque,
  kHint,
  kFallback,
  kValKeyCount
};
constexpr std::array<std::string_view, kValKeyCount> kValKeys = {
    "tensor", "symint", "symfloat", "symbool", "tuple", "list", "dict", "const", "opaque", "hint", "fallback_hint"};

enum TensorKey : uint8_t {
  kTDType,
  kTDevice,
  kShape,
  kStride,
  kOffset,
  kStorage,
  kStorageBytes,
  kRequiresGrad,
  kTLayout,
  kNumelHint,
  kSubclass,
  kTensorKeyCount,
};
constexpr std::array<std::string_view, kTensorKeyCount> kTensorKeys = {
    "dtype",         "device",        "shape",  "stride",     "offset",  "storage",
    "storage_bytes", "requires_grad", "layout", "numel_hint", "subclass"};
constexpr size_t kRequiredTensorKeys = kNumelHint;

constexpr std::array<std::string_view, 3> kSizeKeys = {"sym", "hint", "fallback_hint"};

bool is_hint_key(size_t key, size_t hint) { return key == hint || key == hint + 1; }

}  // namespace

ArgumentList JsonReader::read_arguments() {
  ArgumentList out;
  in_.array([&](size_t index) {
    if (index == 0) out.reserve(kUsualItems);
    out.push_back(read_argument());
  });
  return out;
}

std::vector<std::pair<std::string, Argument>> JsonReader::read_named_arguments() {
  std::vector<std::pair<std::string, Argument>> out;
  in_.object([&](std::string_view key) {
    for (const auto& [name, value] : out) {
      if (name == key) in_.fail("the key occurs twice; keep one");
    }
    std::string name(key);
    out.emplace_back(std::move(name), read_argument());
  });
  return out;
}

Argument JsonReader::read_argument() {
  switch (in_.peek()) {
    case Kind::kNull:
      in_.take_null();
      return {};
    case Kind::kBool:
      return in_.boolean();
    case Kind::kString:
      return in_.string();
    case Kind::kArray:
      return ListArg{read_arguments()};
    case Kind::kObject:
      return read_tagged_argument();
    case Kind::kNumber:
      break;
  }
  const JsonCursor::Number n = in_.number();
  return n.is_int ? Argument(n.integer) : Argument(n.real);
}

Argument JsonReader::read_tagged_argument() {
  Argument out;
  size_t kind = kArgKeyCount;
  std::string expression;
  std::optional<int64_t> hint;
  bool has_hint = false;
  in_.fields(kArgKeys, 0, [&](size_t key) {
    if (is_hint_key(key, kSymHint)) {
      has_hint = true;
      return read_hints(key - kSymHint, hint);
    }
    if (kind != kArgKeyCount) in_.fail("an argument object holds one kind of value, this is a second");
    kind = key;
    if (key == kSym) {
      expression = in_.string();
    } else {
      out = read_tagged(key);
    }
  });
  if (kind == kArgKeyCount || (has_hint && kind != kSym)) {
    in_.fail(
        "expected one of {\"node\"}, {\"tuple\"}, {\"dict\"}, {\"dtype\"}, {\"device\"}, {\"layout\"}, "
        "{\"memory_format\"}, {\"slice\"}, "
        "{\"float\"}, {\"complex\"}, {\"sym\", \"hint\"}, {\"operator\"} or {\"opaque\"}");
  }
  if (kind != kSym) return out;
  check_hint(expression, hint);
  return symbolic(expression).expr;
}

Argument JsonReader::read_tagged(size_t key) {
  switch (static_cast<ArgKey>(key)) {
    case kNode:
      return Argument::node(read_node_name());
    case kTuple:
      return TupleArg{read_arguments()};
    case kDict:
      return DictArg{read_named_arguments()};
    case kDType:
      return read_dtype();
    case kDevice:
      return read_device();
    case kLayout:
      return read_layout();
    case kMemoryFormat: {
      const std::string name = in_.string();
      if (const auto format = memory_format_from_name(name)) return *format;
      in_.fail(unknown_memory_format(name));
    }
    case kSlice: {
      SliceArg slice{read_arguments()};
      if (slice.bounds.size() != 3)
        in_.fail("expected [start, stop, step], got " + std::to_string(slice.bounds.size()) + " elements");
      return slice;
    }
    case kFloat:
      return read_float_word();
    case kComplex: {
      std::vector<double> parts;
      in_.array(
          [&](size_t) {
            const Argument part = in_.peek() == Kind::kObject ? read_tagged_argument() : Argument(in_.real());
            if (part.as<double>() == nullptr) in_.fail("expected a number");
            parts.push_back(*part.as<double>());
          },
          2);
      if (parts.size() != 2) in_.fail("expected [real, imaginary]");
      return std::complex<double>(parts[0], parts[1]);
    }
    case kOperator:
      return OperatorArg{in_.string()};
    default:
      return OpaqueArg{in_.string()};
  }
}

Argument JsonReader::read_float_word() {
  const std::string word = in_.string();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  if (word == "inf") return kInf;
  if (word == "-inf") return -kInf;
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  in_.fail("expected \"inf\", \"-inf\" or \"nan\", got " + quoted_excerpt(word));
}

NodeId JsonReader::read_node_name() {
  const std::string name = in_.string();
  if (graph_ == nullptr) in_.fail("a node can't be named here");
  const NodeId id = graph_->find(name);
  if (id != kNoNode) return id;
  const std::string_view rest = in_.text().substr(in_.offset());
  const bool later = rest.find("\"name\":\"" + name + "\"") != std::string_view::npos ||
                     rest.find("\"name\": \"" + name + "\"") != std::string_view::npos;
  if (later)
    in_.fail("node " + quoted_excerpt(name) +
             " is read before it is defined; order the nodes so that each reads only earlier ones");
  std::vector<std::string_view> names;
  for (NodeId n = graph_->first(); n != kNoNode; n = (*graph_)[n].next) names.push_back((*graph_)[n].name);
  const std::string hint = did_you_mean(name, names);
  in_.fail("unknown node " + quoted_excerpt(name) +
           (hint.empty() ? "; a node reads only earlier nodes of its own graph" : hint));
}

std::vector<Value> JsonReader::read_values() {
  std::vector<Value> out;
  in_.array([&](size_t) { out.push_back(read_value()); });
  return out;
}

Value JsonReader::read_value() {
  if (in_.take_null()) return NoneValue{};
  Value out;
  size_t kind = kValKeyCount;
  std::string expression;
  std::optional<int64_t> hint;
  std::optional<double> real_hint;
  bool has_hint = false;
  in_.fields(kValKeys, 0, [&](size_t key) {
    if (is_hint_key(key, kHint)) {
      has_hint = true;
      if (in_.take_null()) return;
      const Argument recorded = read_argument();
      if (key == kFallback) return;
      if (const auto* b = recorded.as<bool>()) hint = *b ? 1 : 0;
      if (const auto* i = recorded.as<int64_t>()) hint = *i, real_hint = static_cast<double>(*i);
      if (const auto* d = recorded.as<double>()) real_hint = *d;
      if (!hint && !real_hint) in_.fail("expected a number, a bool or null");
      return;
    }
    if (kind != kValKeyCount) in_.fail("a value holds one kind of metadata, this is a second");
    kind = key;
    if (key == kSymInt || key == kSymFloat || key == kSymBool) {
      expression = in_.string();
    } else {
      out = read_tagged_value(key);
    }
  });
  const bool symbolic_kind = kind == kSymInt || kind == kSymFloat || kind == kSymBool;
  if (kind == kValKeyCount || (has_hint && !symbolic_kind)) {
    in_.fail(
        "expected null or one of {\"tensor\"}, {\"symint\", \"hint\"}, {\"symfloat\", \"hint\"}, {\"symbool\", "
        "\"hint\"}, {\"tuple\"}, {\"list\"}, "
        "{\"dict\"}, {\"const\"} or {\"opaque\"}");
  }
  if (!symbolic_kind) return out;
  if (kind == kSymFloat) return SymFloatValue{expression, real_hint};
  if (real_hint && !hint) in_.fail("hint: expected an integer, got a float");
  check_hint(expression, hint);
  if (kind == kSymInt) return SymIntValue{symbolic(expression).expr};
  return SymBoolValue{symbolic(expression).expr};
}

Value JsonReader::read_tagged_value(size_t key) {
  switch (static_cast<ValKey>(key)) {
    case kValTensor:
      return read_tensor();
    case kValTuple:
      return TupleValue{read_values()};
    case kValList:
      return ListValue{read_values()};
    case kValDict: {
      DictValue dict;
      in_.object([&](std::string_view name) {
        std::string owned(name);
        dict.items.emplace_back(std::move(owned), read_value());
      });
      return dict;
    }
    case kConst:
      return ConstValue{read_argument()};
    default:
      return OpaqueValue{in_.string()};
  }
}

TensorMeta JsonReader::read_tensor() {
  TensorMeta tensor;
  in_.fields(kTensorKeys, kRequiredTensorKeys, [&](size_t key) { read_tensor_field(key, tensor); });
  const bool has_storage = tensor.storage.has_value();
  if (tensor.stride.has_value() != has_storage || tensor.offset.has_value() != has_storage ||
      tensor.storage_bytes.has_value() != has_storage) {
    in_.fail("stride, offset, storage and storage_bytes must be all null (a layout without storage) or all given");
  }
  if (!is_countable(tensor)) in_.fail("the number of elements doesn't fit 64 bits; correct the shape");
  if (tensor.stride && tensor.stride->size() != tensor.shape.size()) {
    in_.fail("shape has " + std::to_string(tensor.shape.size()) + " dimensions, but stride has " +
             std::to_string(tensor.stride->size()));
  }
  return tensor;
}

void JsonReader::read_tensor_field(size_t key, TensorMeta& tensor) {
  switch (static_cast<TensorKey>(key)) {
    case kTDType:
      tensor.dtype = read_dtype();
      return;
    case kTDevice:
      tensor.device = read_device();
      return;
    case kShape:
      tensor.shape = read_sizes(false);
      return;
    case kStride:
      if (!in_.take_null()) tensor.stride = read_sizes(true);
      return;
    case kOffset:
      if (!in_.take_null()) tensor.offset = read_size(false);
      return;
    case kStorage: {
      if (in_.take_null()) return;
      const int64_t number = in_.integer();
      if (number < 0 || number > std::numeric_limits<int32_t>::max())
        in_.fail("expected a storage number from 0 to 2147483647");
      tensor.storage = static_cast<int32_t>(number);
      return;
    }
    case kStorageBytes:
      if (!in_.take_null()) tensor.storage_bytes = read_size(false);
      return;
    case kRequiresGrad:
      tensor.requires_grad = in_.boolean();
      return;
    case kTLayout:
      tensor.layout = read_layout();
      return;
    case kNumelHint:
      if (!in_.take_null()) in_.integer();  // derived from the shape and the symbols: only its form is checked
      return;
    default:
      tensor.subclass = in_.string();
      return;
  }
}

DType JsonReader::read_dtype() {
  const std::string name = in_.string();
  if (const auto dtype = dtype_from_name(name)) return *dtype;
  in_.fail(unknown_dtype(name));
}

Layout JsonReader::read_layout() {
  const std::string name = in_.string();
  if (const auto layout = layout_from_name(name)) return *layout;
  in_.fail(unknown_layout(name));
}

Device JsonReader::read_device() {
  const std::string name = in_.string();
  if (auto device = Device::parse(name)) return *std::move(device);
  in_.fail("malformed device " + quoted_excerpt(name) + "; expected a type with an optional index, like cpu or cuda:0");
}

std::vector<SymExpr> JsonReader::read_sizes(bool negative_allowed) {
  std::vector<SymExpr> out;
  in_.array([&](size_t index) {
    if (index == 0) out.reserve(kUsualItems);
    out.push_back(read_size(negative_allowed));
  });
  return out;
}

SymExpr JsonReader::read_size(bool negative_allowed) {
  if (in_.peek() == Kind::kObject) return read_symbolic_size();
  if (in_.peek() != Kind::kNumber) in_.fail_expected("an integer or {\"sym\", \"hint\"}");
  const int64_t size = in_.integer();
  if (size < 0 && !negative_allowed) in_.fail("expected a size of at least 0, got " + std::to_string(size));
  return size;
}

SymExpr JsonReader::read_symbolic_size() {
  std::string expression;
  std::optional<int64_t> hint;
  in_.fields(kSizeKeys, 1, [&](size_t key) {
    if (key == 0) {
      expression = in_.string();
    } else {
      read_hints(key - 1, hint);
    }
  });
  check_hint(expression, hint);
  return symbolic(expression).expr;
}

/// `key` 0: the hint; 1: the fallback hint, which is derived and only has to be an integer.
void JsonReader::read_hints(size_t key, std::optional<int64_t>& hint) {
  if (in_.take_null()) return;
  const int64_t value = in_.integer();
  if (key == 0) hint = value;
}

void JsonReader::check_hint(const std::string& text, const std::optional<int64_t>& hint) {
  if (!symbols_known_) {
    late_checks_.push_back({in_.path(), text, hint});
    return;
  }
  const SymText& known = symbolic(text);
  if (hint && known.hint != hint) in_.fail(hint_mismatch(text, *hint, known.hint));
}

const JsonReader::SymText& JsonReader::symbolic(const std::string& text) {
  if (const auto found = expressions_.find(text); found != expressions_.end()) return found->second;
  SymText parsed;
  try {
    parsed.expr = SymExpr::parse(text);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    in_.fail(error.message());
  }
  if (symbols_known_) {
    for (const std::string& symbol : parsed.expr.free_symbols()) {
      if (symbols_->contains(symbol)) continue;
      in_.fail("expression " + quoted_excerpt(text) + " uses the symbol " + quoted_excerpt(symbol) +
               ", which \"symbols\" doesn't declare");
    }
    parsed.hint = parsed.expr.hint(*symbols_);
  }
  return expressions_.emplace(text, std::move(parsed)).first->second;
}

}  // namespace sapwood::graph
