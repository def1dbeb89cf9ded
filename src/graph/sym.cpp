#include "graph/sym.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "graph/names.h"
#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

void collect_symbols(const SymExpr& expr, std::set<std::string>& names) {
  if (expr.is_const()) return;
  if (expr.op() == SymOp::kSymbol) names.insert(expr.name());
  for (const SymExpr& operand : expr.operands()) collect_symbols(operand, names);
}

bool is_word_of_syntax(std::string_view name) {
  return name == "True" || name == "False" || name == "and" || name == "or" || name == "not";
}

}  // namespace

std::shared_ptr<const SymNode> make_sym_node(SymOp op, std::string_view name, std::vector<SymExpr> operands) {
  SymNode node;
  node.op = op;
  node.name = name;
  node.hash = hash_mix(hash_bytes(name), static_cast<uint64_t>(op));
  for (const SymExpr& operand : operands) {
    node.hash = hash_mix(node.hash, operand.hash());
    node.depth = std::max(node.depth, operand.depth() + 1);
    node.size += operand.size();
  }
  if (node.depth > kMaxSymDepth)
    throw_user(kSymStage, "an expression is nested more than " + std::to_string(kMaxSymDepth) + " levels deep");
  if (node.size > kMaxSymSize)
    throw_user(kSymStage, "an expression has more than " + std::to_string(kMaxSymSize) + " parts");
  node.operands = std::move(operands);
  return std::make_shared<const SymNode>(std::move(node));
}

SymExpr make_canonical(SymOp op, std::vector<SymExpr> operands) {
  return SymExpr(make_sym_node(op, {}, std::move(operands)));
}

SymProduct split_product(const SymExpr& expr) {
  if (expr.is_const()) return {expr.value(), {}};
  if (expr.op() != SymOp::kMul) return {1, {&expr, 1}};
  const std::span<const SymExpr> operands = expr.operands();
  if (!operands.front().is_const()) return {1, operands};
  return {operands.front().value(), operands.subspan(1)};
}

SymPower split_power(const SymExpr& factor) {
  if (factor.op() != SymOp::kPow || !factor.operands()[1].is_const()) return {&factor, 1};
  return {&factor.operands()[0], factor.operands()[1].value()};
}

SymExpr::SymExpr() = default;
SymExpr::SymExpr(int64_t value) : value_(value) {}
SymExpr::SymExpr(std::shared_ptr<const SymNode> node) : node_(std::move(node)) {}

SymExpr SymExpr::symbol(std::string_view name) {
  if (!is_legal_name(name) || name.size() > kMaxSymbolLength || is_word_of_syntax(name))
    throw_user(kSymStage, "'" + std::string(name.substr(0, kMaxSymbolLength)) + "' cannot be the name of a symbol");
  return SymExpr(make_sym_node(SymOp::kSymbol, name, {}));
}

bool SymExpr::is_const() const { return !node_; }

int64_t SymExpr::value() const {
  if (node_) throw_internal(kSymStage, "value() of '" + str() + "', which is not a constant");
  return value_;
}

SymOp SymExpr::op() const { return node_ ? node_->op : SymOp::kConst; }

const std::string& SymExpr::name() const {
  if (op() != SymOp::kSymbol) throw_internal(kSymStage, "name() of '" + str() + "', which is not a symbol");
  return node_->name;
}

const std::vector<SymExpr>& SymExpr::operands() const {
  static const std::vector<SymExpr> kNone;
  return node_ ? node_->operands : kNone;
}

uint64_t SymExpr::hash() const { return node_ ? node_->hash : hash_mix(0, static_cast<uint64_t>(value_)); }

int32_t SymExpr::depth() const { return node_ ? node_->depth : 0; }

int64_t SymExpr::size() const { return node_ ? node_->size : 1; }

std::vector<std::string> SymExpr::free_symbols() const {
  std::set<std::string> names;
  collect_symbols(*this, names);
  return {names.begin(), names.end()};
}

bool operator==(const SymExpr& a, const SymExpr& b) {
  if (a.node_ == b.node_) return a.node_ || a.value_ == b.value_;
  if (!a.node_ || !b.node_ || a.node_->hash != b.node_->hash) return false;
  return a.node_->op == b.node_->op && a.node_->name == b.node_->name && a.node_->operands == b.node_->operands;
}

SymExpr operator+(const SymExpr& a, const SymExpr& b) { return SymExpr::make(SymOp::kAdd, {a, b}); }
SymExpr operator-(const SymExpr& a, const SymExpr& b) { return a + SymExpr(-1) * b; }
SymExpr operator*(const SymExpr& a, const SymExpr& b) { return SymExpr::make(SymOp::kMul, {a, b}); }

}  // namespace sapwood::graph
