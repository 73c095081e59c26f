// The vocabulary of operations, as this module calls it.
#pragma once

#include "monitor/operations.h"

namespace osler::torch {

using monitor::activation_shape;
using monitor::ActivationShape;
using monitor::in_place;
using monitor::only_looks;
using monitor::overwrites;
using monitor::Part;
using monitor::part_of;
using monitor::plain_name;
using monitor::plain_node_name;
using monitor::uninitialised;

}  // namespace osler::torch
