#include <algorithm>
#include <cmath>

#include "env/action_name.h"
#include "env/bandit/bandit.h"
#include "env/claims/reasoning.h"
#include "env/reference/python_number.h"

namespace starpo {
namespace {

struct BanditArm {
  std::string name;
  bool is_random = false;
  double mean = 0;
  std::vector<double> payouts;
};

// Reads claims about an arm in the words after its name, up to the next name: "Dragon pays more".
class ArmReader {
 public:
  ArmReader(std::string_view reasoning, const std::array<BanditArm, 2>& arms) : reasoning_(reasoning), arms_(arms) {}

  std::vector<Claim> check(std::span<const std::string> actions) {
    std::optional<Claim> choice;
    for (Sentence& sentence : sentences_of(reasoning_)) {
      if (!sentence.is_claim) continue;
      tokens_ = sentence.tokens;
      for (std::size_t at = 0; at < tokens_.size(); ++at) {
        const auto arm = arm_at(at);
        if (!arm) continue;
        const std::size_t end = after_name(at, *arm);
        if (is_chosen(at) && !actions.empty()) choice = choice_claim(at, end, *arm, actions.front());
        read_values(at, end, *arm);
        at = end - 1;
      }
    }
    if (choice) claims_.push_back(std::move(*choice));
    std::ranges::stable_sort(claims_, {}, &Claim::start);
    return std::move(claims_);
  }

 private:
  // Compares with the text, since a name may have several words.
  std::optional<std::size_t> arm_at(std::size_t at) const {
    for (std::size_t arm = 0; arm < arms_.size(); ++arm) {
      const std::size_t end = tokens_[at].start + arms_[arm].name.size();
      const bool is_whole = std::ranges::any_of(
          tokens_, [&](const ReasoningToken& token) { return token.end == end || token.end == end + 2; });
      if (is_whole &&
          equal_ignoring_case(reasoning_.substr(tokens_[at].start, arms_[arm].name.size()), arms_[arm].name))
        return arm;
    }
    return std::nullopt;
  }

  std::size_t after_name(std::size_t at, std::size_t arm) const {
    const std::size_t end = tokens_[at].start + arms_[arm].name.size();
    while (at < tokens_.size() && tokens_[at].start < end) ++at;
    return at;
  }

  // "I try Dragon", "choose the arm: Dragon"
  bool is_chosen(std::size_t at) const {
    bool result = false;
    for (std::size_t i = at; i-- > 0 && at - i <= 4 && !tokens_[i].is(",");) {
      result |= tokens_[i].is_any({"try", "choose", "pick", "pull", "select", "choosing", "picking", "answer"});
      if (tokens_[i].is_any({"than", "not", "or"})) return false;
    }
    return result;
  }

  Claim choice_claim(std::size_t at, std::size_t end, std::size_t arm, const std::string& action) const {
    const bool holds = equal_ignoring_case(action, arms_[arm].name);
    return {tokens_[at].start, tokens_[end - 1].end, ClaimKind::faithfulness, holds,
            holds ? "" : "The action is " + action + "."};
  }

  void read_values(std::size_t at, std::size_t end, std::size_t arm) {
    const BanditArm &own = arms_[arm], &other = arms_[1 - arm];
    const std::string means = own.name + " pays " + format_python_number(own.mean, false) + " on average, " +
                              other.name + " " + format_python_number(other.mean, false) + ".";
    const std::string kind = own.name + (own.is_random ? " pays at random." : " always pays the same.");
    bool is_negated = false;
    for (std::size_t i = end; i < tokens_.size() && i < end + 10 && !arm_at(i); ++i) {
      const ReasoningToken& token = tokens_[i];
      is_negated ^= token.is_any({"not", "never"});
      const auto add = [&](bool is_true, const std::string& fact) { add_claim(at, i, is_true != is_negated, fact); };
      if (token.is_any({"more", "higher", "better", "best", "larger", "greater", "superior"}))
        return add(own.mean > other.mean, means);
      if (token.is_any({"less", "lower", "worse", "worst", "smaller", "fewer", "inferior"}))
        return add(own.mean < other.mean, means);
      if (token.is_any({"risky", "riskier", "volatile", "variable", "random", "uncertain", "gamble"}))
        add(own.is_random, kind);
      if (token.is_any(
              {"safe", "safer", "stable", "steady", "reliable", "consistent", "certain", "fixed", "guaranteed"}))
        add(!own.is_random, kind);
      if (token.kind == ReasoningToken::Kind::number &&
          tokens_[i - 1].is_any({"pays", "gives", "yields", "always", "about", "is", "of", "averages"}))
        add(std::ranges::any_of(own.payouts, [&](double value) { return std::abs(token.number - value) < 1e-9; }),
            means);
    }
  }

  void add_claim(std::size_t first, std::size_t last, bool holds, const std::string& fact) {
    add_once(claims_, reasoning_,
             {tokens_[first].start, tokens_[last].end, ClaimKind::grounding, holds, holds ? "" : fact});
  }

  std::string_view reasoning_;
  const std::array<BanditArm, 2>& arms_;
  std::span<const ReasoningToken> tokens_;
  std::vector<Claim> claims_;
};

}  // namespace

std::optional<std::vector<Claim>> Bandit::check_claims(std::string_view reasoning,
                                                       std::span<const std::string> actions) const {
  const double low = config_.lo_arm_score, share = config_.hi_arm_hiscore_prob;
  const double mean = share * config_.hi_arm_hiscore + (1 - share) * config_.hi_arm_loscore;
  const BanditArm safe{config_.lo_arm_name, false, low, {low}};
  const BanditArm risky{config_.hi_arm_name, true, mean, {mean, config_.hi_arm_hiscore, config_.hi_arm_loscore}};
  const std::array arms{safe, risky};
  return ArmReader(reasoning, arms).check(actions);
}

}  // namespace starpo
