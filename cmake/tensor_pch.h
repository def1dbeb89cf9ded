// Precompiled for the folders of the library that work on tensors: a precompiled header that holds more costs seconds
// in every file.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
