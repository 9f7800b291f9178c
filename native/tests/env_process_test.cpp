#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "env/late_environment.h"
#include "env/process/process_environment.h"
#include "env/registry.h"
#include "error_code.h"
#include "rollout/episode_json.h"
#include "rollout/reward_program.h"
#include "rollout/rollout.h"
#include "tiny_run.h"
#include "train/context/levels.h"

using namespace starpo;
using namespace starpo::test;

namespace {

constexpr std::string_view kHello = R"(echo '{"hello":{"version":1,"name":"Test","episodes":8}}'; )";

ProcessConfig config_of(const std::string& command) { return {command, "/", 1, 8, 10, 10}; }

ProcessConfig confirmed(ProcessConfig config) {
  ::setenv(kConfirmedCommands, command_digest(config).c_str(), 1);
  return config;
}

// Returns an environment whose shell script answers hello, then runs `script`. `read -r line` reads a request; ids
// count from 1.
ProcessEnvironment scripted(const std::string& script) {
  return ProcessEnvironment(confirmed(config_of("read -r line; " + std::string(kHello) + script)));
}

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const EnvironmentFailure& failure) {
    return failure.what();
  }
  return "none";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void wait_for(LateEnvironment& environment) {
  while (!environment.ready()) environment.wait(std::chrono::seconds(10));
}

// A program that plays any number of episodes of one turn with sed: it pays 1 for each action. Levels in `failing`
// report an error, and levels in `crashing` end the process.
std::string sed_program(const std::string& failing = "", const std::string& crashing = "") {
  const std::string id = R"(s/.*"id":\([0-9]*\).*/)";
  std::string script = R"(sed -u -n -e '/"hello"/{s/.*/{"hello":{"version":1,"name":"Sed","episodes":64}}/p;b;}')";
  if (!failing.empty())
    script += R"( -e '/"seed":\()" + failing + R"(\)[,}]/{)" + id + R"({"id":\1,"error":"no such level"}/p;b;}')";
  if (!crashing.empty()) script += R"( -e '/"seed":)" + crashing + "[,}]/q3'";
  script += R"( -e '/"reset"/{)" + id + R"({"id":\1,"observation":"P_G"}/p;b;}')";
  script += R"( -e '/"step"/{)" + id + R"({"id":\1,"observation":"__P","reward":1,"done":true,"success":true}/p;}')";
  return script;
}

json process_json(const ProcessConfig& config) {
  return {{"command", config.command},
          {"directory", config.directory},
          {"processes", config.processes},
          {"episodes_per_process", config.episodes_per_process},
          {"start_seconds", config.start_seconds},
          {"answer_seconds", config.answer_seconds}};
}

}  // namespace

TEST_CASE("a program plays an episode with its own texts, actions, rewards and flags") {
  auto environment = scripted(
      R"(read -r line; echo '{"id":1,"observation":"start","board":"AB","actions":["Go","Stay"]}';)"
      R"(read -r line; echo '{"id":1,"observation":"start","board":"AB","reward":0,"done":false,"valid":false}';)"
      R"(read -r line; echo '{"id":1,"observation":"end","reward":1.5,"done":true,"success":true,"terms":{"goal":2,"time":-0.5}}';)"
      "cat >/dev/null");
  environment.reset(7, nullptr);
  CHECK(environment.observation() == "start");
  CHECK(environment.board() == "AB");
  CHECK(environment.actions() == std::vector<std::string>{"Go", "Stay"});
  const StepResult stay = environment.step("Stay");
  CHECK_FALSE(stay.effective);
  CHECK_FALSE(stay.valid);
  CHECK(stay.reward_is_integer);
  CHECK(environment.actions().empty());
  const StepResult go = environment.step("Go");
  CHECK(go.effective);
  CHECK(go.valid);
  CHECK(go.done);
  CHECK(go.reward == 1.5);
  CHECK(go.terms[0].name == "goal");
  CHECK(go.terms[1].value == -0.5);
  CHECK(environment.success());
  CHECK(error_code_of([&] { environment.step("Go"); }) == "no_episode");
}

TEST_CASE("a program receives the seed, the split and noise, few variables and no open files") {
  ::setenv("STARPO_TEST_TOKEN", "secret", 1);
  const int inherited = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  auto environment = scripted(
      R"(read -r line; echo "{\"id\":1,\"observation\":\"$(echo "$line" | tr -d '\"\\\\') token=$STARPO_TEST_TOKEN )"
      R"(devices=$(ls -l /proc/$$/fd | grep -c /dev/null)\"}"; cat >/dev/null)");
  const NoiseStream noise = level_noise(123, 7);
  environment.set_split(Split::validation);
  environment.start_reset(7, &noise);
  wait_for(environment);
  environment.finish_reset();
  ::close(inherited);
  ::unsetenv("STARPO_TEST_TOKEN");
  const auto number = static_cast<std::uint64_t>(NoiseStream(noise).draw() * 0x1p53);
  CHECK(environment.observation() ==
        "{id:1,reset:{noise:" + std::to_string(number) + ",seed:7,split:validation}} token= devices=0");
}

TEST_CASE("episodes of one process are answered in any order, and a late answer is ignored") {
  auto first = scripted(
      R"(read -r line; read -r line; echo '{"id":2,"observation":"second"}'; echo '{"id":1,"observation":"first"}';)"
      R"(read -r line; echo '{"id":1,"observation":"late","reward":1,"done":true}';)"
      R"(read -r line; echo '{"id":3,"observation":"third"}'; cat >/dev/null)");
  auto copy = first.clone();
  LateEnvironment& second = *copy->late();
  first.start_reset(1, nullptr);
  second.start_reset(2, nullptr);
  wait_for(second);
  second.finish_reset();
  CHECK(second.observation() == "second");
  wait_for(first);
  first.finish_reset();
  CHECK(first.observation() == "first");
  first.start_reset(3, nullptr);  // closes episode 1, which the program still answers
  wait_for(first);
  first.finish_reset();
  CHECK(first.observation() == "third");
}

TEST_CASE("integers may be written as 1.0, but not as 1.5") {
  const auto program = [](const std::string& id) {
    return ProcessEnvironment(confirmed(
        config_of(R"(read -r line; echo '{"hello":{"version":1.0,"name":"Lua","episodes":2.0}}'; read -r line; )"
                  R"(echo '{"observation":"s","id":)" +
                  id + R"(}'; cat)")));
  };
  ProcessEnvironment whole = program("1.0");
  whole.reset(1, nullptr);
  CHECK(whole.observation() == "s");
  ProcessEnvironment broken = program("1.5");
  CHECK(contains(failure_of([&] { broken.reset(1, nullptr); }), "it answered with an unknown id"));
}

TEST_CASE("every protocol violation fails the episode with the reason and the line") {
  const std::string reset = R"(read -r line; echo '{"id":1,"observation":"s"}'; read -r line; )";
  const struct {
    std::string script, reason;
  } cases[] = {
      {"kill -9 $$", "it was killed by signal 9"},
      {"echo broken >&2; exit 3", "it exited with status 3; its last error output is: broken"},
      {"printf 'a.mjs:3\n\nError: no tiles\n    at a.mjs {\n}\n\nNode.js v24.1.0\n' >&2; exit 1",
       "it exited with status 1; its last error output is: Error: no tiles"},
      {"echo '  indented' >&2; exit 3", "it exited with status 3; its last error output is:   indented"},
      {"echo hello", "it wrote a line that is not a JSON object, or nested too deeply: \"hello\""},
      {R"(echo '{"id":1,"observation":"s","reward":NaN,"done":false}')", "NaN and Infinity are not JSON"},
      {R"(echo '{"id":1,"observation":"s","reward":1e999,"done":false}')", "not a JSON object"},
      {R"(echo '{"id":1,"observation":"s","reward":null,"done":false}')", "reward is not a finite number"},
      {R"(echo '{"id":1,"observation":"s","reward":1,"terms":{"a":2},"done":false}')", "the terms do not add up"},
      {R"(echo '{"id":1,"observation":"s","reward":1}')", "done is missing"},
      {R"(echo '{"id":1,"observation":"s","reward":1,"done":false,"sucess":true}')", "\"sucess\" is unknown"},
      {R"(echo '{"id":9,"observation":"s","reward":1,"done":false}')",
       "it answered with an unknown id: \"{\\\"done\\\""},
      {R"(printf '{"id":1,"obs')", "it exited with status 0 in the middle of a line"},
      {R"(printf '{"id":1,"observation":'; head -c 400000 /dev/zero | tr '\0' '['; )"
       R"(head -c 400000 /dev/zero | tr '\0' ']'; echo '}')",
       "nested too deeply"},
      {"head -c 50000000 /dev/zero", "it wrote a line of more than 1 MB"},
      {R"(echo '{"id":1,"error":"out of levels"}')", "it reported an error: out of levels"},
      {R"(printf '\377\n')", "not a JSON object, or nested too deeply: \"\\ufffd\""},
  };
  for (const auto& [script, reason] : cases) {
    CAPTURE(script);
    auto environment = scripted(reset + script);
    environment.reset(1, nullptr);
    const std::string failure = failure_of([&] { environment.step("x"); });
    CAPTURE(failure);
    CHECK(contains(failure, reason));
  }
}

TEST_CASE("a process that hangs is killed at its time limit; one that answers other episodes continues them") {
  ProcessConfig limits =
      config_of("read -r line; " + std::string(kHello) +
                R"(read -r line; read -r line; echo '{"id":2,"observation":"s"}';)"
                R"(read -r line; echo '{"id":2,"observation":"t","reward":0,"done":false}'; cat >/dev/null)");
  limits.answer_seconds = 1;
  ProcessEnvironment hanging(confirmed(limits));
  auto copy = hanging.clone();
  LateEnvironment& other = *copy->late();
  hanging.start_reset(1, nullptr);
  other.start_reset(2, nullptr);
  wait_for(other);
  other.finish_reset();
  CHECK(contains(failure_of([&] { wait_for(hanging); }), "it did not answer within 1 s"));
  CHECK(other.step("x").reward == 0);
  CHECK(contains(failure_of([&] { other.step("x"); }), "it did not answer within 1 s"));
}

TEST_CASE("a program that was killed is started again for the next episode") {
  TemporaryFolder folder;
  const std::string mark = (folder.path() / "started").string();
  auto environment = scripted("read -r line; if [ -e " + mark + R"( ]; then echo '{"id":1,"observation":"again"}'; )" +
                              "cat >/dev/null; else touch " + mark + "; fi");
  CHECK(contains(failure_of([&] { environment.reset(1, nullptr); }), "it exited with status 0"));
  environment.reset(1, nullptr);
  CHECK(environment.observation() == "again");
}

TEST_CASE("a program that can't start is an error of the run, with its error output") {
  ProcessEnvironment missing(confirmed(config_of("no-such-program-1")));
  CHECK(error_code_of([&] { missing.reset(1, nullptr); }) == "environment_failed");
  ProcessEnvironment absent(confirmed(config_of("no-such-program-1")));
  CHECK_THROWS_WITH_AS(absent.reset(1, nullptr), doctest::Contains("no-such-program-1"), Error);
  ProcessEnvironment newer(confirmed(config_of("echo '{\"hello\":{\"version\":2,\"name\":\"x\"}}'; cat")));
  CHECK_THROWS_WITH_AS(newer.reset(1, nullptr), doctest::Contains("hello.version is not 1"), Error);
}

TEST_CASE("an episode that a busy program declines is offered again, and fails if the program never accepts it") {
  auto first =
      scripted(R"(read -r line; read -r line; echo '{"id":1,"observation":"first"}'; echo '{"id":2,"busy":true}';)"
               R"(read -r line; echo '{"id":1,"observation":"end","reward":1,"done":true}'; read -r line;)"
               R"(read -r line; echo '{"id":3,"observation":"second"}'; cat >/dev/null)");
  auto copy = first.clone();
  LateEnvironment& second = *copy->late();
  first.start_reset(1, nullptr);
  second.start_reset(2, nullptr);
  wait_for(first);
  first.finish_reset();
  CHECK_FALSE(second.ready());
  CHECK(first.step("x").done);
  const auto start = std::chrono::steady_clock::now();
  wait_for(second);
  // It is offered as soon as there is room, not after the limit of a wait.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(5));
  second.finish_reset();
  CHECK(second.observation() == "second");

  auto full = scripted(R"(read -r line; echo '{"id":1,"busy":true}'; cat >/dev/null)");
  CHECK(failure_of([&] { full.reset(1, nullptr); }) == "it accepts no further episode");
}

TEST_CASE("a program's anchor identifies states that look different") {
  auto environment =
      scripted(R"(read -r line; echo '{"id":1,"observation":"turn 1: A","anchor":"A"}'; cat >/dev/null)");
  environment.reset(1, nullptr);
  CHECK(environment.anchor() == "A");
}

TEST_CASE("the app's own programs are found after those of the user") {
  ::setenv("STARPO_PROGRAMS", "/opt/starpo/programs", 1);
  auto environment = scripted(R"(read -r line; echo "{\"id\":1,\"observation\":\"$PATH\"}"; cat >/dev/null)");
  environment.reset(1, nullptr);
  ::unsetenv("STARPO_PROGRAMS");
  CHECK(environment.observation() == std::string(std::getenv("PATH")) + ":/opt/starpo/programs");
}

TEST_CASE("a program and its children end with the environment") {
  TemporaryFolder folder;
  const std::string fifo = (folder.path() / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  {
    // The child ignores every signal that can be ignored, and its input.
    auto environment = scripted("(trap '' TERM HUP INT; exec sleep 1000 >" + fifo +
                                R"() & read -r line; echo '{"id":1,"observation":"s"}'; cat >/dev/null)");
    environment.reset(1, nullptr);
    ::fcntl(reader, F_SETFL, 0);
  }
  char byte;
  CHECK(::read(reader, &byte, 1) == 0);  // blocks until all writers have ended
  ::close(reader);
}

TEST_CASE("no command runs before it was confirmed, and consent to one does not cover another") {
  const ProcessConfig config =
      config_of("read -r line; " + std::string(kHello) + R"(read -r l; echo '{"id":1,"observation":"s"}'; cat)");
  ::unsetenv(kConfirmedCommands);
  CHECK(error_code_of([&] { ProcessEnvironment(config).reset(1, nullptr); }) == "command_not_confirmed");
  ProcessConfig elsewhere = confirmed(config);
  CHECK(error_code_of([&] { ProcessEnvironment(config).reset(1, nullptr); }) == "none");
  elsewhere.directory = "/tmp";
  CHECK(error_code_of([&] { ProcessEnvironment(elsewhere).reset(1, nullptr); }) == "command_not_confirmed");
  elsewhere = config;
  elsewhere.command += " ";
  CHECK(error_code_of([&] { ProcessEnvironment(elsewhere).reset(1, nullptr); }) == "command_not_confirmed");
}

TEST_CASE("the messages of docs/formats/examples/process-environment.jsonl are valid") {
  std::ifstream lines(repository() / "docs/formats/examples/process-environment.jsonl");
  bool greeted = false;
  std::map<int, bool> reset;
  int checked = 0;
  for (std::string line; std::getline(lines, line); ++checked) {
    const json recorded = json::parse(line);
    if (!recorded.contains("program")) continue;
    const json& message = recorded["program"];
    CAPTURE(line);
    if (!std::exchange(greeted, true))
      CHECK(parse_hello(message).episodes == 256);
    else if (!std::exchange(reset[message.at("id")], true))
      CHECK_FALSE(parse_reset_answer(message).observation.empty());
    else
      CHECK_NOTHROW(parse_step_answer(message));
  }
  CHECK(checked > 8);
}

TEST_CASE("the terms of a reward program are valid, or the whole answer is rejected") {
  const auto terms = parse_score_answer(json::parse(R"({"id":1,"terms":{"judge":0.5,"style":[0.25,-1]}})"), 2);
  REQUIRE(terms.size() == 2);
  CHECK(terms[0].name == "judge");
  CHECK(terms[0].by_turn == std::vector<double>{0, 0.5});
  CHECK(terms[1].by_turn == std::vector<double>{0.25, -1});
  json many = json::object();
  for (int i = 0; i < 33; ++i) many["t" + std::to_string(i)] = 0;
  const std::vector<std::pair<json, std::string>> invalid{
      {json::parse(R"({"id":1})"), "terms is not an object"},
      {json::parse(R"({"id":1,"terms":[]})"), "terms is not an object"},
      {json::parse(R"({"id":1,"terms":{"a":"1"}})"), "terms.a is not a finite number"},
      {json::parse(R"({"id":1,"terms":{"a":[1]}})"), "terms.a has 1 number for 2 turns"},
      {json::parse(R"({"id":1,"terms":{"a":[1,null]}})"), "terms.a is not a finite number"},
      {json::parse(R"({"id":1,"terms":{"a/b":1}})"), "the name \"a/b\" is not made of"},
      {json::parse(R"({"id":1,"terms":{},"score":1})"), "the key \"score\" is unknown"},
      {json{{"id", 1}, {"terms", many}}, "terms has more than 32 names"}};
  for (const auto& [answer, problem] : invalid) {
    CAPTURE(answer.dump());
    CHECK(contains(failure_of([&, &message = answer] { parse_score_answer(message, 2); }), problem));
  }
}

TEST_CASE("a reward program adds weighted terms to the turns; an episode whose scoring fails twice is void") {
  const std::string id = R"(s/.*"id":\([0-9]*\).*/)";
  const auto answer = [&](const std::string& pattern, const std::string& text) {
    return R"( -e '/)" + pattern + "/{" + id + R"({"id":\1,)" + text + "}/p;b;}'";
  };
  const std::string judge =
      R"(sed -u -n -e '/"hello"/{s/.*/{"hello":{"version":1,"name":"Judge","episodes":2}}/p;b;}')" +
      answer(R"("seed":8,)", R"("error":"unreadable")") + answer(R"("seed":9,)", R"("terms":{"length":1})") +
      answer(R"("score")", R"("terms":{"judge":2,"style":[1,-1]})");
  const ProcessConfig command = confirmed(config_of(judge));
  RewardProgram program({.command = judge, .directory = command.directory, .weight = 0.5});
  const EnvironmentConfig environment = small_run_config().environments[0];
  std::vector<Episode> episodes(4);
  EpisodeScoring scoring(program, episodes.size());
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    Episode& episode = episodes[i];
    episode.spec = {0, 0, 0, 7 + i, std::nullopt};
    episode.turns.resize(2);
    episode.turns[0].score = episode.score = 1;
    episode.success = true;
    scoring.send(i, episode, environment);
  }
  std::set<std::size_t> done;
  while (done.size() < episodes.size())
    for (const std::size_t i : scoring.receive(episodes, std::chrono::seconds(10))) CHECK(done.insert(i).second);
  for (const std::size_t i : {0, 3}) {
    CHECK(episodes[i].score == 2);
    CHECK(episodes[i].success);
    CHECK(episodes[i].turns[0].score == 1.5);
    CHECK(episodes[i].turns[1].score == 0.5);
    REQUIRE(episodes[i].turns[1].terms.size() == 2);
    CHECK(episodes[i].turns[1].terms[1].name == "style");
    CHECK(episodes[i].turns[1].terms[1].value == -0.5);
    CHECK(episodes[i].terms[0].value == 1);
    CHECK(episodes[i].terms[1].value == 0);
    CHECK(episodes[i].failures.empty());
  }
  for (const std::size_t i : {1, 2}) {
    CHECK(episodes[i].is_void());
    CHECK(episodes[i].score == 0);
    CHECK_FALSE(episodes[i].success);
    CHECK(episodes[i].failures.size() == 2);
  }
  CHECK(episodes[1].failures[0] == "reward program: it reported an error: unreadable");
  CHECK(contains(episodes[2].failures[1], "the name of its term length is in use"));
}

TEST_CASE("an episode waits for a late environment without blocking, and plays as if it had not waited") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.rollout.max_response_tokens = 100;
  config.rollout.context = 1000;
  config.environments[0].type = "process";
  config.environments[0].config = process_json(confirmed(config_of(sed_program()))).dump();
  const auto state = tiny_state(config, folder.path());
  EpisodePlayer player(state->playground.rules[0], state->playground.prototypes[0]->clone(), {0, 0, 0, 5, std::nullopt},
                       EpisodePlayer::Waiting::returns);
  REQUIRE(player.waiting());
  CHECK(player.advance().empty());
  while (player.waiting()) {
    player.late()->wait(std::chrono::seconds(10));
    player.advance();
  }
  CHECK(player.episode().turns[0].state == "P_G");
  auto ids = state->playground.tokenizer.encode("go</think><answer>Right</answer>");
  ids.push_back(state->playground.chat.turn_end());
  for (auto id : ids) CHECK(player.accept(id, -1, 1).empty());
  REQUIRE(player.waiting());
  while (player.waiting()) {
    player.late()->wait(std::chrono::seconds(10));
    player.advance();
  }
  REQUIRE(player.finished());
  const Episode episode = player.take();
  CHECK(episode.score == 1);
  CHECK(episode.success);
  CHECK(episode.terms[0].name == "environment");
}

TEST_CASE("slots do not change a rollout of a program; failed levels are void and do not affect the others") {
  TemporaryFolder folder;
  make_tiny_model_folder(folder.path());
  RunConfig config = small_run_config();
  config.environments[0].type = "process";
  const auto roll_out = [&](const std::string& failing, int slots, const std::string& crashing = "") {
    config.environments[0].config = process_json(confirmed(config_of(sed_program(failing, crashing)))).dump();
    auto state = tiny_state(config, folder.path());
    const auto generator = state->replica.policy->make_generator(slots, config.rollout.context);
    const auto specs = training_episodes(config, 1);
    return run_rollout(*generator, {specs,
                                    state->playground.rules,
                                    state->playground.prototypes,
                                    {1, 1, 0, 0},
                                    {config.seed, RandomStream::train_sampling},
                                    1,
                                    {}});
  };
  const auto reference = roll_out("", 16), few = roll_out("", 3), failed = roll_out("10001", 5);
  REQUIRE(reference.size() == 12);
  for (std::size_t i = 0; i < reference.size(); ++i) {
    CHECK(reference[i].failures.empty());
    CHECK(few[i].turns[0].ids == reference[i].turns[0].ids);
    CHECK(few[i].turns[0].logprobs == reference[i].turns[0].logprobs);
    CHECK(failed[i].number == static_cast<int>(i));
    const bool is_failed = i / 4 == 1;
    CHECK(failed[i].is_void() == is_failed);
    CHECK(failed[i].failures == std::vector<std::string>(is_failed ? 2 : 0, "it reported an error: no such level"));
    if (!is_failed) CHECK(failed[i].turns[0].ids == reference[i].turns[0].ids);
    const json summary = episode_summary(failed[i], {"id", 1, "train", true, {}, {}}, config.environments[0]);
    CHECK(summary.contains("void") == is_failed);
    CHECK(summary["kept"] == !is_failed);
    if (is_failed) CHECK(summary["void"] == json{{"reason", "it reported an error: no such level"}});
  }
  // The first eight episodes share a process, which level 10000 ends again and again. Only its four are void.
  const auto crashed = roll_out("", 12, "10000");
  for (std::size_t i = 0; i < crashed.size(); ++i) CHECK(crashed[i].is_void() == (i < 4));
  for (std::size_t i = 0; i < 8; ++i) CHECK(crashed[i].failures.size() == (i < 4 ? 2 : 1));
  CHECK(error_code_of([&] { roll_out("10000\\|10001\\|10002", 5); }) == "environment_failed");
}

TEST_CASE("a run fails if its reward program fails in more than half of the episodes") {
  TinyRun tiny;
  json& program = tiny.config["reward"]["program"];
  program["command"] = R"(sed -u -n -e '/"hello"/{s/.*/{"hello":{"version":1,"name":"Judge","episodes":2}}/p;b;}')"
                       R"( -e 's/.*"id":\([0-9]*\).*/{"id":\1,"error":"unreadable"}/p')";
  program["directory"] = "/";
  confirmed(config_of(program["command"]));
  CHECK(tiny.train() == 1);
  const auto failed = tiny.events("failed");
  REQUIRE(failed.size() == 1);
  CHECK(failed[0]["code"] == "environment_failed");
  CHECK(failed[0]["hint"] == "fix the reward program, then resume the run or repeat the evaluation");
  CHECK(contains(failed[0]["message"],
                 "more than half of the episodes failed, the last one in the reward program: it reported an error: "
                 "unreadable"));
}

TEST_CASE(
    "a run trains on the valid episodes, counts and reports the void ones, and ends with a checkpoint if most fail") {
  TinyRun tiny;
  json& environment = tiny.config["environments"][0];
  environment["type"] = "process";
  tiny.config["levels"]["train_seed"] = 10000;
  environment["config"] = process_json(confirmed(config_of(sed_program("10001\\|10003\\|10004"))));
  CHECK(tiny.train() == 1);
  const auto iterations = tiny.events("iteration");
  REQUIRE(iterations.size() == 1);
  CHECK(iterations[0]["metrics"]["rollout/environment_failure_rate"].get<double>() == doctest::Approx(4 / 12.0));
  CHECK(iterations[0]["metrics"]["rollout/void_rate"].get<double>() == doctest::Approx(4 / 12.0));
  CHECK(tiny.events("rollout")[1]["episodes"] == 12);  // void episodes are written, too
  const auto alerts = tiny.events("environment_alert");
  REQUIRE_FALSE(alerts.empty());
  CHECK(alerts[0]["iteration"] == 1);
  CHECK(alerts[0]["void"] == 4);
  CHECK(alerts[0]["episodes"] == 12);
  CHECK(
      contains(alerts[0]["message"], "4 of 12 episodes of frozen-lake failed: 0 succeeded in a later attempt, 4 void"));
  CHECK(contains(alerts[0]["message"], "it reported an error: no such level (8)"));
  const auto failed = tiny.events("failed");
  REQUIRE(failed.size() == 1);
  CHECK(failed[0]["code"] == "environment_failed");
  CHECK(failed[0]["iteration"] == 1);
  CHECK(tiny.listed("checkpoint", "path") == "0 checkpoints/000000, 1 checkpoints/000001");
}
