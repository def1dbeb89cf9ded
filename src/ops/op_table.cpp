#include "ops/op_table.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ops/rows.h"

namespace sapwood::ops {
namespace {

using graph::Graph;
using graph::Node;
using graph::NodeKind;
using graph::OpDecl;

constexpr std::string_view kFunctionalCollectives = "_c10d_functional.";

/// "aten.add.Tensor" -> "aten.add"; names of Python callables have no overload.
std::string packet_of(std::string_view name, bool has_overload) {
  return std::string(has_overload ? name.substr(0, name.rfind('.')) : name);
}

void set_schema(OpInfo& info, std::string_view text) {
  if (text.empty()) return;
  info.schema = std::make_shared<const Schema>(parse_schema(text));
  info.is_mutable = info.schema->is_mutable();
  info.is_view = info.schema->is_view();
}

OpInfo from_row(const OpRow& row) {
  OpInfo info;
  info.name = std::string(row.name);
  info.packet = packet_of(row.name, !row.schema.empty());
  set_schema(info, row.schema);
  info.op_class = row.op_class;
  info.remat = row.remat;
  info.flops = row.flops;
  info.known = true;
  info.draws = (row.flags & kDraws) != 0;
  info.effect = (row.flags & kEffect) != 0;
  return info;
}

std::vector<OpRow> gather_rows() {
  std::vector<OpRow> rows;
  for (const auto family : {pointwise_unary_rows(),
                            pointwise_activation_rows(),
                            pointwise_binary_rows(),
                            pointwise_inplace_rows(),
                            reduction_rows(),
                            view_rows(),
                            matmul_rows(),
                            convolution_rows(),
                            attention_rows(),
                            recurrent_rows(),
                            normalization_rows(),
                            loss_rows(),
                            indexing_rows(),
                            random_rows(),
                            creation_rows(),
                            optimizer_rows(),
                            collective_rows(),
                            transfer_rows(),
                            prims_rows(),
                            other_rows(),
                            scalar_rows()}) {
    rows.insert(rows.end(), family.begin(), family.end());
  }
  return rows;
}

using Table = std::unordered_map<std::string_view, OpInfo>;

Table build_table() {
  Table table;
  const auto rows = all_rows();
  table.reserve(rows.size());
  for (const OpRow& row : rows) table.emplace(row.name, from_row(row));
  return table;
}

bool has_tag(const OpDecl& decl, std::string_view tag) { return std::ranges::find(decl.tags, tag) != decl.tags.end(); }

/// Safe answers for an operator without a row, from what the graph says about it.
OpInfo from_declaration(const std::string& target, const OpDecl& decl) {
  OpInfo info;
  info.name = target;
  info.packet = packet_of(target, true);
  set_schema(info, decl.schema);
  info.is_mutable = decl.is_mutable;
  info.is_view = decl.is_view;
  info.draws = has_tag(decl, "nondeterministic_seeded");
  if (target.starts_with(kFunctionalCollectives)) info.op_class = OpClass::kCollective;
  if (info.draws) info.op_class = OpClass::kRandom;
  if (target.starts_with("aten.") && has_tag(decl, "pointwise") && !info.draws) {
    info.op_class = OpClass::kPointwise;
    info.remat = Remat::kRecompute;
  }
  return info;
}

}  // namespace

std::span<const OpRow> all_rows() {
  static const std::vector<OpRow> rows = gather_rows();
  return rows;
}

const OpInfo* find_op(std::string_view target) {
  static const Table table = build_table();
  const auto found = table.find(target);
  return found == table.end() ? nullptr : &found->second;
}

OpInfo describe(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kCallFunction) return {};
  if (const OpInfo* known = find_op(node.target)) return *known;
  const auto declared = graph.ops.find(node.target);
  if (declared != graph.ops.end()) return from_declaration(node.target, declared->second);
  OpInfo unknown;
  unknown.name = node.target;
  unknown.packet = node.target;
  // A graph says of each higher-order call whether it has an effect. Of anything else nothing is known, not even a
  // schema: it may do anything, so it is kept where it is.
  const bool is_python_function = node.target.starts_with("operator.") || node.target.starts_with("math.");
  unknown.effect = node.target.starts_with("higher_order.") ? node.meta->impure : !is_python_function;
  return unknown;
}

bool draws_numbers(const OpInfo& info, const Node& call) {
  if (info.packet == "rngprims.philox_rand") return false;  // its numbers follow from the seed that it is given
  const int index = info.draws && info.schema ? info.schema->argument_index("dropout_p") : -1;
  if (index < 0) return info.draws;
  const auto at = static_cast<size_t>(index);
  const graph::Argument* value = at < call.args.size() ? &call.args[at] : nullptr;
  for (const auto& [name, argument] : call.kwargs)
    if (name == "dropout_p") value = &argument;
  if (!value) return info.schema->arguments[at].default_value != "0.";
  const auto* probability = value->as<double>();
  return !probability || *probability != 0.0;
}

std::string_view op_class_name(OpClass op_class) {
  switch (op_class) {
    case OpClass::kPointwise:
      return "pointwise";
    case OpClass::kReduction:
      return "reduction";
    case OpClass::kScan:
      return "scan";
    case OpClass::kView:
      return "view";
    case OpClass::kCopy:
      return "copy";
    case OpClass::kMatmul:
      return "matmul";
    case OpClass::kConvolution:
      return "convolution";
    case OpClass::kPooling:
      return "pooling";
    case OpClass::kAttention:
      return "attention";
    case OpClass::kRecurrent:
      return "recurrent";
    case OpClass::kNormalization:
      return "normalization";
    case OpClass::kSoftmax:
      return "softmax";
    case OpClass::kLoss:
      return "loss";
    case OpClass::kIndexing:
      return "indexing";
    case OpClass::kRandom:
      return "random";
    case OpClass::kCreation:
      return "creation";
    case OpClass::kForeach:
      return "foreach";
    case OpClass::kOptimizer:
      return "optimizer";
    case OpClass::kCollective:
      return "collective";
    case OpClass::kScalar:
      return "scalar";
    case OpClass::kAssertion:
      return "assertion";
    case OpClass::kOther:
      return "other";
  }
  return "other";
}

}  // namespace sapwood::ops
