// Precompiled for modules and optimizers in the library, and for tests, examples and benchmarks.
#pragma once

#include <torch/torch.h>
