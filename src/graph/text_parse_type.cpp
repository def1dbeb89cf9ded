#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/error.h"
#include "base/suggest.h"
#include "graph/json_names.h"
#include "graph/text_parser.h"

namespace sapwood::graph {

namespace {

constexpr std::array<std::string_view, 9> kDetails = {"layout", "device",  "subclass", "requires_grad", "stride",
                                                      "offset", "storage", "alias",    "storage_bytes"};

}  // namespace

Value TextParser::parse_value() {
  if (in_.take('(')) return TupleValue{parse_values(')')};
  if (in_.take('[')) return ListValue{parse_values(']')};
  if (in_.take('{')) return parse_dict_value();
  if (in_.take_word("None")) return NoneValue{};
  if (in_.peek().kind != TokenKind::kWord)
    in_.fail_expected("a type, like float32[2, 3], (float32[2], None) or symint(s0)");
  return parse_word_value();
}

std::vector<Value> TextParser::parse_values(char close) {
  std::vector<Value> items;
  deeper();
  while (!in_.take(close)) {
    count_item(items.size());
    items.push_back(parse_value());
    if (in_.take(close)) break;
    in_.expect(',', std::string("or \"") + close + "\" after a type");
  }
  --depth_;
  return items;
}

Value TextParser::parse_dict_value() {
  DictValue dict;
  deeper();
  while (!in_.take('}')) {
    count_item(dict.items.size());
    std::string key = parse_text("a key in double quotes");
    in_.expect(':', "after the key");
    dict.items.emplace_back(std::move(key), parse_value());
    if (in_.take('}')) break;
    in_.expect(',', "or \"}\" after an entry");
  }
  --depth_;
  return dict;
}

Value TextParser::parse_word_value() {
  const std::string_view word = in_.peek().text;
  const bool symbolic = word == "symint" || word == "symbool";
  if (!symbolic && word != "symfloat" && word != "const" && word != "opaque") return parse_tensor();
  in_.skip();
  in_.expect('(', "after " + std::string(word));
  Value out;
  if (symbolic) {
    const std::string_view text = in_.raw_until(")");
    const SymExpr expr = expression(text, static_cast<size_t>(text.data() - in_.source().data()));
    out = word == "symint" ? Value(SymIntValue{expr}) : Value(SymBoolValue{expr});
  } else if (word == "symfloat") {
    SymFloatValue value{parse_text("an expression in double quotes"), std::nullopt};
    if (in_.take(',')) value.hint = parse_real();
    out = std::move(value);
  } else if (word == "const") {
    out = ConstValue{parse_argument()};
  } else {
    out = OpaqueValue{parse_text("text in double quotes")};
  }
  in_.expect(')', "to close " + std::string(word) + "(");
  return out;
}

TensorMeta TextParser::parse_tensor() {
  const Token token = in_.peek();
  if (token.kind != TokenKind::kWord) in_.fail_expected("a tensor type, like float32[2, 3]");
  const auto dtype = dtype_from_name(token.text);
  if (!dtype) in_.fail(token.begin, unknown_dtype(token.text));
  in_.skip();
  TensorMeta tensor;
  tensor.dtype = *dtype;
  in_.expect('[', "after the dtype, to open the shape");
  tensor.shape = parse_sizes(']');
  if (!is_countable(tensor)) in_.fail(token.begin, "the number of elements doesn't fit 64 bits; correct the shape");
  OpenTensor open;
  open.begin = token.begin;
  open.stride = !in_.take('{');
  if (!open.stride) tensor.stride = parse_sizes('}');
  if (!open.stride && tensor.stride->size() != tensor.shape.size()) {
    in_.fail(token.begin, "the shape has " + std::to_string(tensor.shape.size()) + " dimensions, but there are " +
                              std::to_string(tensor.stride->size()) + " strides");
  }
  if (in_.take('<')) parse_details(tensor, open);
  const bool stored = has_storage_by_default(tensor.layout);
  if (open.stride && stored) tensor.stride = contiguous_strides(tensor.shape);
  if (open.offset && stored) tensor.offset = SymExpr(0);
  open.number = open.number && stored;
  open_.push_back(open);
  return tensor;
}

void TextParser::parse_details(TensorMeta& tensor, OpenTensor& open) {
  while (!in_.take('>')) {
    const Token token = in_.peek();
    if (token.kind != TokenKind::kWord)
      in_.fail_expected("a detail of the tensor, like requires_grad or device=cuda:0");
    const std::string key(token.text);
    in_.skip();
    if (key == "requires_grad") {
      tensor.requires_grad = true;
    } else {
      const bool known = std::find(kDetails.begin(), kDetails.end(), key) != kDetails.end();
      if (!known)
        in_.fail(token.begin, "unknown detail of a tensor " + quoted_excerpt(key) + did_you_mean(key, kDetails));
      in_.expect('=', "after " + key);
      parse_detail(key, tensor, open);
    }
    if (in_.take('>')) break;
    in_.expect(',', "or \">\" after a detail");
  }
}

void TextParser::parse_detail(std::string_view key, TensorMeta& tensor, OpenTensor& open) {
  const size_t begin = in_.peek().begin;
  const auto optional_size = [&]() -> std::optional<SymExpr> {
    if (in_.take_word("none")) return std::nullopt;
    return parse_size(",>");
  };
  if (key == "layout") {
    const std::string name = parse_word_or_string("a layout");
    const auto layout = layout_from_name(name);
    if (!layout) in_.fail(begin, unknown_layout(name));
    tensor.layout = *layout;
  } else if (key == "device") {
    const std::string_view name = in_.raw_until(",>");
    auto device = Device::parse(name);
    if (!device)
      in_.fail(begin, "malformed device " + quoted_excerpt(name) +
                          "; write a type with an optional index, like cpu or cuda:0");
    tensor.device = *std::move(device);
  } else if (key == "subclass") {
    tensor.subclass = parse_word_or_string("the name of the subclass");
  } else if (key == "stride") {
    if (!in_.take_word("none")) in_.fail_expected("none (strides are written in braces after the shape)");
    tensor.stride.reset();
    open.stride = false;
  } else if (key == "offset") {
    tensor.offset = optional_size();
    open.offset = false;
  } else if (key == "storage_bytes") {
    tensor.storage_bytes = optional_size();
    open.bytes = false;
  } else {
    open.number = false;
    key == "alias" ? parse_alias(tensor) : parse_storage(tensor);
  }
}

void TextParser::parse_storage(TensorMeta& tensor) {
  tensor.storage.reset();
  if (in_.take_word("none")) return;
  const size_t begin = in_.peek().begin;
  const int64_t number = parse_int();
  if (number < 0 || number > std::numeric_limits<int32_t>::max())
    in_.fail(begin, "expected a storage number from 0 to 2147483647");
  tensor.storage = static_cast<int32_t>(number);
}

void TextParser::parse_alias(TensorMeta& tensor) {
  if (in_.peek().kind != TokenKind::kNode) in_.fail_expected("a node, like alias=%primals_1");
  const size_t begin = in_.peek().begin;
  const NodeId id = parse_node_reference();
  const TensorMeta* base = (*graph_)[id].tensor();
  if (base == nullptr || !base->storage)
    in_.fail(begin, "%" + (*graph_)[id].name + " is not a tensor with a storage; write storage=<number>");
  tensor.storage = base->storage;
}

std::vector<SymExpr> TextParser::parse_sizes(char close) {
  std::vector<SymExpr> sizes;
  const std::string ends = std::string(",") + close;
  while (!in_.take(close)) {
    count_item(sizes.size());
    if (sizes.empty()) sizes.reserve(4);  // most shapes are no longer: one allocation
    sizes.push_back(parse_size(ends));
    if (in_.take(close)) break;
    in_.expect(',', std::string("or \"") + close + "\" after a size");
  }
  return sizes;
}

SymExpr TextParser::parse_size(std::string_view ends) {
  const std::string_view text = in_.raw_until(ends);
  const size_t begin = static_cast<size_t>(text.data() - in_.source().data());
  int64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  if (error == std::errc() && end == text.data() + text.size()) return size;
  if (text.empty()) in_.fail(begin, "expected a size: an integer or an expression of symbols");
  return expression(text, begin);
}

SymExpr TextParser::expression(std::string_view text, size_t begin) {
  if (const auto known = expressions_.find(std::string(text)); known != expressions_.end()) return known->second;
  SymExpr expr;
  try {
    expr = SymExpr::parse(text);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kUser) throw;
    in_.fail(begin, error.message());
  }
  std::vector<std::string_view> declared;
  for (const auto& [name, info] : *symbols_) declared.push_back(name);
  for (const std::string& symbol : expr.free_symbols()) {
    if (symbols_->contains(symbol)) continue;
    const std::string hint = did_you_mean(symbol, declared);
    in_.fail(begin, "the symbol " + quoted_excerpt(symbol) + " is not declared" +
                        (hint.empty() ? "; add \"symbol " + symbol + " = <hint>\" above" : hint));
  }
  expressions_.emplace(std::string(text), expr);
  return expr;
}

void TextParser::settle(const Node& node, Value& val, bool whole) {
  if (auto* tensor = val.as<TensorMeta>()) return settle_tensor(&node, *tensor, whole);
  if (auto* tuple = val.as<TupleValue>()) {
    for (Value& item : tuple->items) settle(node, item, false);
  } else if (auto* list = val.as<ListValue>()) {
    for (Value& item : list->items) settle(node, item, false);
  } else if (auto* dict = val.as<DictValue>()) {
    for (auto& [key, item] : dict->items) settle(node, item, false);
  }
}

/// Fills in what the text of the next tensor left out. `node`: null for an attribute.
void TextParser::settle_tensor(const Node* node, TensorMeta& tensor, bool whole) {
  const OpenTensor& open = open_[settled_++];
  if (open.number) tensor.storage = whole ? storages_.default_number(*graph_, *node, tensor) : storages_.next();
  if (open.bytes && tensor.storage) {
    tensor.storage_bytes = storages_.default_bytes(tensor);
    if (!tensor.storage_bytes)
      in_.fail(open.begin, "the bytes of the storage don't follow from this type; add <storage_bytes=...>");
  }
  storages_.record(tensor, kNoNode);
}

}  // namespace sapwood::graph
