// Which names are those of layers, and which only look like it.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "osler/run/role.h"

namespace osler {
namespace {

TEST(LayerRoles, AreFoundUnderTheFoldersOfTrainers) {
  const struct {
    std::string_view name;
    Role role;
    std::string_view layer;
  } kCases[] = {{"grad_norm/fc1.weight", Role::layer_gradient, "fc1.weight"},
                {"train/grad_norm/fc1.weight", Role::layer_gradient, "fc1.weight"},
                {"l2_norm/grad/blocks.0.attn.weight", Role::layer_gradient, "blocks.0.attn.weight"},
                {"grad/norm/blocks.0.attn.weight", Role::layer_gradient, "blocks.0.attn.weight"},
                {"grad_2.0_norm/fc1.weight", Role::layer_gradient, "fc1.weight"},
                {"params/norm/fc1.weight", Role::layer_weight, "fc1.weight"},
                {"train/grad_norm/total", Role::gradient_norm, ""},
                {"train/grad_norm", Role::gradient_norm, ""},
                {"grad/norm/total", Role::gradient_norm, ""}};
  for (const auto& [name, role, layer] : kCases) {
    const RoleGuess guess = guess_role(name);
    EXPECT_EQ(guess.role, role) << name;
    EXPECT_EQ(guess.layer, layer) << name;
  }
}

std::vector<std::string> layers_of(const std::vector<std::string>& names) {
  osler::Run run;
  for (const std::string& name : names) {
    const SeriesId id = run.series(name);
    for (std::int64_t step = 0; step < 3; ++step) run.add(Event{id, step, kNoTime, 1.0});
  }
  std::vector<std::string> layers;
  const auto roles = RoleMap::infer(run);
  for (const Cast& cast : roles->in(Role::layer_gradient)) layers.push_back(cast.guess.layer);
  return layers;
}

TEST(LayerRoles, FlatNamesAreLayersInCompany) {
  EXPECT_EQ(layers_of({"grad_norm_fc1", "grad_norm_fc2", "grad_norm_fc3"}),
            (std::vector<std::string>{"fc1", "fc2", "fc3"}));
  EXPECT_EQ(layers_of({"layers.0.weight.grad_norm", "layers.1.weight.grad_norm", "layers.2.q.weight.grad_norm"}),
            (std::vector<std::string>{"layers.0.weight", "layers.1.weight", "layers.2.q.weight"}));
  EXPECT_EQ(layers_of({"grad_norm", "grad_norm_encoder", "grad_norm_decoder", "grad_norm_head"}),
            (std::vector<std::string>{"encoder", "decoder", "head"}));
}

TEST(LayerRoles, ShortNamesAreLayersBesideOthersOfTheKind) {
  EXPECT_EQ(layers_of({"grad_norm/l0", "grad_norm/l1", "grad_norm/l2", "grad_norm/l3"}),
            (std::vector<std::string>{"l0", "l3", "l1", "l2"}));
  EXPECT_TRUE(layers_of({"grad_norm/l2", "grad_norm/l1"}).empty());
}

TEST(LayerRoles, NormsOfTheWholeAndOfOtherMachinesAreNoLayers) {
  EXPECT_TRUE(layers_of({"grad_norm", "grad_norm_before_clip", "grad_norm_after_clip", "grad_norm_max"}).empty());
  EXPECT_TRUE(layers_of({"grad_norm_step", "grad_norm_epoch", "train/grad_norm"}).empty());
  EXPECT_TRUE(layers_of({"rank0/grad_norm", "rank1/grad_norm", "rank2/grad_norm"}).empty());
  EXPECT_TRUE(layers_of({"grad_norm_actor", "grad_norm_critic", "grad_norm_value"}).empty());
  EXPECT_TRUE(layers_of({"grad_norm", "grad_norm.1", "grad_norm.2", "grad_norm.3"}).empty());
  EXPECT_TRUE(layers_of({"grad_norm_fc1", "grad_norm_fc2"}).empty());
}

}  // namespace
}  // namespace osler
