// Precompiled for tests, examples and benchmarks, which are programs as a user writes them.
#pragma once

#include <torch/torch.h>
