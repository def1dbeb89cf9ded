// Precompiled for tests, examples and benchmarks, which write programs as a user does.
#pragma once

#include <torch/torch.h>
