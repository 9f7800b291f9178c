// Tests the loader of cuBLASLt and the fallback, with fake libraries that compute on the host.
#include <doctest/doctest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "engine/cuda/lt/library.h"
#include "engine/cuda/lt/matmul.h"
#include "engine/cuda/lt/products.h"
#include "engine/cuda/selftest/check.h"
#include "engine/cuda/selftest/engine_case.h"
#include "engine/cuda/selftest/gemm_problem.h"
#include "repository.h"
#include "temporary_folder.h"

namespace starpo::cuda {
namespace {

std::string fake(const std::string& fault) { return test::fake_cublaslt(fault).string(); }

// Makes engines use a fake library.
class EngineLibrary {
 public:
  explicit EngineLibrary(const std::string& fault) { setenv(kName, fake(fault).c_str(), 1); }
  ~EngineLibrary() { before_.empty() ? unsetenv(kName) : setenv(kName, before_.c_str(), 1); }

 private:
  static constexpr const char* kName = "STARPO_CUBLASLT";
  const std::string before_ = std::getenv(kName) ? std::getenv(kName) : "";
};

struct Fixture {
  Stream stream;
  DeviceBuffer<float> workspace{stream, Matmul::kWorkspaceBytes / sizeof(float)};

  Matmul matmul(MatmulMode mode, const lt::Search& search) {
    return Matmul(stream, mode, {workspace.data(), workspace.size(), 4}, search);
  }
  Matmul fast(const std::string& fault) { return matmul(MatmulMode::fast, {{fake(fault)}, "a test's"}); }
};

// Large enough for cuBLASLt, but cheap to compute.
constexpr int kTokens = 640, kWide = 200, kNarrow = 88;

template <typename Out>
double forward_error(Fixture& f, Matmul& matmul, bool bias = false) {
  GemmProblem<Bf16, Out> problem(f.stream, GemmLayout::nt, kTokens, kWide, kNarrow, 8);
  Gemm<Bf16, Out> gemm = problem.gemm();
  if (bias) gemm.bias = problem.device_bias.data();
  matmul.gemm_nt(f.stream, gemm);
  return normalized_mean_square_error(problem.result(f.stream), problem.reference(bias, false));
}

double input_gradient_error(Fixture& f, Matmul& matmul) {
  GemmProblem<Bf16, Bf16> problem(f.stream, GemmLayout::nn, kTokens, kNarrow, kWide, 8);
  matmul.gemm_nn(f.stream, problem.gemm());
  return normalized_mean_square_error(problem.result(f.stream), problem.reference(false, false));
}

double weight_gradient_error(Fixture& f, Matmul& matmul) {
  GemmProblem<Bf16, float> problem(f.stream, GemmLayout::tn, kWide, kNarrow, kTokens, 8);
  problem.device_c.upload(f.stream, problem.before);
  Gemm<Bf16, float> gemm = problem.gemm();
  gemm.accumulate = true;
  matmul.gemm_tn(f.stream, gemm);
  return normalized_mean_square_error(problem.result(f.stream), problem.reference(false, true));
}

void check_every_product(Fixture& f, Matmul& matmul) {
  CHECK(forward_error<Bf16>(f, matmul) < kBf16Tolerance);
  CHECK(forward_error<float>(f, matmul) < kFp32Tolerance);
  CHECK(input_gradient_error(f, matmul) < kBf16Tolerance);
  CHECK(weight_gradient_error(f, matmul) < kFp32Tolerance);
}

bool reason_contains(const Matmul& matmul, const std::string& part) {
  INFO(matmul.choice());
  return matmul.choice().find(part) != std::string::npos;
}

TEST_CASE("cuBLASLt: large products use it, others the trainer's own kernels") {
  Fixture f;
  Matmul matmul = f.fast("good");
  CHECK(matmul.uses_library());
  CHECK(reason_contains(matmul, "Large matrix products use cuBLASLt 13.2.3 (" + fake("good") + ")"));
  check_every_product(f, matmul);
  check_every_product(f, matmul);
  CHECK(matmul.counts().library == 8);
  CHECK(matmul.counts().own == 0);

  GemmProblem<Bf16, Bf16> few(f.stream, GemmLayout::nt, 16, 64, 64);
  matmul.gemm_nt(f.stream, few.gemm());
  GemmProblem<float, float> precise(f.stream, GemmLayout::nt, kTokens, kWide, kNarrow);
  matmul.gemm_nt(f.stream, precise.gemm());
  CHECK(normalized_mean_square_error(precise.result(f.stream), precise.reference(false, false)) < kFp32Tolerance);
  // The engine never runs a GEMM with a bias, so the library need not support one.
  CHECK(forward_error<Bf16>(f, matmul, true) < kBf16Tolerance);
  CHECK(matmul.counts().library == 8);
  CHECK(matmul.counts().own == 3);
}

TEST_CASE("cuBLASLt: the declared alignment matches the operands") {
  Fixture f;
  Matmul matmul = f.fast("good");
  GemmProblem<Bf16, float> problem(f.stream, GemmLayout::nt, kTokens + 1, kWide, kNarrow, 8);
  Gemm<Bf16, float> gemm = problem.gemm();
  matmul.gemm_nt(f.stream, gemm);
  const std::vector<float> whole = problem.result(f.stream);
  gemm.a += problem.lda, gemm.c += problem.ldc, gemm.m -= 1;
  problem.device_c.fill_poison(f.stream);
  matmul.gemm_nt(f.stream, gemm);
  const std::vector<float> part = problem.result(f.stream);
  CHECK(std::equal(whole.begin() + kWide, whole.end(), part.begin() + kWide));
  CHECK(matmul.counts().library == 2);
}

TEST_CASE("cuBLASLt: without a working library, the trainer's own kernels are used and the reason is reported") {
  Fixture f;
  struct Broken {
    const char* fault;
    const char* reason;
  };
  for (const auto& [fault, reason] :
       {Broken{"missing_function", "has no function cublasLtMatmul"},
        {"wrong_result", "failed its self-test: the error of its product nt"},
        {"ignores_beta", "failed its self-test: the error of its product tn, accumulated"},
        {"not_starting", "failed its self-test: it did not start (status 1)"},
        {"absent", "could not be loaded"}}) {
    CAPTURE(fault);
    Matmul matmul = f.fast(fault);
    CHECK_FALSE(matmul.uses_library());
    CHECK(reason_contains(matmul, "All matrix products use the trainer's own kernels: "));
    CHECK(reason_contains(matmul, reason));
    check_every_product(f, matmul);
    CHECK(matmul.counts().library == 0);
  }
}

TEST_CASE("cuBLASLt: shapes without an algorithm, or that fail, use the trainer's own kernels") {
  Fixture f;
  Matmul refusing = f.fast("no_large_algorithm");
  CHECK(refusing.uses_library());
  check_every_product(f, refusing);
  CHECK(refusing.counts().refused == 3);  // the fourth has fewer rows
  CHECK(refusing.counts().library == 1);

  Matmul failing = f.fast("failing_late");
  CHECK(failing.uses_library());
  for (int i = 0; i < 3; ++i) CHECK(forward_error<Bf16>(f, failing) < kBf16Tolerance);
  CHECK(failing.counts().library == 1);
  CHECK(failing.counts().refused == 2);
  CHECK(failing.refusals() ==
        "cuBLASLt refused 2 of 3 large matrix products (first nt 640x200x88), which the trainer's own, slower kernels "
        "computed");
  CHECK(f.fast("good").refusals() == "");
}

TEST_CASE("cuBLASLt: every library and every algorithm is tried until one works") {
  Fixture f;
  Matmul second = f.matmul(MatmulMode::fast, {{fake("not_starting"), fake("wrong_result"), fake("good")}, "a test's"});
  CHECK(reason_contains(second, "use cuBLASLt 13.2.3 (" + fake("good") + ")"));
  check_every_product(f, second);
  CHECK(second.counts().library == 4);

  Matmul none = f.matmul(MatmulMode::fast, {{fake("not_starting"), "absent", fake("missing_function")}, "a test's"});
  CHECK_FALSE(none.uses_library());
  CHECK(none.choice() == "All matrix products use the trainer's own kernels: cuBLASLt 13.2.3 (" + fake("not_starting") +
                             ") failed its self-test: it did not start (status 1); the cuBLASLt in " +
                             fake("missing_function") + " has no function cublasLtMatmul.");

  Matmul later_algorithm = f.fast("first_algorithm");
  check_every_product(f, later_algorithm);
  CHECK(later_algorithm.counts().library == 4);
  CHECK(later_algorithm.counts().refused == 0);
}

TEST_CASE("cuBLASLt: an engine reports refused products") {
  const EngineLibrary library("no_large_algorithm");
  EngineNeeds needs = EngineCase::needs();
  needs.pass_tokens = 720;
  EngineCase gpu({"cuda:0", Precision::bf16, Exactness::fast}, needs);
  CHECK(gpu.engine().refused_products() == std::nullopt);
  const PackedBatch batch = case_batch(std::array{720});
  std::vector<float> logprobs(batch.targets.size()), entropies(logprobs.size());
  gpu.network().make_pass()->forward(batch, 1, logprobs, entropies);
  CHECK(gpu.engine().refused_products().value_or("").starts_with(
      "cuBLASLt refused 2 of 2 large matrix products (first nt 720x208x72)"));
}

TEST_CASE("cuBLASLt: a prefill of many tokens uses it, with a separate SwiGLU, and matches the update") {
  const EngineLibrary library("good");
  EngineNeeds needs = EngineCase::needs();
  needs.model.intermediate_size = 120;
  needs.pass_tokens = needs.context = 720;
  EngineCase gpu({"cuda:0", Precision::bf16, Exactness::fast}, needs);
  PackedBatch batch = case_batch(std::array{720});
  const auto generator = gpu.network().make_generator(1, 720);
  generator->begin(0, std::span(batch.tokens).first(718), -1, 7);
  const std::vector<ResponseRequest> requests{{0, 2}};
  std::vector<std::vector<Choice>> choices;
  generator->generate(requests, {{3, RandomStream::train_sampling}, 5, {}, {}}, choices);
  REQUIRE(choices[0].size() == 2);
  batch.tokens[718] = choices[0][0].id;
  batch.tokens[719] = choices[0][1].id;
  batch.targets = {718, 719};
  std::vector<float> logprobs(2), entropies(2);
  gpu.network().make_pass()->forward(batch, 1, logprobs, entropies);
  for (int i = 0; i < 2; ++i) CHECK(choices[0][i].logprob == doctest::Approx(logprobs[i]).epsilon(0.01));
}

TEST_CASE("cuBLASLt: the library computes only the backward pass in exact mode, and nothing in fp32") {
  Fixture f;
  Matmul exact = f.matmul(MatmulMode::exact, {{fake("good")}, "a test's"});
  CHECK(exact.uses_library());
  CHECK(reason_contains(exact, "of the backward pass"));
  check_every_product(f, exact);
  CHECK(exact.counts().library == 2);
  CHECK(exact.counts().own == 2);
  Matmul fp32 = f.matmul(MatmulMode::fp32, {{fake("good")}, "a test's"});
  CHECK_FALSE(fp32.uses_library());
  CHECK(reason_contains(fp32, "fp32"));

  // A split would change this sum, which has few tiles and a long k.
  const auto bits = [&](Matmul& matmul, int m) {
    GemmProblem<Bf16, float> problem(f.stream, GemmLayout::nt, m, 8, 2048);
    matmul.gemm_nt(f.stream, problem.gemm());
    std::vector<float> result = problem.result(f.stream);
    result.resize(8);
    return result;
  };
  CHECK(bits(exact, 1) == bits(exact, 40));
}

TEST_CASE("cuBLASLt: an engine reports the library of its matrix products") {
  const EngineLibrary library("good");
  ThreadPool threads(1);
  const auto choice = [&](const EngineSettings& settings) {
    const auto engine = make_engine(settings, threads);
    engine->reserve(EngineCase::needs());
    return engine->product_choice().value_or("");
  };
  CHECK(choice({"cuda:0", Precision::bf16, Exactness::fast}).find("use cuBLASLt 13.2.3 (" + fake("good") + ")") !=
        std::string::npos);
  CHECK(choice({"cuda:0", Precision::bf16, Exactness::exact}).find("of the backward pass") != std::string::npos);
  CHECK(choice({"cpu", Precision::fp32, Exactness::exact}) == "");
}

TEST_CASE("cuBLASLt: a rejected attribute is reported") {
  std::string reason;
  lt::Functions functions = lt::open_library({{fake("good")}, "a test's"}, reason)->functions;
  const lt::Shape shape{GemmLayout::nt, 64, 96, 128, 128, 128, 96, lt::DataType::bf16, 16};
  CHECK(lt::Description(functions, shape, 1 << 20).rejected() == "");
  functions.set_preference = [](lt::Descriptor, lt::PreferenceAttribute attribute, const void*, std::size_t) {
    return attribute == lt::PreferenceAttribute::alignment_c ? static_cast<lt::Status>(7) : lt::Status::success;
  };
  CHECK(lt::Description(functions, shape, 1 << 20).rejected() == "alignment_c (status 7)");
}

TEST_CASE("cuBLASLt: the search covers loader paths, Python packages and toolkits") {
  const std::string before = std::getenv("STARPO_CUBLASLT") ? std::getenv("STARPO_CUBLASLT") : "";
  const std::string environment_before = std::getenv("VIRTUAL_ENV") ? std::getenv("VIRTUAL_ENV") : "";
  setenv("STARPO_CUBLASLT", "/no/such/library.so", 1);
  CHECK(lt::default_search().candidates == std::vector<std::string>{"/no/such/library.so"});
  std::string reason;
  CHECK_FALSE(lt::open_library(lt::default_search(), reason));
  CHECK(reason.find("STARPO_CUBLASLT names /no/such/library.so") != std::string::npos);
  setenv("STARPO_CUBLASLT", "none", 1);
  CHECK(lt::default_search().candidates.empty());
  CHECK_FALSE(lt::open_library(lt::default_search(), reason));
  CHECK(reason.find("STARPO_CUBLASLT is none") != std::string::npos);
  setenv("STARPO_CUBLASLT", fake("good").c_str(), 1);
  CHECK(lt::open_library(lt::default_search(), reason)->path == fake("good"));

  // Next to PyTorch in a virtual environment: the folders of CUDA 13 and CUDA 12.
  unsetenv("STARPO_CUBLASLT");
  TemporaryFolder folder;
  const std::filesystem::path packages = folder.path() / "lib/python3.12/site-packages/nvidia";
  const std::filesystem::path newer = packages / "cu13/lib/libcublasLt.so.13",
                              older = packages / "cublas/lib/libcublasLt.so.12";
  for (const auto& file : {newer, older}) {
    std::filesystem::create_directories(file.parent_path());
    std::filesystem::copy_file(fake("good"), file);
  }
  setenv("VIRTUAL_ENV", folder.path().c_str(), 1);
  const auto candidates = lt::default_search().candidates;
  const auto place = [&](const std::string& name) {
    return std::find(candidates.begin(), candidates.end(), name) - candidates.begin();
  };
  CHECK(candidates.front() == "libcublasLt.so.13");
  CHECK(place(newer.string()) < place("libcublasLt.so.12"));
  CHECK(place("libcublasLt.so.12") < place(older.string()));
  CHECK(place(older.string()) < static_cast<long>(candidates.size()));

  // An inactive virtual environment or conda in /opt, or one of several in a folder of /opt.
  unsetenv("VIRTUAL_ENV");
  for (const char* const environment : {"opt/torch", "opt/environments/torch"}) {
    const auto library = folder.path() / environment / "lib/python3.12/site-packages/nvidia/cu13/lib/libcublasLt.so.13";
    std::filesystem::create_directories(library.parent_path());
    std::filesystem::copy_file(fake("good"), library);
    const auto found = lt::default_search(folder.path()).candidates;
    CHECK(std::ranges::find(found, library.string()) != found.end());
  }

  if (environment_before.empty())
    unsetenv("VIRTUAL_ENV");
  else
    setenv("VIRTUAL_ENV", environment_before.c_str(), 1);
}

}  // namespace
}  // namespace starpo::cuda
