// Every text log and W&B file of the corpus gives the curves its label tells of; skipped where there is no corpus.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "formats/claim.h"
#include "reading.h"

namespace osler::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = fs::path(OSLER_SOURCE_DIR) / "../shared/corpus/files";

/// A curve that must be found: its number of points, its first and its last value.
struct Curve {
  std::string series;
  std::size_t points;
  double first;
  double last;
};

struct Log {
  std::string file;
  std::string format;
  std::vector<Curve> curves;
};

void PrintTo(const Log& log, std::ostream* out) {
  *out << log.file;
}

const std::vector<Log>& logs() {
  static const std::vector<Log> all = {
      {"rl_stdout_table/dccars_3e485ba.txt", "text", {{"mean 100 episode reward", 44, -989.4, -755.4}}},
      {"rl_stdout_table/dccars_8df9f03.txt", "text", {{"mean 100 episode reward", 894, 9.8, 272.2}}},
      {"llmc_text/llmc_9d5aec5.log",
       "llmc",
       {{"train loss", 19560, 11.0091, 3.2217}, {"val loss", 80, 11.0092, 3.2722}}},
      {"llmc_text/llmc_c7bc2ab.log",
       "llmc",
       {{"train loss", 9536, 10.9656, 3.34018}, {"val loss", 76, 10.96887, 3.275959}}},
      {"nanogpt_text/seis_567f84b.log", "text", {{"train/loss", 800, 8.739, 1.8766}, {"val loss", 17, 9.8491, 2.3993}}},
      {"nanogpt_text/seis_adf0135.log", "text", {{"train/loss", 800, 8.8782, 2.1367}, {"val loss", 17, 9.8482, 2.288}}},
      {"nanogpt_text/seis_dda840f.log",
       "text",
       {{"train/loss", 800, 8.6864, 2.7499}, {"val loss", 17, 9.8535, 2.6645}}},
      {"deepspeed_text/dschat_ed4b8e0.log", "text", {{"eval/ppl", 17, 4998.296, 1.80851}}},
      {"deepspeed_text/dschat_38437e3.log",
       "text",
       {{"average reward score", 477, -0.6792, 4.38281}, {"act_loss", 477, 0.209961, -0.0387573}}},
      {"deepspeed_text/dschat_2f75b0a.log", "text", {{"eval/loss", 2, 0.693359, 0.665081}}},
      {"deepspeed_text/dschat_ea44d1b.log",
       "text",
       {{"eval/acc", 2, 0.492424, 0.699495}, {"loss", 1, 0.575479, 0.575479}}},
      {"deepspeed_text/dsdeff_7a8a131.log", "text", {{"ppl", 107, 61.8007, 23.9859}}},
      {"deepspeed_text/dsdeff_f0c06f8.log",
       "text",
       {{"Loss", 41, 2.9208, 0.05626}, {"val/Loss", 20, 0.61675, 0.071221}}},
      {"deepspeed_text/dsdeff_8e77c52.log", "text", {{"Perplexity", 524, 61.5719, 47.8162}}},
      {"fairseq_text/w2v_707b624.log",
       "text",
       {{"loss", 23, 9.276, 3.922}, {"valid_loss", 10, 6.389, 3.792}, {"code_perplexity", 23, 377.731, 27.92}}},
      {"darknet_text/dark_202aadb.log",
       "darknet",
       {{"loss", 6000, 1123.449341, 0.121626},
        {"avg loss", 6000, 1123.449341, 0.752329},
        {"learning rate", 6000, 0, 1e-5}}},
      {"tqdm_stdout/gates_7aafc6c.out", "text", {{"train_loss_step", 4857, 2.28, 2.06}}},
      {"tqdm_stdout/gates_e757119.out", "text", {{"train_loss_step", 3657, 3.58, 1.64}}},
      {"pytorch_text/nmtzh_fa2d8c0.log", "text", {{"loss", 18, 8.836, 2.4}, {"dev/BLEU", 18, 0.01, 7.56}}},
      {"pytorch_text/malc_b94392a.log", "text", {{"Loss", 5, 0.382, 0.359}, {"valid_Loss", 5, 0.361, 0.36}}},
      {"pytorch_text/malc_6ca50b3.log", "text", {{"Loss", 5, 0.164, 0.029}, {"valid_Loss", 5, 0.116, 0.148}}},
      {"pytorch_text/cifar_6de20b1.log", "text", {{"Train Loss", 65, 1.7998, 0.572}, {"Test Acc", 65, 53.31, 85.2}}},
      {"pytorch_text/cifar_7a192d2.log", "text", {{"Train Loss", 35, 1.6279, 0.572}, {"Test Acc", 35, 59.86, 85.2}}},
      {"flair_text/flair_6d2de7f.log",
       "text",
       {{"loss (epoch)", 15, 0.8579, 0.2784}, {"dev/loss", 15, 0.67432, 0.69574}, {"dev/score", 15, 0.7667, 0.7187}}},
      {"vits_text/svc_e9bb9ce.log", "text", {{"loss", 1, 2.723755, 2.723755}, {"loss.4", 1, 3.609936, 3.609936}}},
      {"pix2pix_text/deblur_df7466e.txt",
       "text",
       {{"G_L1", 328, 1021.707, 275.421}, {"G_L1 #2", 181, 1554.35, 391.713}}},
      {"pix2pix_text/autogan_4efd3a3.txt", "text", {{"G_GAN", 10, 1.119, 2.247}, {"val_G_L1", 10, 0.773, 0.64}}},
      {"detectron2_text/nyu_8ac942e.txt", "text", {{"total_loss", 1641, 156.1, 0.2481}, {"eval/AP", 47, 0.01, 5.985}}},
      {"modded_nanogpt_text/mod_64db780.txt",
       "text",
       {{"train_loss", 6200, 10.9184, 3.2533}, {"val_loss", 51, 10.9264, 3.2785}}},
      {"modded_nanogpt_text/mod_5b13d6e.txt",
       "text",
       {{"train_loss", 3242, 10.8259, 3.1107}, {"val_loss", 27, 10.8259, 3.2484}}},
      {"modded_nanogpt_text/mod_458676a.txt", "text", {{"val_loss", 29, 10.9683, 3.27503}}},
      {"modded_nanogpt_text/mod_b5eb8a4.txt", "text", {{"val_loss", 188, 10.8258, 3.27915}}},
      {"modded_nanogpt_text/mod_0b06ff1.txt", "text", {{"val_loss", 28, 10.8258, 3.27523}}},
      {"wandb_output_log/autogan_4249040.log", "text", {{"G_GAN", 4, 1.198, 2.812}, {"G_L1", 4, 0.23, 0.092}}},
      {"opennmt_text/ykt_onmt_a.txt",
       "text",
       {{"ppl", 20, 147677.56, 502.18}, {"Validation perplexity", 2, 1604.68, 1008.72}}},
      {"opennmt_text/ykt_onmt_b.txt", "text", {{"ppl", 53, 541.41, 3.21}, {"lr", 53, 0.00001, 0.00031}}},
      {"marian_text/ykt_marian_a.txt",
       "text",
       {{"val/cross-entropy", 34, 22.1416, 0.099185}, {"val/bleu", 34, 21.4778, 99.266}}},
      {"marian_text/ykt_marian_b.txt",
       "text",
       {{"val/cross-entropy", 28, 2.09086, 1.74229}, {"val/bleu", 28, 86.0347, 93.9267}}},
      {"marian_text/ykt_marian_c.txt",
       "text",
       {{"val/cross-entropy", 27, 4.96333, 2.77554}, {"val/bleu", 27, 80.883, 86.2612}}},
      {"marian_text/ykt_marian_d.txt",
       "text",
       {{"Cost", 56, 6.717859, 0.00466096}, {"val/cross-entropy", 6, 9.40685, 9.86535}}},
      {"simple_nmt_text/ykt_snmt_a.txt", "text", {{"loss", 100, 4.8847, 1.1864}, {"val/loss", 100, 3.9912, 2.2291}}},
      {"simple_nmt_text/ykt_snmt_b.txt", "text", {{"loss", 100, 6.0344, 2.4962}, {"val/loss", 100, 5.8927, 2.3821}}},
      {"simple_nmt_text/ykt_snmt_c.txt", "text", {{"loss", 300, 5.5464, 0.22808}, {"val/loss", 300, 4.5969, 3.7}}},
      {"simple_nmt_text/ykt_snmt_d.txt",
       "text",
       {{"loss", 94, 0.014338, 0.021157}, {"val/loss", 94, 0.75941, 0.74237}}},
      {"xnmt_text/ykt_xnmt_a.txt", "text", {{"train_loss/word", 434, 8.723841, 2.84688}}},
      {"keras_stdout/ykt_keras_a.txt", "text", {{"loss", 20, 1.0641, 0.0042}, {"val_loss", 20, 3.4412, 0.0013}}},
      {"keras_stdout/ykt_keras_b.txt", "text", {{"loss", 8, 0.9141, 0.6721}, {"val_acc", 8, 0.551, 0.5102}}},
      {"wandb_binary/kge_ca9ee1d.wandb",
       "wandb",
       {{"loss", 37, 73021.3, 50058.73}, {"reg loss", 37, 6.02034e-11, 6.24171e-11}}},
      {"wandb_binary/pet_27835ba.wandb",
       "wandb",
       {{"val_bce_loss", 10, 0.649831, 0.646025}, {"train_loss_epoch", 10, 0.659937, 0.638473}}},
      {"wandb_binary/pet_4bb14f4.wandb",
       "wandb",
       {{"val_rmse_loss", 5, 19.1266, 19.1757}, {"train_loss_epoch", 5, 0.658512, 0.628427}}},
      {"wandb_binary/pet_09c90d8.wandb",
       "wandb",
       {{"val_bce_loss", 8, 0.653011, 0.651602}, {"lr-AdamW", 9, 9.84821e-05, 1.84478e-05}}},
      {"wandb_binary/pet_03b0409.wandb",
       "wandb",
       {{"val_bce_loss", 4, 0.653863, 0.663013}, {"val_rmse_loss", 4, 19.2786, 20.1943}}},
  };
  return all;
}

std::string test_name(const ::testing::TestParamInfo<Log>& info) {
  return fs::path(info.param.file).stem().string();
}

class Corpus : public ::testing::TestWithParam<Log> {};

INSTANTIATE_TEST_SUITE_P(Text, Corpus, ::testing::ValuesIn(logs()), test_name);

TEST_P(Corpus, GivesTheCurvesOfItsLabel) {
  std::ifstream file(kCorpus / GetParam().file, std::ios::binary);
  if (!file) GTEST_SKIP() << "the corpus of real logs is not here";
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const Peek peek{kCorpus / GetParam().file, std::string_view(bytes).substr(0, kPeekBytes), bytes.size() <= kPeekBytes};
  const Format* format = claim(peek).format;
  ASSERT_NE(format, nullptr);
  EXPECT_EQ(format->id, GetParam().format);
  const RecordingSink sink = read_whole_text(*format, peek.path, bytes).sink;
  for (const Curve& curve : GetParam().curves) {
    const std::vector<double> values = sink.values(curve.series);
    ASSERT_EQ(values.size(), curve.points) << curve.series;
    EXPECT_NEAR(values.front(), curve.first, 1e-5 * std::fabs(curve.first)) << curve.series;
    EXPECT_NEAR(values.back(), curve.last, 1e-5 * std::fabs(curve.last)) << curve.series;
  }
}

}  // namespace
}  // namespace osler::testing
