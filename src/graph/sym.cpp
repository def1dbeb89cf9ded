#include "graph/sym.h"

#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "graph/sym_node.h"

namespace sapwood::graph {
namespace {

constexpr std::string_view kStage = "symbolic size";

void collect_symbols(const SymExpr& expr, std::set<std::string>& names) {
  if (expr.is_const()) return;
  if (expr.op() == SymOp::kSymbol) names.insert(expr.name());
  for (const SymExpr& operand : expr.operands()) collect_symbols(operand, names);
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
  }
  if (node.depth > kMaxSymDepth)
    throw_user(kStage, "an expression is nested more than " + std::to_string(kMaxSymDepth) + " levels deep");
  node.operands = std::move(operands);
  return std::make_shared<const SymNode>(std::move(node));
}

SymExpr make_canonical(SymOp op, std::vector<SymExpr> operands) {
  return SymExpr(make_sym_node(op, {}, std::move(operands)));
}

SymExpr::SymExpr() = default;
SymExpr::SymExpr(int64_t value) : value_(value) {}
SymExpr::SymExpr(std::shared_ptr<const SymNode> node) : node_(std::move(node)) {}

SymExpr SymExpr::symbol(std::string_view name) { return SymExpr(make_sym_node(SymOp::kSymbol, name, {})); }

bool SymExpr::is_const() const { return !node_; }

int64_t SymExpr::value() const {
  if (node_) throw_internal(kStage, "value() of '" + str() + "', which is not a constant");
  return value_;
}

SymOp SymExpr::op() const { return node_ ? node_->op : SymOp::kConst; }

const std::string& SymExpr::name() const {
  if (op() != SymOp::kSymbol) throw_internal(kStage, "name() of '" + str() + "', which is not a symbol");
  return node_->name;
}

const std::vector<SymExpr>& SymExpr::operands() const {
  static const std::vector<SymExpr> kNone;
  return node_ ? node_->operands : kNone;
}

uint64_t SymExpr::hash() const { return node_ ? node_->hash : hash_mix(0, static_cast<uint64_t>(value_)); }

int32_t SymExpr::depth() const { return node_ ? node_->depth : 0; }

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
