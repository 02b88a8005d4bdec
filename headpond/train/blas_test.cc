// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/blas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <map>
#include <string>
#include <utility>

#include "headpond/train/blas_internal.h"

namespace headpond {
namespace {

using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::StartsWith;

int fake_threads = 3;
int get_threads() { return fake_threads; }
void set_threads(int threads) { fake_threads = threads; }

// A process that has loaded exactly these symbols.
internal::Symbols process_with(std::map<std::string, void*> symbols) {
  return [symbols](const char* name) {
    const auto found = symbols.find(name);
    return found == symbols.end() ? nullptr : found->second;
  };
}

TEST(Blas, OfThisProcessIsFast) {
  ASSERT_TRUE(torch::ones({2, 2}).mm(torch::ones({2, 2})).equal(torch::full({2, 2}, 2.0)));
  const Blas found = blas();
  EXPECT_THAT(found.description, AnyOf(StartsWith("openblas-"), Eq("mkl")));
  EXPECT_TRUE(found.fast);
  EXPECT_TRUE(require_fast(found));
}

TEST(Blas, ThreadsOfThisProcessAreReadBack) {
  EXPECT_EQ(set_blas_threads(2).value(), 2);
  EXPECT_EQ(set_blas_threads(1).value(), 1);
  EXPECT_EQ(blas().threads, 1);
}

TEST(Blas, ThreadsOfTorchReachMklButNotOpenBlas) {
  ASSERT_EQ(set_blas_threads(2).value(), 2);
  torch::set_num_threads(1);
  EXPECT_EQ(blas().threads, blas().description == "mkl" ? 1 : 2)
      << "if torch caps OpenBLAS by itself now, set_blas_threads may go";
  EXPECT_EQ(set_blas_threads(1).value(), 1);
}

TEST(Blas, ProcessWithoutOpenBlasIsRefusedAndToldWhatToInstall) {
  const Blas found = internal::blas(process_with({}));
  EXPECT_FALSE(found.fast);
  const auto refused = require_fast(found);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(refused.error().message(), HasSubstr("libopenblas0-pthread"));
}

TEST(Blas, ReferenceIsNamedByItsFile) {
  const Blas found = internal::blas(process_with({{"sgemm_", reinterpret_cast<void*>(&get_threads)}}));
  EXPECT_THAT(found.description, HasSubstr("headpond_train_test"));
}

TEST(Blas, MklIsFast) {
  const auto mkl = process_with({{"MKL_Get_Max_Threads", reinterpret_cast<void*>(&get_threads)},
                                 {"MKL_Set_Num_Threads", reinterpret_cast<void*>(&set_threads)}});
  EXPECT_TRUE(internal::blas(mkl).fast);
  EXPECT_EQ(internal::set_blas_threads(mkl, 5).value(), 5);
}

int set_own_threads(int threads) { return std::exchange(fake_threads, threads); }

TEST(Blas, MklInsideOfLibtorchIsSetForTheThread) {
  const auto mkl = process_with({{"MKL_Get_Max_Threads", reinterpret_cast<void*>(&get_threads)},
                                 {"MKL_Set_Num_Threads_Local", reinterpret_cast<void*>(&set_own_threads)}});
  EXPECT_EQ(internal::set_blas_threads(mkl, 6).value(), 6);
}

TEST(Blas, DescriptionNamesKindAndVersion) {
  EXPECT_EQ(internal::openblas_description("OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH", 1), "openblas-pthread 0.3.21");
  EXPECT_EQ(internal::openblas_description("OpenBLAS 0.3.26", 2), "openblas-openmp 0.3.26");
  EXPECT_EQ(internal::openblas_description("OpenBLAS", 0), "openblas-serial of unknown version");
}

TEST(Blas, NoThreadsAtAllIsAWrongArgument) {
  EXPECT_EQ(set_blas_threads(0).error().kind(), ErrorKind::InvalidArgument);
}

}  // namespace
}  // namespace headpond
