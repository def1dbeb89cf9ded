#include "partition/agreement.h"

#include <algorithm>
#include <limits>
#include <set>

#include "base/error.h"
#include "partition/canonical_names.h"
#include "partition/joint_view.h"
#include "partition/rank_messages.h"

namespace sapwood::partition {
namespace {

using graph::kNoNode;
using graph::NodeId;
using graph::NodeKind;

constexpr std::string_view kStage = "partition";

std::string rank_text(size_t rank) { return "rank " + std::to_string(rank); }

/// Counts what is exchanged.
class Conversation {
 public:
  Conversation(RankExchange& ranks, AgreementResult& result) : ranks_(ranks), result_(result) {}

  std::vector<std::string> exchange(const std::string& bytes) {
    std::vector<std::string> all = ranks_.all_gather(bytes);
    if (std::ssize(all) != ranks_.size()) {
      throw_internal(kStage, "the exchange between ranks returned " + std::to_string(all.size()) + " messages for " +
                                 std::to_string(ranks_.size()) + " ranks");
    }
    ++result_.rounds;
    result_.bytes_sent += std::ssize(bytes);
    for (const std::string& message : all) result_.bytes_received += std::ssize(message);
    return all;
  }

 private:
  RankExchange& ranks_;
  AgreementResult& result_;
};

/// Reads every rank's message. All ranks see the same bytes, so all throw or none.
template <typename Message, typename Read>
std::vector<Message> read_all(const std::vector<std::string>& bytes, Read read) {
  std::vector<Message> messages;
  for (size_t rank = 0; rank < bytes.size(); ++rank) {
    std::optional<Message> message = read(bytes[rank]);
    if (!message) {
      throw_user(kStage, rank_text(rank) +
                             " sent a message about its plan that can't be read; run the same version of "
                             "Sapwood on all ranks and let each plan the same graphs in the same order");
    }
    messages.push_back(std::move(*message));
  }
  return messages;
}

/// A value that a plan may name.
bool is_value(const JointView& view, const CanonicalNames& names, NodeId id) {
  return names.contains(id) && view.node(id).kind != NodeKind::kOutput;
}

bool has_collectives(const JointView& view) {
  return std::ranges::any_of(view.order, [&](NodeId id) {
    return view.is_call(id) && (view.is_collective(id) || view.node(id).target.starts_with("c10d_functional."));
  });
}

/// The plan in canonical names, sorted by node. A node that the graph doesn't have keeps its number, marked.
std::vector<std::string> plan_names(const JointView& view, const CanonicalNames& names,
                                    const std::vector<NodeId>& saved) {
  std::set<int32_t> known;
  std::set<NodeId> unknown;
  for (const NodeId id : saved) {
    if (is_value(view, names, id)) {
      known.insert(names.index[static_cast<size_t>(id)]);
    } else {
      unknown.insert(id);
    }
  }
  std::vector<std::string> list;
  for (const NodeId id : unknown) list.push_back("number " + std::to_string(id));
  for (const int32_t index : known) list.push_back(names.name(names.order[static_cast<size_t>(index)]));
  return list;
}

class Negotiation {
 public:
  Negotiation(const graph::Graph& joint, std::vector<NodeId> saved, RankExchange& ranks)
      : view_(view_joint(joint, false)), names_(canonical_names(joint)), ranks_(ranks), talk_(ranks, result_) {
    result_.saved = std::move(saved);
    result_.rank = ranks.rank();
    own_plan_ = plan_names(view_, names_, result_.saved);
  }

  AgreementResult run() {
    const std::vector<PlanHash> hashes = exchange_hashes();
    const auto same = [&](auto field) {
      return std::ranges::all_of(hashes, [&](const PlanHash& h) { return h.*field == hashes[0].*field; });
    };
    // A plan that is wrong by itself must fail on all ranks, also where the others can't use it.
    const bool sound = std::ranges::none_of(hashes, &PlanHash::names_unknown_node);
    if (!sound) throw_unknown(exchange_plans());
    if (!same(&PlanHash::graph))
      return keep(Agreement::kDifferentGraphs, "the ranks compile different graphs, so each keeps its own plan");
    if (same(&PlanHash::plan)) return keep(Agreement::kEqualPlans, "all ranks made the same plan");
    if (!hashes[0].has_collectives) {
      return keep(Agreement::kNoCollectives,
                  "the plans of the ranks differ, but the graph has no collectives, so each keeps its own");
    }
    take_cheapest(exchange_plans());
    return std::move(result_);
  }

 private:
  std::vector<PlanHash> exchange_hashes() {
    PlanHash own;
    own.has_collectives = has_collectives(view_);
    own.names_unknown_node =
        !std::ranges::all_of(result_.saved, [&](NodeId id) { return is_value(view_, names_, id); });
    own.graph = names_.hash;
    own.plan = hash128_bytes(write_plan(own_plan_));
    return read_all<PlanHash>(talk_.exchange(write_hash(own)), read_hash);
  }

  std::vector<std::vector<std::string>> exchange_plans() {
    return read_all<std::vector<std::string>>(talk_.exchange(write_plan(own_plan_)), read_plan);
  }

  AgreementResult keep(Agreement outcome, std::string_view reason) {
    result_.outcome = outcome;
    result_.reason = reason;
    return std::move(result_);
  }

  /// Names the first node that no graph has. It is found on all ranks or on none: all see the same lists.
  [[noreturn]] void throw_unknown(const std::vector<std::vector<std::string>>& plans) const {
    for (size_t rank = 0; rank < plans.size(); ++rank)
      for (const std::string& name : plans[rank])
        if (!name.starts_with("node_")) throw_unknown_node(rank, name);
    throw_user(kStage,
               "a rank says that its plan names an unknown node, but no plan does; run the same version of "
               "Sapwood on all ranks");
  }

  [[noreturn]] static void throw_unknown_node(size_t rank, const std::string& name) {
    throw_user(kStage, "the plan of " + rank_text(rank) + " names the unknown node '" + name +
                           "'; hand over the graph for which the plan was made");
  }

  std::vector<NodeId> nodes_of(size_t rank, const std::vector<std::string>& plan) const {
    std::vector<NodeId> nodes;
    for (const std::string& name : plan) {
      const NodeId id = names_.find(name);
      if (!is_value(view_, names_, id)) throw_unknown_node(rank, name);
      nodes.push_back(id);
    }
    return nodes;
  }

  int64_t total_bytes(const std::vector<NodeId>& nodes) const {
    int64_t sum = 0;
    for (const NodeId id : nodes)
      if (__builtin_add_overflow(sum, view_.bytes(id), &sum)) return std::numeric_limits<int64_t>::max();
    return sum;
  }

  void take_cheapest(const std::vector<std::vector<std::string>>& plans) {
    std::vector<std::vector<NodeId>> nodes;
    std::vector<int64_t> own_totals;
    for (size_t rank = 0; rank < plans.size(); ++rank) {
      nodes.push_back(nodes_of(rank, plans[rank]));
      own_totals.push_back(total_bytes(nodes.back()));
    }
    const auto read = [&](std::string_view bytes) { return read_totals(bytes, plans.size()); };
    const auto totals = read_all<std::vector<int64_t>>(talk_.exchange(write_totals(own_totals)), read);
    result_.totals.assign(plans.size(), 0);
    for (const std::vector<int64_t>& of_rank : totals)
      for (size_t i = 0; i < plans.size(); ++i) result_.totals[i] = std::max(result_.totals[i], of_rank[i]);
    const auto winner = static_cast<size_t>(std::ranges::min_element(result_.totals) - result_.totals.begin());
    if (plans[winner] != own_plan_) {
      result_.saved = std::move(nodes[winner]);
      std::ranges::sort(result_.saved, {}, [&](NodeId id) { return view_.position[static_cast<size_t>(id)]; });
    }
    result_.outcome = Agreement::kTookPlan;
    result_.rank = static_cast<int>(winner);
    result_.reason = "the plans of the ranks differ; that of " + rank_text(winner) + " saves the least, " +
                     std::to_string(result_.totals[winner]) + " bytes on the rank where it saves most";
  }

  JointView view_;
  CanonicalNames names_;
  RankExchange& ranks_;
  AgreementResult result_;
  Conversation talk_;
  std::vector<std::string> own_plan_;
};

}  // namespace

AgreementResult agree_on_saved_values(const graph::Graph& joint, std::vector<NodeId> saved, RankExchange& ranks) {
  return Negotiation(joint, std::move(saved), ranks).run();
}

}  // namespace sapwood::partition
