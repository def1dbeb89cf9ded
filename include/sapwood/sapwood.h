#pragma once

#include "sapwood/compile.h"
#include "sapwood/error.h"
#include "sapwood/report.h"
#include "sapwood/train_step.h"
#include "sapwood/version.h"
