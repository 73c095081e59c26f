// Names in languages other than English.
#include "osler/run/foreign_names.h"

#include <gtest/gtest.h>

#include <string>

namespace osler {
namespace {

TEST(ForeignNames, AreTranslatedWordByWord) {
  EXPECT_EQ(in_english("Verlust"), " loss ");
  EXPECT_EQ(in_english("val_Genauigkeit"), "val_ accuracy ");
  EXPECT_EQ(in_english("Pérdida (prueba)"), " loss  ( test )");
  EXPECT_EQ(in_english("ÉPOQUE"), " epoch ");
  EXPECT_EQ(in_english("Точность"), " accuracy ");
}

TEST(ForeignNames, AreFoundWithoutBlanksBetweenThem) {
  EXPECT_EQ(in_english("训练损失"), " train  loss ");
  EXPECT_EQ(in_english("Trainingsverlust"), " train loss ");
  EXPECT_EQ(in_english("Validierungsgenauigkeit"), " validation accuracy ");
}

TEST(ForeignNames, OfSeveralWordsAreOneThing) {
  EXPECT_EQ(in_english("Taux d'apprentissage"), " lr ");
  EXPECT_EQ(in_english("tasa_de_aprendizaje"), " lr ");
}

TEST(ForeignNames, AreKnownInTurkishAndVietnamese) {
  EXPECT_EQ(in_english("Doğrulama Kaybı"), " validation   loss ");
  EXPECT_EQ(in_english("Độ chính xác huấn luyện"), " accuracy   train ");
}

TEST(ForeignNames, LeaveEnglishAndNonsenseAlone) {
  for (const std::string name : {"train/loss", "test_acc", "", "\xff\xfe\x80", "\xc3", "layer.0.weight"}) {
    EXPECT_EQ(in_english(name), name);
  }
}

}  // namespace
}  // namespace osler
