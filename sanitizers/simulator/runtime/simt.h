// Everything that stands before the device text when the simulator compiles it. Own code; no vendor header is used.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <math.h>
#include <type_traits>
#include <utility>

#include "abi.h"
#include "prelude/base.h"
#include "prelude/math.h"
#include "prelude/integers.h"
#include "prelude/simd.h"
#include "prelude/half.h"
#include "prelude/memory.h"
#include "prelude/atomics.h"
#include "prelude/warp.h"
#include "prelude/groups.h"
#include "prelude/matrix.h"
#include "prelude/tensors.h"
#include "prelude/random.h"
#include "prelude/checked.h"
#include "prelude/names.h"
