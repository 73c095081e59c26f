// A log says what happened, in the manner of its style.
#include "journal.h"

#include <gtest/gtest.h>

#include <limits>

namespace osler::population {
namespace {

/// Four steps and two looks.
History small_history() {
  History history;
  for (const double loss : {2.0, 1.5, 1.0, 0.5}) {
    Step step;
    step.loss = loss;
    step.metric = 1 - loss / 4;
    step.rate = 0.01;
    step.gradient_norm = 3;
    history.steps.push_back(step);
  }
  history.looks = {{2, 1.75, 0.5}, {4, 0.75, 0.75}};
  return history;
}

Style plain(Format format, Grain grain) {
  Style style;
  style.format = format;
  style.grain = grain;
  style.names = 1;
  style.digits = 2;
  style.epoch = false;
  return style;
}

std::string log_of(const Style& style, const History& history = small_history()) {
  long records = 0;
  Recipe recipe;
  recipe.horizon = 4;
  recipe.evaluations = 2;
  return write_log(recipe, history, style, Random(1), records);
}

TEST(PopulationJournal, WritesOneRowPerEpochWithTheMeanOfItsSteps) {
  EXPECT_EQ(log_of(plain(Format::csv, Grain::every_epoch)),
            "epoch,train_loss,train_acc,lr,grad_norm,val_loss,val_acc\n"
            "1,1.75,0.56,0.01,3,1.75,0.50\n"
            "2,0.75,0.81,0.01,3,0.75,0.75\n");
}

TEST(PopulationJournal, LeavesOutWhatTheStyleDoesNotLog) {
  Style style = plain(Format::csv, Grain::every_step);
  style.metric = style.rate = style.norm = style.validation = false;
  EXPECT_EQ(log_of(style), "step,train_loss\n1,2.00\n2,1.50\n3,1.00\n4,0.50\n");
}

TEST(PopulationJournal, GivesLightningsValidationRowsOfTheirOwn) {
  Style style = plain(Format::lightning_csv, Grain::every_few);
  style.every = 2;
  style.metric = style.rate = style.norm = false;
  EXPECT_EQ(log_of(style), "step,train_loss,val_loss\n2,1.50,\n2,,1.75\n4,0.50,\n4,,0.75\n");
}

TEST(PopulationJournal, SpellsWhatIsNotFiniteAsItsFormatDoes) {
  History history = small_history();
  history.steps[1].loss = kNothing;
  history.steps[2].loss = std::numeric_limits<double>::infinity();
  Style style = plain(Format::json_lines, Grain::every_step);
  style.metric = style.rate = style.norm = style.validation = false;
  EXPECT_NE(log_of(style, history).find("{\"step\": 2, \"train_loss\": NaN}\n{\"step\": 3, \"train_loss\": Infinity}"),
            std::string::npos);
  style.format = Format::csv;
  EXPECT_NE(log_of(style, history).find("2,nan\n3,inf\n"), std::string::npos);
}

TEST(PopulationJournal, WritesKerasLinesAndDicts) {
  Style style = plain(Format::keras_text, Grain::every_epoch);
  style.names = 0;
  style.rate = style.norm = style.training_metric = false;
  EXPECT_EQ(log_of(style),
            "Epoch 1/2 - loss: 1.75 - val_loss: 1.75 - val_accuracy: 0.50\n"
            "Epoch 2/2 - loss: 0.75 - val_loss: 0.75 - val_accuracy: 0.75\n");
  style.format = Format::dicts;
  style.names = 6;
  style.metric = false;
  EXPECT_EQ(log_of(style).substr(0, 58), "{'loss': 1.75, 'epoch': 1}\n{'eval_loss': 1.75, 'epoch': 1}");
}

TEST(PopulationJournal, ShowsSharesAsPercentWhereTheStyleDoes) {
  Style style = plain(Format::csv, Grain::every_epoch);
  style.percent = true;
  EXPECT_NE(log_of(style).find(",50.00\n"), std::string::npos);
}

}  // namespace
}  // namespace osler::population
