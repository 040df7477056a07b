"""Which ``<headers>`` belong to the system: their content is stripped and stands in each reader's own prelude.

Example::

    is_system("cuda_runtime.h"), is_system("cub/block/block_reduce.cuh"), is_system("mylib/tile.h")  # True True False
"""

from __future__ import annotations

_C = """
assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign
stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar
wchar wctype malloc memory unistd fcntl dirent pthread omp mpi nccl getopt strings sched dlfcn
termios immintrin xmmintrin emmintrin
"""
_CPP = """
algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv
chrono cinttypes ciso646 climits clocale cmath codecvt compare complex concepts condition_variable
coroutine csetjmp csignal cstdalign cstdarg cstdbool cstddef cstdint cstdio cstdlib cstring ctgmath
ctime cuchar cwchar cwctype deque exception execution filesystem format forward_list fstream
functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list
locale map memory memory_resource mutex new numbers numeric optional ostream queue random ranges
ratio regex scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
stop_token streambuf string string_view strstream syncstream system_error thread tuple type_traits
typeindex typeinfo unordered_map unordered_set utility valarray variant vector version
"""
_CUDA = """
cuda cuda_runtime cuda_runtime_api cuda_fp16 cuda_bf16 cuda_fp8 cuda_fp6 cuda_fp4 cuda_awbarrier
cuda_awbarrier_primitives cuda_pipeline cuda_pipeline_primitives cuda_device_runtime_api
cuda_occupancy cuda_profiler_api cuda_texture_types cuda_surface_types cudart_platform
channel_descriptor cooperative_groups device_functions device_atomic_functions
device_launch_parameters driver_functions driver_types builtin_types host_config host_defines
library_types math_constants math_functions mma sm_20_intrinsics sm_30_intrinsics sm_32_intrinsics
sm_35_intrinsics sm_60_atomic_functions sm_61_intrinsics surface_functions surface_types
texture_fetch_functions texture_types vector_functions vector_types cudaTypedefs cudaGL
cuda_gl_interop curand curand_kernel curand_mtgp32_host curand_mtgp32_kernel curand_philox4x32_x
cublas cublas_v2 cublas_api cublasLt cublasXt cufft cufftXt cusolverDn cusolver_common cusparse
cusparse_v2 cudnn cudnn_frontend nvrtc nvToolsExt nvml npp nvjpeg crt/device_functions
crt/host_defines crt/math_functions crt/mma
"""
_NAMES = frozenset(
    [f"{n}.h" for n in (_C + _CUDA).split()]
    + _CPP.split()
    + ["cuda_fp16.hpp", "cuda_bf16.hpp", "cuda_fp8.hpp"]
)
_FOLDERS = """
torch ATen c10 caffe2 pybind11 cub thrust cuda nv cooperative_groups nvtx3 sys linux crt
experimental bits arpa netinet
"""


def is_system(name: str) -> bool:
    """Whether ``<name>`` is a header of C, C++, POSIX, the CUDA toolkit or PyTorch."""
    return name in _NAMES or (name.split("/", 1)[0] in _FOLDERS.split() and "/" in name) or name == "Python.h"


def is_torch(name: str) -> bool:
    """Whether including ``<name>`` makes the file a PyTorch extension."""
    return name.split("/", 1)[0] in ("torch", "ATen", "c10", "pybind11")
