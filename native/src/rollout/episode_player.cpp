#include "rollout/episode_player.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/error.h"
#include "env/action_name.h"
#include "env/late_environment.h"
#include "env/reference/python_number.h"
#include "rollout/response_parser.h"
#include "rollout/reward_terms.h"
#include "rollout/state_limit.h"

namespace starpo {
namespace {

// Counts the tokens before the one that completes </think>; all tokens if none does.
int count_think_tokens(const Tokenizer& tokenizer, const std::vector<std::int32_t>& ids) {
  constexpr std::string_view close = "</think>";
  std::string text;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::size_t start = text.size() < close.size() ? 0 : text.size() - close.size() + 1;
    text += tokenizer.decode(std::span(ids).subspan(i, 1));
    if (text.find(close, start) != std::string::npos) return static_cast<int>(i);
  }
  return static_cast<int>(ids.size());
}

}  // namespace

EpisodePlayer::EpisodePlayer(const EpisodeRules& rules, std::unique_ptr<Environment> environment,
                             const EpisodeSpec& spec, Waiting waiting)
    : rules_(rules), environment_(std::move(environment)) {
  episode_.spec = spec;
  const NoiseStream* noise = spec.noise ? &*spec.noise : nullptr;
  environment_->set_split(spec.split);
  LateEnvironment* late = environment_->late();
  if (!late) {
    environment_->reset(spec.seed, noise);
    open();
    return;
  }
  late_ = late;
  stage_ = Stage::starting;
  late->start_reset(spec.seed, noise);
  if (waiting == Waiting::returns) return;
  while (!late->ready()) late->wait(std::chrono::seconds(1));
  late->finish_reset();
  late_ = nullptr;
  open();
}

void EpisodePlayer::open() {
  stage_ = Stage::responding;
  episode_.reset_info = environment_->reset_info();
  episode_.single_step = environment_->is_single_step();
  episode_.action_names = environment_->actions();
  episode_.initial = environment_->board().value_or(environment_->observation());

  const std::string message = first_message();
  if (rules_.rollout.context_turns > 0) messages_.push_back({message, ""});
  begin_turn(rules_.chat.first_turn(rules_.environment.prompt.system, message), true);
  if (length_ + rules_.rollout.max_response_tokens > rules_.rollout.context)
    throw Error("context_too_small",
                "the prompt of " + rules_.environment.label + " has " + std::to_string(length_) +
                    " tokens; with a response of " + std::to_string(rules_.rollout.max_response_tokens) +
                    " tokens it exceeds rollout.context (" + std::to_string(rules_.rollout.context) + ")",
                "raise rollout.context, lower rollout.max_response_tokens, or shorten the prompt or the states "
                "(max_state_tokens) of the environment");
}

std::string EpisodePlayer::first_message() { return user_message(rules_.environment.prompt.first, "first"); }

std::string EpisodePlayer::next_message() { return user_message(rules_.environment.prompt.next, "next"); }

std::string EpisodePlayer::user_message(const std::string& text, const char* key) {
  ShownState state = limit_state(rules_.tokenizer, environment_->observation(), rules_.environment.max_state_tokens);
  omitted_tokens_ = state.omitted_tokens;
  if (episode_.turns.empty()) first_state_ = state.text;
  std::string names;
  for (const auto& name : environment_->actions()) names += (names.empty() ? "" : ", ") + name;
  const Turn* last = episode_.turns.empty() ? nullptr : &episode_.turns.back();
  std::map<std::string, std::string> values{
      {"state", std::move(state.text)},
      {"first_state", first_state_},
      {"reward", last ? format_python_number(last->reward, last->reward_is_integer) : "0"},
      {"turn", std::to_string(episode_.turns.size() + 1)},
      {"actions_left", std::to_string(rules_.environment.max_actions - executed_)},
      {"max_actions", std::to_string(rules_.environment.max_actions_per_turn)},
      {"max_tokens", std::to_string(rules_.rollout.max_response_tokens)},
      {"actions", names},
  };
  for (const auto& [name, value] : environment_->placeholders()) values[name] = value;
  return fill_template(text, values, "environments." + rules_.environment.label + ".prompt." + key);
}

bool EpisodePlayer::next_begins_context() const {
  const int turns = rules_.rollout.context_turns;
  return turns > 0 && static_cast<int>(episode_.turns.size()) >= turns;
}

// Returns the context of the next turn: what follows the last response, or the last turns and the current state.
std::vector<std::int32_t> EpisodePlayer::next_context(bool begins_context) {
  const auto follow = [this](const Turn& turn, const std::string& message) {
    return rules_.chat.next_turn(message, turn.ids.back() != rules_.chat.turn_end());
  };
  const auto& turns = episode_.turns;
  if (rules_.rollout.context_turns == 0) return follow(turns.back(), next_message());
  messages_.push_back({first_message(), next_message()});
  if (!begins_context) return follow(turns.back(), messages_.back().next);
  messages_.pop_front();
  auto context = rules_.chat.first_turn(rules_.environment.prompt.system, messages_.front().first);
  for (std::size_t i = 1; i < messages_.size(); ++i) {
    const Turn& before = turns[turns.size() - messages_.size() + i];
    context.insert(context.end(), before.ids.begin(), before.ids.end());
    const auto message = follow(before, messages_[i].next);
    context.insert(context.end(), message.begin(), message.end());
  }
  return context;
}

void EpisodePlayer::begin_turn(std::vector<std::int32_t> context_ids, bool begins_context) {
  if (begins_context) length_ = 0;
  length_ += static_cast<int>(context_ids.size());
  response_limit_ = rules_.rollout.max_response_tokens;
  if (rules_.response_limit)
    response_limit_ =
        std::clamp(rules_.response_limit(episode_.spec, static_cast<int>(episode_.turns.size())), 1, response_limit_);
  Turn turn;
  turn.state = environment_->observation();
  turn.anchor = environment_->anchor();
  turn.state_limited = rules_.environment.max_state_tokens > 0;
  turn.omitted_tokens = omitted_tokens_;
  turn.context_ids = std::move(context_ids);
  turn.begins_context = begins_context;
  episode_.turns.push_back(std::move(turn));
}

std::vector<std::int32_t> EpisodePlayer::accept(std::int32_t id, float logprob, float entropy) {
  Turn& turn = episode_.turns.back();
  turn.ids.push_back(id);
  turn.logprobs.push_back(logprob);
  turn.entropies.push_back(entropy);
  ++length_;

  const bool response_end = rules_.chat.ends_response(id);
  turn.truncated = !response_end && static_cast<int>(turn.ids.size()) == response_limit_;
  if (!response_end && !turn.truncated) return {};

  parse_turn();
  return act();
}

std::vector<std::int32_t> EpisodePlayer::advance() {
  if (!waiting() || !late_->ready()) return {};
  if (stage_ == Stage::acting) return act();
  late_->finish_reset();
  open();
  return prompt();
}

// Executes the chosen actions, then ends the turn. Returns early while the environment has not answered.
std::vector<std::int32_t> EpisodePlayer::act() {
  for (; next_action_ < chosen_.size() && !environment_done_ && executed_ < rules_.environment.max_actions;
       ++next_action_) {
    const std::string& action = chosen_[next_action_];
    if (!late_) {
      record(action, environment_->step(action));
      continue;
    }
    if (!step_started_) late_->start_step(action);
    step_started_ = true;
    if (!late_->ready()) {
      stage_ = Stage::acting;
      return {};
    }
    step_started_ = false;
    record(action, late_->finish_step());
  }
  stage_ = Stage::responding;

  std::vector<std::int32_t> context;
  const bool begins_context = next_begins_context();
  auto ended = end_reason();
  if (!ended) {
    context = next_context(begins_context);
    const int length = (begins_context ? 0 : length_) + static_cast<int>(context.size());
    if (length + rules_.rollout.max_response_tokens > rules_.rollout.context) ended = EndReason::context;
  }
  score_turn(ended && environment_->success());
  if (!ended) {
    begin_turn(context, begins_context);
    return context;
  }
  episode_.ended = *ended;
  episode_.success = environment_->success();
  score_claims();
  finished_ = true;
  return {};
}

// solves: the turn ends the episode with success.
void EpisodePlayer::score_turn(bool solves) {
  Turn& turn = episode_.turns.back();
  turn.terms = reward_terms(turn, solves, rules_.reward, rules_.rollout.max_response_tokens);
  turn.score = sum_of(turn.terms);
  episode_.score += turn.score;
  // The environment's own terms are added action by action, and penalties when the response is parsed.
  for (const RewardTerm& term : turn.terms)
    if (term.name != kEnvironmentTerm && term.name != kFormatTerm) episode_.add_term(term.name, term.value);
}

void EpisodePlayer::score_claims() {
  const std::size_t turns = episode_.turns.size();
  for (std::size_t turn = 0; turn < turns; ++turn)
    for (const RewardTerm& term : claim_terms(episode_.turns[turn], turns, rules_.reward))
      episode_.add_turn_term(turn, term.name, term.value);
}

void EpisodePlayer::parse_turn() {
  Turn& turn = episode_.turns.back();
  const bool has_end = rules_.chat.ends_response(turn.ids.back());
  turn.response = rules_.chat.forced_prefix() +
                  rules_.tokenizer.decode(std::span(turn.ids).first(turn.ids.size() - (has_end ? 1 : 0)));

  if (rules_.rollout.think) turn.think_tokens = count_think_tokens(rules_.tokenizer, turn.ids);
  ParsedResponse parsed = parse_response(turn.response, rules_.rollout.think);
  turn.format_valid = parsed.format_valid;
  turn.think = std::move(parsed.think);
  turn.answer = std::move(parsed.answer);
  turn.actions = std::move(parsed.actions);
  if (environment_->actions().empty() && turn.answer && !turn.answer->empty()) turn.actions = {*turn.answer};
  choose_actions(turn);
  if (turn.think) turn.claims = environment_->check_claims(*turn.think, chosen_);
}

// RAGEN's rule: actions run in order until the episode ends or the action budget is used
// up. Actions beyond the turn's limit are ignored and unknown names are dropped. A turn with dropped or missing actions
// gets the format penalty once.
void EpisodePlayer::choose_actions(Turn& turn) {
  const auto names = environment_->actions();
  const auto limit = std::min<std::size_t>(turn.actions.size(), rules_.environment.max_actions_per_turn);
  chosen_.clear();
  next_action_ = 0;
  for (std::size_t i = 0; i < limit; ++i)
    if (names.empty() || find_action(turn.actions[i], names)) chosen_.push_back(turn.actions[i]);
  turn.action_valid = !chosen_.empty() && chosen_.size() == limit;
  if (!turn.action_valid) {
    turn.penalty = rules_.reward.format_penalty;
    episode_.add_term(std::string(kFormatTerm), turn.penalty);
  }
}

void EpisodePlayer::record(const std::string& action, const StepResult& step) {
  Turn& turn = episode_.turns.back();
  ++executed_;
  environment_done_ = step.done;
  turn.reward += step.reward;
  turn.reward_is_integer &= step.reward_is_integer;
  for (const RewardTerm& term : step.terms) episode_.add_term(term.name, rules_.reward.environment_weight * term.value);
  turn.executed.push_back({action, step.reward, environment_->board().value_or(environment_->observation()),
                           step.effective, step.valid, step.done, step.success, step.flags});
}

std::optional<EndReason> EpisodePlayer::end_reason() const {
  if (environment_done_) return EndReason::done;
  if (executed_ >= rules_.environment.max_actions) return EndReason::max_actions;
  if (static_cast<int>(episode_.turns.size()) >= rules_.environment.max_turns) return EndReason::max_turns;
  return std::nullopt;
}

}  // namespace starpo
