// Short and foreign names of splits, and the same letters where they mean something else.
#include <gtest/gtest.h>

#include <string_view>

#include "osler/run/role.h"

namespace osler {
namespace {

struct Named {
  std::string_view name;
  Role role;
};

constexpr Named kNames[] = {
    {"L_train", Role::train_loss},
    {"L_tr", Role::train_loss},
    {"Ltrain", Role::train_loss},
    {"L_val", Role::validation_loss},
    {"val_L", Role::validation_loss},
    {"Lval", Role::validation_loss},
    {"L_ev", Role::validation_loss},
    {"ev_loss", Role::validation_loss},
    {"loss/ev", Role::validation_loss},
    {"evLoss", Role::validation_loss},
    {"ev_acc", Role::validation_accuracy},
    {"teloss", Role::validation_loss},
    {"te_acc", Role::validation_accuracy},
    {"hold_out_loss", Role::validation_loss},
    {"ev", Role::other},           // an agent's explained variance, or anything
    {"l", Role::other},            // of an episode
    {"L_cls_train", Role::other},  // one part of a loss
    {"taux_apprentissage", Role::learning_rate},
    {"tasa_aprendizaje", Role::learning_rate},
    {"perte d'entraînement", Role::train_loss},
    {"perte d'évaluation", Role::validation_loss},
    {"förlust", Role::train_loss},
    {"valideringsförlust", Role::validation_loss},
    {"потери на тесте", Role::validation_loss},
};

TEST(SplitNames, AreKnownShortAndForeign) {
  for (const auto& [name, role] : kNames) EXPECT_EQ(to_string(guess_role(name).role), to_string(role)) << name;
}

}  // namespace
}  // namespace osler
