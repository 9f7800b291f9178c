#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "env/environment.h"
#include "env/webshop/shop.h"

namespace starpo {

class FieldVisitor;

struct WebShopConfig {
  enum class ObservationMode { text, text_rich };
  // none: WebShop itself. ragen_v1 and ragen_v2: RAGEN's splits, observations, rewards and flags. compact: RAGEN's
  // splits and WebShop's rewards, with short observations for small policies.
  enum class Wrapper { none, ragen_v1, ragen_v2, compact };
  // automatic: train in training, val in evaluations.
  enum class Split { train, val, test, automatic };

  std::string catalogue;  // see Catalogue::open
  ObservationMode observation_mode{};
  bool human_goals = false;
  bool show_attrs = false;       // products have a page of attributes
  std::uint64_t price_seed = 0;  // Python's random.seed before prices and price caps are drawn
  Wrapper wrapper{};
  Split split{};
};

void describe(FieldVisitor&, WebShopConfig&);

// WebShop (Yao et al., arXiv 2207.01206): buy the product that an instruction asks for, with search[...] and
// click[...]. The reward of a purchase is from 0 to 1. It is deterministic, so noise has no effect.
class WebShop final : public Environment {
 public:
  static constexpr std::array<std::string_view, 2> kStepFlags{"success_purchase", "end_of_page"};

  // Errors: those of Catalogue::open and GoalList::open; config_invalid, if the catalogue has too few goals for the
  // split.
  explicit WebShop(const WebShopConfig&);

  std::unique_ptr<Environment> clone() const override;
  // seed: a number that the split maps to a goal; the goal's number with wrapper none, unless split is automatic.
  // Errors: level_not_found, index_invalid.
  void reset(std::uint64_t seed, const NoiseStream* noise) override;
  // With wrapper none an episode has no end unless split is automatic: actions work after a purchase, as in WebShop.
  // Errors: no_episode, index_invalid.
  StepResult step(std::string_view action) override;
  std::string observation() const override;
  std::vector<std::string> actions() const override { return {}; }  // free text
  bool success() const override { return success_; }
  bool is_stochastic() const override { return false; }
  bool shows_task_once() const override { return config_.wrapper == WebShopConfig::Wrapper::compact; }
  std::optional<std::string> board() const override;  // the page as JSON
  std::optional<Demonstration> demonstrate(const DemonstrationRequest&) const override;
  bool has_claim_rules() const override { return true; }
  std::optional<std::vector<Claim>> check_claims(std::string_view reasoning,
                                                 std::span<const std::string> actions) const override;
  std::string info_json(bool at_start) const override;
  std::string files_digest() const override;  // of a folder
  std::vector<std::pair<std::string, std::string>> idle_keys() const override;

 private:
  bool imitates_ragen() const;
  std::string make_page_text() const;
  std::vector<std::string> listed_actions() const;  // as RAGEN lists them
  bool is_end_of_results() const;
  bool is_valid_in_ragen(std::string_view action) const;
  std::uint64_t goal_of(std::uint64_t seed) const;

  WebShopConfig config_;
  Shop shop_;
  std::shared_ptr<const std::vector<std::uint32_t>> permutation_;  // [goals]; null without splits
  std::string page_text_;
  bool active_ = false, started_ = false, success_ = false;
  bool heading_only_ = false;  // RAGEN shows only the instruction after a reset
  PurchaseReward purchase_;    // of the last step
  bool purchased_ = false;     // in the last step
};

}  // namespace starpo
