// Declarations that host code is parsed against: CUDA runtime, torch, the bits of std that launchers use.
// Declarations only; what they mean is decided in verifier/contracts. Never compiled, never linked.
#pragma clang diagnostic ignored "-Weverything"
#define __global__ __attribute__((global))
#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
#define __restrict__ __restrict
#define __cluster_dims__(...)
#define NULL __null
#define EXIT_FAILURE 1
#define EXIT_SUCCESS 0
#define assert(...) ::vk::asserted(static_cast<bool>(__VA_ARGS__))
#define offsetof(t, m) __builtin_offsetof(t, m)
#define RAND_MAX 2147483647
#define CLOCKS_PER_SEC 1000000L

typedef unsigned long size_t;
typedef long ptrdiff_t;
typedef long ssize_t;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef unsigned long uintptr_t;
typedef long intptr_t;
typedef unsigned int uint;
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned long ulong;
typedef decltype(nullptr) nullptr_t;

#define VK_HD __attribute__((host)) __attribute__((device))
#define VK_D __attribute__((device))

namespace std {
template <class E> class initializer_list {
  const E *b_;
  size_t n_;
public:
  constexpr initializer_list() : b_(nullptr), n_(0) {}
  constexpr size_t size() const { return n_; }
  constexpr const E *begin() const { return b_; }
  constexpr const E *end() const { return b_ + n_; }
};
}

namespace vk {
// What the reader does not know: accepts and becomes anything.
struct unknown {
  unknown();
  template <class T> unknown(const T &);
  unknown(std::initializer_list<unknown>);
  template <class T> operator T() const;
  template <class... A> unknown operator()(A &&...) const;
  template <class T> unknown operator[](T) const;
  /*members*/
};
#define VK_OP(R, op) \
  template <class T> R operator op(const unknown &, const T &); template <class T> R operator op(const T &, const unknown &); \
  R operator op(const unknown &, const unknown &);
VK_OP(bool, ==) VK_OP(bool, !=) VK_OP(bool, <) VK_OP(bool, >) VK_OP(bool, <=) VK_OP(bool, >=)
VK_OP(unknown, +) VK_OP(unknown, -) VK_OP(unknown, *) VK_OP(unknown, /) VK_OP(unknown, %) VK_OP(unknown, |) VK_OP(unknown, &)
struct any {
  any();
  template <class T> any(const T &);
  any(std::initializer_list<any>);
};
void check(bool);
void asserted(bool);
template <class... A> void told(const A &...);
void fail();
bool dispatch(any, any);
void no_dispatch();
}

// --- std ------------------------------------------------------------------------------------------------------------
namespace std {
typedef ::size_t size_t; typedef ::ptrdiff_t ptrdiff_t; typedef ::int64_t int64_t; typedef ::int32_t int32_t;
typedef ::uint32_t uint32_t; typedef ::uint64_t uint64_t; typedef ::uint8_t uint8_t; typedef ::int8_t int8_t;
typedef ::int16_t int16_t; typedef ::uint16_t uint16_t; typedef ::nullptr_t nullptr_t; typedef ::uintptr_t uintptr_t;
template <bool C, class A, class B> struct conditional { typedef A type; };
template <class A, class B> struct conditional<false, A, B> { typedef B type; };
template <bool C, class A, class B> using conditional_t = typename conditional<C, A, B>::type;
template <class A, class B> struct is_same { static constexpr bool value = false; };
template <class A> struct is_same<A, A> { static constexpr bool value = true; };
template <class A, class B> constexpr bool is_same_v = is_same<A, B>::value;
template <class T> struct is_floating_point { static constexpr bool value = is_same<T, float>::value || is_same<T, double>::value; };
template <class T> constexpr bool is_floating_point_v = is_floating_point<T>::value;
template <bool C, class T = void> struct enable_if {};
template <class T> struct enable_if<true, T> { typedef T type; };
template <bool C, class T = void> using enable_if_t = typename enable_if<C, T>::type;
template <class T, T V> struct integral_constant { static constexpr T value = V; typedef T value_type; constexpr operator T() const { return V; } constexpr T operator()() const { return V; } };
template <bool V> using bool_constant = integral_constant<bool, V>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;
template <class T> struct remove_reference { typedef T type; };
template <class T> struct remove_reference<T &> { typedef T type; };
template <class T> struct remove_reference<T &&> { typedef T type; };
template <class T> constexpr typename remove_reference<T>::type &&move(T &&t);
template <class T> constexpr T &&forward(typename remove_reference<T>::type &t);
template <class T> constexpr const T &min(const T &, const T &);
template <class T> constexpr const T &max(const T &, const T &);
template <class T> constexpr T min(initializer_list<T>);
template <class T> constexpr T max(initializer_list<T>);
template <class T> constexpr T clamp(const T &, const T &, const T &);
template <class T> void swap(T &, T &);
template <class T> T ceil(T); template <class T> T floor(T); template <class T> T round(T);
template <class T> T abs(T); template <class T> T fabs(T); template <class T> T exp(T); template <class T> T log(T);
template <class T> T log2(T); template <class T> T sqrt(T); template <class T> T tanh(T); template <class T> T sin(T);
template <class T> T cos(T); template <class T, class U> T pow(T, U); template <class T> bool isnan(T);
template <class T, class U> T fmod(T, U); template <class T> T rsqrt(T); template <class T> bool isinf(T); template <class T> bool isfinite(T); template <class T> T log1p(T); template <class T> T cbrt(T); template <class T> T lround(T);
double ceil(int); double ceil(long); double floor(int); double sqrt(int); double sqrt(long); double log2(int); double log2(long);
template <class T> struct numeric_limits {
  static constexpr T max(); static constexpr T min(); static constexpr T lowest(); static constexpr T infinity();
  static constexpr T epsilon(); static constexpr T quiet_NaN();
};
struct string {
  string(); string(const char *); template <class T> string(T, T);
  string operator+(const string &) const; bool operator==(const string &) const; bool operator!=(const string &) const;
  const char *c_str() const; size_t size() const; bool empty() const; string &operator+=(const string &);
};
string operator+(const char *, const string &);
typedef string string_view;
string to_string(int); string to_string(long); string to_string(unsigned long); string to_string(double); string to_string(unsigned);
string to_string(long long);
int stoi(const string &); long stol(const string &); float stof(const string &);
template <class T> struct vector {
  typedef T value_type; typedef T *iterator; typedef const T *const_iterator;
  vector(); explicit vector(size_t); vector(size_t, const T &); vector(initializer_list<T>); template <class I> vector(I, I);
  T &operator[](size_t); const T &operator[](size_t) const; T &at(size_t); size_t size() const; bool empty() const;
  void push_back(const T &); template <class... A> T &emplace_back(A &&...); T *data(); const T *data() const;
  T *begin(); T *end(); const T *begin() const; const T *end() const; T &back(); T &front(); const T &back() const;
  void resize(size_t); void resize(size_t, const T &); void reserve(size_t); void clear(); void pop_back();
  template <class... A> T *insert(A &&...); template <class... A> T *erase(A &&...); T *rbegin(); T *rend();
  const T *cbegin() const; const T *cend() const;
};
template <class T, size_t N> struct array {
  T data_[N]; T &operator[](size_t); const T &operator[](size_t) const; constexpr size_t size() const { return N; } T *data(); T *begin(); T *end();
};
template <class A, class B> struct pair { A first; B second; pair(const A &, const B &); pair(); };
template <class A, class B> pair<A, B> make_pair(A, B);
template <class... A> struct tuple { tuple(); tuple(const A &...); };
template <class... A> tuple<A...> make_tuple(A...);
template <class... A> tuple<A &...> tie(A &...);
template <size_t I, class... A> struct nth_;
template <class H, class... R> struct nth_<0, H, R...> { typedef H type; };
template <size_t I, class H, class... R> struct nth_<I, H, R...> { typedef typename nth_<I - 1, R...>::type type; };
template <size_t I, class... A> typename nth_<I, A...>::type &get(const tuple<A...> &);
template <size_t I, class A, class B> typename nth_<I, A, B>::type &get(const pair<A, B> &);
template <class T> struct tuple_size;
template <class... A> struct tuple_size<tuple<A...>> { static constexpr size_t value = sizeof...(A); };
template <class A, class B> struct tuple_size<pair<A, B>> { static constexpr size_t value = 2; };
template <class T> struct tuple_size<const T> { static constexpr size_t value = tuple_size<T>::value; };
template <size_t I, class T> struct tuple_element;
template <size_t I, class T> struct tuple_element<I, const T> { typedef const typename tuple_element<I, T>::type type; };
template <size_t I, class... A> struct tuple_element<I, tuple<A...>> { typedef typename nth_<I, A...>::type type; };
template <size_t I, class A, class B> struct tuple_element<I, pair<A, B>> { typedef typename nth_<I, A, B>::type type; };
struct nullopt_t {}; constexpr nullopt_t nullopt{};
template <class T> struct optional {
  optional(); optional(nullopt_t); optional(const T &); bool has_value() const; explicit operator bool() const; T &value() const;
  template <class U> T value_or(U) const; T &operator*() const; T *operator->() const;
};
template <class T> struct unique_ptr { unique_ptr(); unique_ptr(T *); T *get() const; T &operator*() const; T *operator->() const; };
template <class T> struct shared_ptr { shared_ptr(); shared_ptr(T *); T *get() const; T &operator*() const; T *operator->() const; };
template <class F> struct function;
template <class R, class... A> struct function<R(A...)> { function(); template <class F> function(F); R operator()(A...) const; };
struct exception { const char *what() const; };
struct runtime_error : exception { runtime_error(const string &); };
struct invalid_argument : exception { invalid_argument(const string &); };
struct logic_error : exception { logic_error(const string &); };
struct out_of_range : exception { out_of_range(const string &); };
struct ostream { template <class T> ostream &operator<<(const T &); ostream &operator<<(ostream &(*)(ostream &)); };
ostream &endl(ostream &); ostream &flush(ostream &);
extern ostream cout; extern ostream cerr; extern ostream clog;
struct ostringstream : ostream { string str() const; };
struct stringstream : ostream { string str() const; };
struct mt19937 { mt19937(unsigned = 0); unsigned operator()(); };
struct random_device { unsigned operator()(); };
template <class T = double> struct uniform_real_distribution { uniform_real_distribution(T, T); template <class G> T operator()(G &); };
template <class T = double> struct normal_distribution { normal_distribution(T, T); template <class G> T operator()(G &); };
template <class T = int> struct uniform_int_distribution { uniform_int_distribution(T, T); template <class G> T operator()(G &); };
template <class I, class T> void fill(I, I, const T &);
template <class I, class T> T accumulate(I, I, T);
template <class I, class T, class F> T accumulate(I, I, T, F);
template <class I> void sort(I, I);
template <class T = void> struct multiplies { T operator()(T, T) const; };
template <> struct multiplies<void> { template <class A> A operator()(A, A) const; };
void exit(int); void abort(); int rand(); void srand(unsigned); void *malloc(size_t); void free(void *);
void *memcpy(void *, const void *, size_t); void *memset(void *, int, size_t);
}
using std::isnan; using std::isinf; template <class T> bool isfinite(T); template <class T> bool signbit(T);
template <class T> T ceil(T); double ceil(int); double ceil(long); template <class T> T floor(T);
template <class T> T sqrt(T); double sqrt(int); double sqrt(long); float ceilf(float); float floorf(float); float sqrtf(float);
float fabsf(float); float expf(float); float logf(float); float tanhf(float); float powf(float, float); float rsqrtf(float);
float fmaxf(float, float); float fminf(float, float); double fabs(double); double exp(double); double log(double);
double log2(double); double pow(double, double); double tanh(double); double sin(double); double cos(double); float log2f(float);
double fmax(double, double); double fmin(double, double); float sinf(float); float cosf(float); double round(double); float roundf(float);
double exp2(double); float exp2f(float);
int abs(int); long labs(long);
template <class T, class U> VK_HD auto max(T a, U b) -> decltype(a + b);
template <class T, class U> VK_HD auto min(T a, U b) -> decltype(a + b);
extern "C" {
int printf(const char *, ...); struct vk_file; typedef vk_file FILE; extern FILE *stderr; extern FILE *stdout;
int fprintf(FILE *, const char *, ...); int snprintf(char *, size_t, const char *, ...); void *malloc(size_t);
void *calloc(size_t, size_t); void free(void *); void exit(int) __attribute__((noreturn)); void abort() __attribute__((noreturn));
int atoi(const char *); long atol(const char *); double atof(const char *); int rand(); void srand(unsigned); void *memcpy(void *, const void *, size_t);
void *memset(void *, int, size_t); int strcmp(const char *, const char *); size_t strlen(const char *); int puts(const char *);
int memcmp(const void *, const void *, size_t); char *getenv(const char *); int fflush(FILE *);
FILE *fopen(const char *, const char *); int fclose(FILE *); size_t fread(void *, size_t, size_t, FILE *); size_t fwrite(const void *, size_t, size_t, FILE *);
typedef long clock_t; typedef long time_t; long time(long *); long clock();
}

// --- CUDA runtime ---------------------------------------------------------------------------------------------------
struct dim3 { unsigned x, y, z; VK_HD constexpr dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {} };
struct uint3 { unsigned x, y, z; };
extern const VK_D uint3 threadIdx, blockIdx; extern const VK_D dim3 blockDim, gridDim; extern const VK_D int warpSize;
#define VK_VEC(T, N) \
  struct N##1 { T x; }; struct __attribute__((aligned(2 * sizeof(T)))) N##2 { T x, y; }; struct N##3 { T x, y, z; }; \
  struct __attribute__((aligned(4 * sizeof(T) > 16 ? 16 : 4 * sizeof(T)))) N##4 { T x, y, z, w; }; \
  VK_HD N##2 make_##N##2(T, T); VK_HD N##3 make_##N##3(T, T, T); VK_HD N##4 make_##N##4(T, T, T, T);
VK_VEC(float, float) VK_VEC(double, double) VK_VEC(int, int) VK_VEC(short, short) VK_VEC(signed char, char) VK_VEC(long, long)
VK_VEC(long long, longlong) VK_VEC(unsigned char, uchar) VK_VEC(unsigned short, ushort) VK_VEC(unsigned long, ulong)
struct uint1 { unsigned x; }; struct __attribute__((aligned(8))) uint2 { unsigned x, y; };
struct __attribute__((aligned(16))) uint4 { unsigned x, y, z, w; };
VK_HD uint2 make_uint2(unsigned, unsigned); VK_HD uint4 make_uint4(unsigned, unsigned, unsigned, unsigned); VK_HD uint3 make_uint3(unsigned, unsigned, unsigned);
enum cudaError { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorUnknown = 999 };
typedef cudaError cudaError_t;
struct CUstream_st; typedef CUstream_st *cudaStream_t; struct CUevent_st; typedef CUevent_st *cudaEvent_t; typedef CUstream_st *CUstream;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributePreferredSharedMemoryCarveout = 9 };
enum cudaDeviceAttr { cudaDevAttrMultiProcessorCount = 16, cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrWarpSize = 10 };
struct cudaDeviceProp {
  char name[256]; size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor, sharedMemPerBlockOptin; int regsPerBlock, warpSize, maxThreadsPerBlock;
  int maxThreadsDim[3], maxGridSize[3]; int clockRate, major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, memoryClockRate, memoryBusWidth, l2CacheSize;
  size_t totalConstMem, memPitch, textureAlignment; int asyncEngineCount, concurrentKernels, canMapHostMemory, managedMemory, unifiedAddressing, integrated, computeMode, ECCEnabled, pciBusID, pciDeviceID, deviceOverlap, cooperativeLaunch, regsPerMultiprocessor, maxBlocksPerMultiProcessor, concurrentManagedAccess, pageableMemoryAccess, kernelExecTimeoutEnabled, singleToDoublePrecisionPerfRatio, streamPrioritiesSupported, hostNativeAtomicSupported, persistingL2CacheMaxSize, accessPolicyMaxWindowSize, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
};
template <class T> cudaError_t cudaMalloc(T **, size_t); template <class T> cudaError_t cudaMallocManaged(T **, size_t, unsigned = 1);
template <class T> cudaError_t cudaMallocHost(T **, size_t, unsigned = 0); template <class T> cudaError_t cudaMallocAsync(T **, size_t, cudaStream_t);
template <class T> cudaError_t cudaHostAlloc(T **, size_t, unsigned = 0);
cudaError_t cudaFree(void *); cudaError_t cudaFreeHost(void *); cudaError_t cudaFreeAsync(void *, cudaStream_t);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind); cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemset(void *, int, size_t); cudaError_t cudaMemsetAsync(void *, int, size_t, cudaStream_t = 0);
template <class T> cudaError_t cudaMemcpyToSymbol(T &, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
template <class T> cudaError_t cudaMemcpyFromSymbol(void *, T &, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
template <class T> cudaError_t cudaGetSymbolAddress(void **, T &);
cudaError_t cudaGetLastError(); cudaError_t cudaPeekAtLastError(); cudaError_t cudaDeviceSynchronize(); cudaError_t cudaDeviceReset(); const char *cudaGetErrorString(cudaError_t); const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaStreamCreate(cudaStream_t *); cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned); cudaError_t cudaStreamSynchronize(cudaStream_t); cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0); cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned);
cudaError_t cudaEventCreate(cudaEvent_t *); cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0); cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t); cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaSetDevice(int); cudaError_t cudaGetDevice(int *); cudaError_t cudaGetDeviceCount(int *); cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int); template <class F> cudaError_t cudaFuncSetAttribute(F, cudaFuncAttribute, int);
template <class F> cudaError_t cudaFuncSetCacheConfig(F, int);
template <class F> cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, F, int, size_t);
template <class F> cudaError_t cudaOccupancyMaxPotentialBlockSize(int *, int *, F, size_t = 0, int = 0);
template <class F> cudaError_t cudaLaunchKernel(F, dim3, dim3, void **, size_t = 0, cudaStream_t = 0); template <class F> cudaError_t cudaLaunchKernel(F *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
template <class F> cudaError_t cudaLaunchCooperativeKernel(F, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, cudaStream_t = 0);
struct __half { unsigned short x; VK_HD __half(); VK_HD __half(float); VK_HD operator float() const; }; typedef __half half;
struct __half2 { __half x, y; }; typedef __half2 half2;
struct __nv_bfloat16 { unsigned short x; VK_HD __nv_bfloat16(); VK_HD __nv_bfloat16(float); VK_HD operator float() const; };
struct __nv_bfloat162 { __nv_bfloat16 x, y; }; typedef __nv_bfloat16 nv_bfloat16; typedef __nv_bfloat162 nv_bfloat162;
VK_HD __half __float2half(float); VK_HD float __half2float(__half); VK_HD __nv_bfloat16 __float2bfloat16(float); VK_HD float __bfloat162float(__nv_bfloat16);
VK_HD __half __float2half_rn(float); VK_HD __nv_bfloat16 __float2bfloat16_rn(float);
struct curandState { int x; }; typedef curandState curandState_t; typedef curandState curandStatePhilox4_32_10_t;

// --- torch ----------------------------------------------------------------------------------------------------------
namespace c10 {
struct Half { unsigned short x; VK_HD Half(); VK_HD Half(float); VK_HD operator float() const; };
struct BFloat16 { unsigned short x; VK_HD BFloat16(); VK_HD BFloat16(float); VK_HD operator float() const; };
template <class T> struct complex { T a, b; };
enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16, UInt16 = 27, UInt32 = 28, UInt64 = 29, Undefined = 99 };
enum class DeviceType : int8_t { CPU, CUDA }; enum class Layout : int8_t { Strided, Sparse }; enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
constexpr DeviceType kCUDA = DeviceType::CUDA; constexpr DeviceType kCPU = DeviceType::CPU;
using std::optional; using std::nullopt; using std::nullopt_t; typedef int8_t DeviceIndex;
struct Device { Device(DeviceType, int = -1); Device(const char *); bool is_cuda() const; bool is_cpu() const; int8_t index() const; DeviceType type() const; bool operator==(const Device &) const; bool operator!=(const Device &) const; };
struct Scalar { template <class T> Scalar(T); template <class T> T to() const; double toDouble() const; long toLong() const; float toFloat() const; int toInt() const; };
template <class T> struct ArrayRef {
  ArrayRef(); template <class U> ArrayRef(const std::vector<U> &); ArrayRef(std::initializer_list<T>); ArrayRef(const T &);
  T operator[](size_t) const; size_t size() const; bool equals(ArrayRef) const; std::vector<T> vec() const; const T *begin() const; const T *end() const;
  const T *data() const; bool operator==(const ArrayRef &) const; bool operator!=(const ArrayRef &) const; T back() const; T front() const; ArrayRef slice(size_t, size_t = 0) const; bool empty() const;
};
typedef ArrayRef<int64_t> IntArrayRef;
namespace impl { template <ScalarType> struct ScalarTypeToCPPType;
template <> struct ScalarTypeToCPPType<ScalarType::Half> { typedef c10::Half type; }; template <> struct ScalarTypeToCPPType<ScalarType::BFloat16> { typedef c10::BFloat16 type; };
template <> struct ScalarTypeToCPPType<ScalarType::Bool> { typedef bool type; }; template <> struct ScalarTypeToCPPType<ScalarType::Float> { typedef float type; };
template <> struct ScalarTypeToCPPType<ScalarType::Double> { typedef double type; }; template <> struct ScalarTypeToCPPType<ScalarType::Int> { typedef int type; };
template <> struct ScalarTypeToCPPType<ScalarType::Long> { typedef long type; }; template <> struct ScalarTypeToCPPType<ScalarType::Byte> { typedef unsigned char type; };
template <> struct ScalarTypeToCPPType<ScalarType::Char> { typedef signed char type; }; template <> struct ScalarTypeToCPPType<ScalarType::Short> { typedef short type; };
template <ScalarType S> using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<S>::type; }
struct Stream { Device device() const; };
namespace cuda { struct CUDAStream { cudaStream_t stream() const; operator cudaStream_t() const; operator Stream() const; void synchronize() const; }; CUDAStream getCurrentCUDAStream(int = -1); CUDAStream getDefaultCUDAStream(int = -1); CUDAStream getStreamFromPool(bool = false, int = -1);
struct CUDAGuard { CUDAGuard(vk::any); }; struct OptionalCUDAGuard { OptionalCUDAGuard(); OptionalCUDAGuard(vk::any); void set_device(vk::any); }; struct CUDAStreamGuard { CUDAStreamGuard(vk::any); }; void setCurrentCUDAStream(vk::any); void device_synchronize(); int current_device(); int device_count(); }
struct OptionalDeviceGuard { OptionalDeviceGuard(vk::any); }; struct DeviceGuard { DeviceGuard(vk::any); };
struct Error : std::exception {};
}
namespace caffe2 { struct TypeMeta { c10::ScalarType toScalarType() const; size_t itemsize() const; bool operator==(const TypeMeta &) const; bool operator!=(const TypeMeta &) const; TypeMeta(); TypeMeta(c10::ScalarType); operator c10::ScalarType() const; };
bool operator==(const TypeMeta &, c10::ScalarType); bool operator!=(const TypeMeta &, c10::ScalarType); bool operator==(c10::ScalarType, const TypeMeta &); bool operator!=(c10::ScalarType, const TypeMeta &); }
namespace at {
using c10::Half; using c10::BFloat16; using c10::ScalarType; using c10::IntArrayRef; using c10::ArrayRef; using c10::Scalar; using c10::Device; using c10::DeviceType; using c10::optional; using c10::nullopt;
using c10::kCUDA; using c10::kCPU; using c10::MemoryFormat; using c10::Layout; using c10::DeviceGuard; using c10::OptionalDeviceGuard; namespace impl = c10::impl; typedef unsigned char Byte_;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int, kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double, kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt8 = ScalarType::Byte, kInt8 = ScalarType::Char, kInt16 = ScalarType::Short, kInt32 = ScalarType::Int, kInt64 = ScalarType::Long, kFloat16 = ScalarType::Half, kFloat32 = ScalarType::Float, kFloat64 = ScalarType::Double, kUInt32 = ScalarType::UInt32, kUInt16 = ScalarType::UInt16, kUInt64 = ScalarType::UInt64;
struct TensorOptions {
  TensorOptions(); TensorOptions(ScalarType); TensorOptions(Device); TensorOptions(DeviceType); TensorOptions(caffe2::TypeMeta);
  TensorOptions dtype(vk::any) const; TensorOptions device(vk::any, int = -1) const; TensorOptions layout(vk::any) const; TensorOptions requires_grad(bool = true) const; TensorOptions memory_format(vk::any) const;
  TensorOptions pinned_memory(bool = true) const; Device device() const; caffe2::TypeMeta dtype() const; bool is_cuda() const;
};
struct DeprecatedTypeProperties { ScalarType scalarType() const; bool is_cuda() const; operator TensorOptions() const; operator ScalarType() const; };
template <class T> struct DefaultPtrTraits { typedef T *PtrType; }; template <class T> struct RestrictPtrTraits { typedef T *PtrType; };
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> struct GenericPackedTensorAccessor { I size(I) const; I stride(I) const; T *data() const;
  VK_HD GenericPackedTensorAccessor<T, N - 1, P, I> operator[](I) const; };
template <class T, template <class> class P, class I> struct GenericPackedTensorAccessor<T, 1, P, I> { I size(I) const; I stride(I) const; T *data() const; VK_HD T &operator[](I) const; };
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits> using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
template <class T, size_t N> struct TensorAccessor { int64_t size(int64_t) const; int64_t stride(int64_t) const; T *data() const; TensorAccessor<T, N - 1> operator[](int64_t) const; };
template <class T> struct TensorAccessor<T, 1> { int64_t size(int64_t) const; int64_t stride(int64_t) const; T *data() const; T &operator[](int64_t) const; };
#define VK_A vk::any = {}
#define VK_ARGS VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A, VK_A
#define VK_M(n) Tensor n(VK_ARGS) const;
#define VK_PAIR(n) Tensor n() const; Tensor n(const Tensor &) const; std::tuple<Tensor, Tensor> n(int64_t, bool = false) const;
#define VK_PAIRS(n) std::tuple<Tensor, Tensor> n(VK_ARGS) const;
struct Tensor {
  Tensor(); Tensor(std::nullptr_t);
  int64_t size(int64_t) const; IntArrayRef sizes() const; int64_t numel() const; int64_t dim() const; int64_t ndimension() const; int64_t stride(int64_t) const; IntArrayRef strides() const; int64_t storage_offset() const;
  template <class T> T *data_ptr() const; void *data_ptr() const; template <class T> T *data() const; template <class T> const T *const_data_ptr() const; const void *const_data_ptr() const; template <class T> T *mutable_data_ptr() const; void *mutable_data_ptr() const;
  TensorOptions options() const; ScalarType scalar_type() const; caffe2::TypeMeta dtype() const; DeprecatedTypeProperties type() const; Device device() const; int64_t get_device() const; Layout layout() const;
  bool is_cuda() const; bool is_cpu() const; bool is_contiguous(VK_A) const; bool defined() const; bool is_floating_point() const; bool requires_grad() const; bool is_same(const Tensor &) const; bool is_sparse() const; bool is_non_overlapping_and_dense() const; bool is_complex() const;
  int64_t element_size() const; size_t itemsize() const; size_t nbytes() const; template <class T> T item() const; Scalar item() const; Tensor contiguous(VK_A) const; bool equal(const Tensor &) const; MemoryFormat suggest_memory_format() const;
  template <class T, size_t N> TensorAccessor<T, N> accessor() const; bool sizes_equal_(VK_A) const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor32<T, N, P> packed_accessor32() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits> PackedTensorAccessor64<T, N, P> packed_accessor64() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> packed_accessor() const;
  template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t> GenericPackedTensorAccessor<T, N, P, I> generic_packed_accessor() const;
  Tensor operator[](int64_t) const; Tensor operator-() const; Tensor &operator+=(vk::any); Tensor &operator-=(vk::any); Tensor &operator*=(vk::any); Tensor &operator/=(vk::any);
  Tensor &resize_(VK_ARGS); Tensor &zero_(); Tensor &fill_(vk::any); Tensor &copy_(const Tensor &, bool = false); std::vector<Tensor> split(VK_ARGS) const; std::vector<Tensor> chunk(VK_ARGS) const; std::vector<Tensor> unbind(VK_ARGS) const; void reset(); void print() const;
  Tensor toType(ScalarType) const; std::string toString() const; bool is_pinned() const; Tensor &grad() const; Tensor &mutable_grad() const; void backward(VK_ARGS) const; Tensor &set_requires_grad(bool); const Tensor &unsafeGetTensorImpl() const;
  VK_M(view) VK_M(reshape) VK_M(flatten) VK_M(squeeze) VK_M(unsqueeze) VK_M(transpose) VK_M(permute) VK_M(t) VK_M(expand) VK_M(expand_as) VK_M(view_as) VK_M(reshape_as) VK_M(clone) VK_M(detach) VK_M(to) VK_M(cuda) VK_M(cpu)
  VK_M(narrow) VK_M(select) VK_M(slice) VK_M(index) VK_M(index_select) VK_M(repeat) VK_M(unfold) VK_M(sum) VK_M(mean) VK_M(prod) VK_M(var) VK_M(std) VK_M(norm) VK_PAIR(max) VK_PAIR(min) VK_M(argmax) VK_M(argmin) VK_M(abs) VK_M(sqrt) VK_M(rsqrt) VK_M(exp) VK_M(log)
  VK_M(tanh) VK_M(sigmoid) VK_M(relu) VK_M(softmax) VK_M(log_softmax) VK_M(mul) VK_M(add) VK_M(sub) VK_M(div) VK_M(pow) VK_M(neg) VK_M(matmul) VK_M(mm) VK_M(bmm) VK_M(mv) VK_M(dot) VK_M(mul_) VK_M(add_) VK_M(sub_) VK_M(div_) VK_M(clamp) VK_M(clamp_) VK_M(relu_)
  VK_M(to_dense) VK_M(type_as) VK_M(masked_fill) VK_M(gather) VK_M(cumsum) VK_M(cumprod) VK_M(movedim) VK_M(swapaxes) VK_M(mT) VK_M(half) VK_M(toDouble) VK_M(square) VK_M(new_empty) VK_M(new_zeros) VK_M(new_ones) VK_M(new_full) VK_M(all) VK_M(any) VK_M(nonzero) VK_M(eq) VK_M(ne) VK_M(lt) VK_M(gt) VK_M(le) VK_M(ge) VK_M(logical_not) VK_M(bitwise_and) VK_M(baddbmm) VK_M(addmm) VK_M(layer_norm_) VK_M(alias) VK_M(as_strided) VK_M(T_) VK_M(diagonal) VK_M(triu) VK_M(tril) VK_M(sin) VK_M(cos) VK_M(floor) VK_M(ceil) VK_M(round) VK_M(amax) VK_M(amin) VK_M(logsumexp) VK_M(flip) VK_M(roll) VK_M(contiguous_) VK_M(unflatten) VK_M(broadcast_to) VK_M(tile) VK_M(data) VK_M(detach_) VK_M(exp_) VK_M(sqrt_) VK_M(view_dtype_) VK_M(index_put_) VK_M(scatter_) VK_M(scatter_add_) VK_M(masked_fill_) VK_M(copy) VK_M(uniform_) VK_M(normal_) VK_M(bernoulli_) VK_M(unsqueeze_) VK_M(squeeze_) VK_M(transpose_) VK_M(t_)
  VK_PAIRS(sort) VK_PAIRS(topk) VK_PAIRS(kthvalue) VK_PAIRS(mode) VK_PAIRS(aminmax) VK_PAIRS(cummax) VK_PAIRS(cummin)
};
#define VK_F(n) Tensor n(VK_ARGS);
#define VK_FPAIR(n) Tensor n(const Tensor &); Tensor n(const Tensor &, const Tensor &); std::tuple<Tensor, Tensor> n(const Tensor &, int64_t, bool = false);
#define VK_FPAIRS(n) std::tuple<Tensor, Tensor> n(VK_ARGS);
VK_F(empty) VK_F(zeros) VK_F(ones) VK_F(full) VK_F(empty_like) VK_F(zeros_like) VK_F(ones_like) VK_F(full_like) VK_F(rand) VK_F(randn) VK_F(randint) VK_F(rand_like) VK_F(randn_like) VK_F(arange) VK_F(linspace) VK_F(eye) VK_F(tensor) VK_F(from_blob) VK_F(empty_strided) VK_F(cat) VK_F(stack) VK_F(matmul) VK_F(mm) VK_F(bmm) VK_F(add) VK_F(sub) VK_F(mul) VK_F(div) VK_F(sum) VK_F(mean) VK_F(sqrt) VK_F(exp) VK_F(log) VK_F(tanh) VK_F(sigmoid) VK_F(relu) VK_F(softmax) VK_F(log_softmax) VK_F(conv1d) VK_F(conv2d) VK_F(conv3d) VK_F(conv_transpose2d) VK_F(conv_transpose3d) VK_F(conv_transpose1d) VK_F(linear) VK_F(reshape) VK_F(transpose) VK_F(flatten) VK_F(squeeze) VK_F(unsqueeze) VK_F(pow) VK_F(abs) VK_F(clamp) VK_F(where) VK_F(var) VK_F(std) VK_F(norm) VK_F(rsqrt) VK_F(addmm) VK_F(baddbmm) VK_F(einsum) VK_F(max_pool2d) VK_F(avg_pool2d) VK_F(adaptive_avg_pool2d) VK_F(batch_norm) VK_F(layer_norm) VK_F(group_norm) VK_F(dropout) VK_F(gelu) VK_F(triu) VK_F(tril) VK_F(constant_pad_nd) VK_F(pad) VK_F(cumsum) VK_F(argmax) VK_F(argmin) VK_FPAIR(max) VK_FPAIR(min) VK_F(amax) VK_F(amin) VK_F(permute) VK_F(scalar_tensor) VK_F(square) VK_F(logsumexp) VK_F(dot) VK_F(outer) VK_F(leaky_relu) VK_F(elu) VK_F(silu) VK_F(bitwise_and) VK_F(convolution) VK_F(convolution_backward) VK_F(clone) VK_F(zeros_out)
VK_FPAIRS(sort) VK_FPAIRS(topk) VK_FPAIRS(var_mean) VK_FPAIRS(std_mean) VK_FPAIRS(kthvalue) VK_FPAIRS(aminmax)
Tensor operator+(const Tensor &, vk::any); Tensor operator-(const Tensor &, vk::any); Tensor operator*(const Tensor &, vk::any); Tensor operator/(const Tensor &, vk::any); Tensor operator*(double, const Tensor &); Tensor operator+(double, const Tensor &); Tensor operator-(double, const Tensor &); Tensor operator/(double, const Tensor &);
vk::any device_of(const Tensor &);
namespace cuda { using c10::cuda::getCurrentCUDAStream; using c10::cuda::getDefaultCUDAStream; using c10::cuda::getStreamFromPool; using c10::cuda::setCurrentCUDAStream; using c10::cuda::CUDAStreamGuard; using c10::cuda::CUDAStream; using c10::cuda::CUDAGuard; using c10::cuda::OptionalCUDAGuard; cudaDeviceProp *getCurrentDeviceProperties(); cudaDeviceProp *getDeviceProperties(int64_t); int warp_size(); }
template <class T> T ceil_div(T, T);
template <class T> struct acc_type_ { typedef T type; }; template <> struct acc_type_<Half> { typedef float type; }; template <> struct acc_type_<BFloat16> { typedef float type; };
template <class T, bool> using acc_type = typename acc_type_<T>::type; template <class T> using opmath_type = typename acc_type_<T>::type;
struct TensorArg { TensorArg(const Tensor &, const char *, int); }; void checkAllSameGPU(VK_ARGS);
}
namespace c10 { namespace detail {} template <class T, class U> T checked_convert(U, const char *); }
namespace torch {
using namespace at; using at::Tensor; using c10::nullopt; using c10::optional; typedef at::ScalarType Dtype; using at::Scalar; typedef IntArrayRef IntList;
constexpr c10::Layout kStrided = c10::Layout::Strided;
TensorOptions device(vk::any, int = -1); TensorOptions dtype(vk::any); TensorOptions requires_grad(bool = true);
struct NoGradGuard { NoGradGuard(); };
namespace nn { namespace functional { using namespace at; Tensor pad(vk::any, VK_ARGS); struct PadFuncOptions { PadFuncOptions(vk::any); PadFuncOptions &mode(vk::any); PadFuncOptions &value(double); }; } struct Module {}; }
namespace indexing { struct Slice { Slice(VK_A, VK_A, VK_A); }; struct None_t {}; constexpr None_t None{}; }
namespace autograd { typedef std::vector<at::Tensor> tensor_list; typedef std::vector<at::Tensor> variable_list; struct AutogradContext { void save_for_backward(vk::any); tensor_list get_saved_variables(); }; template <class T> struct Function { template <class... A> static at::Tensor apply(A &&...); }; typedef at::Tensor Variable; }
struct Library {}; struct CppFunction { template <class F> CppFunction(F); };
}
namespace at { typedef c10::Stream Stream; }
namespace pybind11 { struct arg { arg(const char *); template <class T> arg operator=(T); }; struct object {}; struct none : object {}; struct module_ { const char *doc(); template <class... A> module_ &def(A &&...); }; typedef module_ module; }
namespace py = pybind11;
namespace vk { struct library { template <class... A> library &def(A &&...); template <class... A> library &impl(A &&...); }; }

#define TORCH_CHECK(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_INTERNAL_ASSERT(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_VALUE(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_TYPE(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_INDEX(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_NOT_IMPLEMENTED(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_ARG(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_CHECK_EQ(a, b) ::vk::check((a) == (b))
#define TORCH_CHECK_NE(a, b) ::vk::check((a) != (b))
#define TORCH_CHECK_LE(a, b) ::vk::check((a) <= (b))
#define TORCH_CHECK_LT(a, b) ::vk::check((a) < (b))
#define TORCH_CHECK_GE(a, b) ::vk::check((a) >= (b))
#define TORCH_CHECK_GT(a, b) ::vk::check((a) > (b))
#define AT_ASSERTM(c, ...) ::vk::check(static_cast<bool>(c))
#define AT_ASSERT(c, ...) ::vk::check(static_cast<bool>(c))
#define AT_CHECK(c, ...) ::vk::check(static_cast<bool>(c))
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY(c, ...) ::vk::asserted(static_cast<bool>(c))
#define AT_ERROR(...) ::vk::fail()
#define TORCH_WARN(...) ::vk::told(__VA_ARGS__)
#define TORCH_WARN_ONCE(...) ::vk::told(__VA_ARGS__)
#define C10_CUDA_CHECK(e) ((void)(e))
#define AT_CUDA_CHECK(e) ((void)(e))
#define C10_CUDA_KERNEL_LAUNCH_CHECK() ((void)0)
#define C10_LAUNCH_BOUNDS_1(...)
#define C10_LAUNCH_BOUNDS_2(...)
#define C10_HOST_DEVICE VK_HD
#define C10_DEVICE VK_D
#define C10_UNLIKELY(e) (e)
#define C10_LIKELY(e) (e)
#define TORCH_EXTENSION_NAME vk_extension
#define PYBIND11_MODULE(n, m) void vk_bindings(pybind11::module_ &m)
#define TORCH_LIBRARY(n, m) void vk_library_##n(vk::library &m)
#define TORCH_LIBRARY_FRAGMENT(n, m) void vk_fragment_##n(vk::library &m)
#define TORCH_LIBRARY_IMPL(n, k, m) void vk_impl_##n##_##k(vk::library &m)

#define VK_CASE(TYPE, S, T, ...) if (::vk::dispatch(TYPE, ::c10::ScalarType::S)) { using scalar_t [[maybe_unused]] = T; return (__VA_ARGS__)(); }
#define VK_CASE_S(TYPE, S, ...) if (::vk::dispatch(TYPE, S)) { using scalar_t [[maybe_unused]] = ::c10::impl::ScalarTypeToCPPTypeT<S>; return (__VA_ARGS__)(); }
#define VK_FLOATS(TYPE, ...) VK_CASE(TYPE, Float, float, __VA_ARGS__) VK_CASE(TYPE, Double, double, __VA_ARGS__)
#define VK_INTS(TYPE, ...) VK_CASE(TYPE, Byte, unsigned char, __VA_ARGS__) VK_CASE(TYPE, Char, signed char, __VA_ARGS__) VK_CASE(TYPE, Short, short, __VA_ARGS__) VK_CASE(TYPE, Int, int, __VA_ARGS__) VK_CASE(TYPE, Long, long, __VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_CASE(TYPE, Half, ::c10::Half, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_FLOATING_TYPES_AND(S1, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_FLOATING_TYPES_AND2(S1, S2, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) VK_CASE_S(TYPE, S2, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_REDUCED_FLOATING_TYPES(TYPE, NAME, ...) [&] { VK_CASE(TYPE, Half, ::c10::Half, __VA_ARGS__) VK_CASE(TYPE, BFloat16, ::c10::BFloat16, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) [&] { VK_INTS(TYPE, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_INTS(TYPE, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_ALL_TYPES_AND(S1, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_INTS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_ALL_TYPES_AND2(S1, S2, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_INTS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) VK_CASE_S(TYPE, S2, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_FLOATING_TYPES_AND3(S1, S2, S3, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) VK_CASE_S(TYPE, S2, __VA_ARGS__) VK_CASE_S(TYPE, S3, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_INTEGRAL_TYPES_AND(S1, TYPE, NAME, ...) [&] { VK_INTS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_ALL_TYPES_AND3(S1, S2, S3, TYPE, NAME, ...) [&] { VK_FLOATS(TYPE, __VA_ARGS__) VK_INTS(TYPE, __VA_ARGS__) VK_CASE_S(TYPE, S1, __VA_ARGS__) VK_CASE_S(TYPE, S2, __VA_ARGS__) VK_CASE_S(TYPE, S3, __VA_ARGS__) ::vk::no_dispatch(); }()
#define AT_DISPATCH_SWITCH(TYPE, NAME, ...) [&] { const auto &vk_type = TYPE; __VA_ARGS__ ::vk::no_dispatch(); }()
#define AT_DISPATCH_CASE(S, ...) VK_CASE_S(vk_type, S, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES(...) VK_FLOATS(vk_type, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND_HALF(...) VK_FLOATS(vk_type, __VA_ARGS__) VK_CASE(vk_type, Half, ::c10::Half, __VA_ARGS__)
#define AT_DISPATCH_CASE_REDUCED_FLOATING_TYPES(...) VK_CASE(vk_type, Half, ::c10::Half, __VA_ARGS__) VK_CASE(vk_type, BFloat16, ::c10::BFloat16, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND(S1, ...) VK_FLOATS(vk_type, __VA_ARGS__) VK_CASE_S(vk_type, S1, __VA_ARGS__)
#define AT_DISPATCH_CASE_FLOATING_TYPES_AND2(S1, S2, ...) VK_FLOATS(vk_type, __VA_ARGS__) VK_CASE_S(vk_type, S1, __VA_ARGS__) VK_CASE_S(vk_type, S2, __VA_ARGS__)
#define AT_DISPATCH_CASE_INTEGRAL_TYPES(...) VK_INTS(vk_type, __VA_ARGS__)
#define AT_DISPATCH_CASE_ALL_TYPES(...) VK_FLOATS(vk_type, __VA_ARGS__) VK_INTS(vk_type, __VA_ARGS__)
#define AT_DISPATCH_INDEX_TYPES(TYPE, NAME, ...) [&] { if (::vk::dispatch(TYPE, ::c10::ScalarType::Int)) { using index_t = int; return (__VA_ARGS__)(); } if (::vk::dispatch(TYPE, ::c10::ScalarType::Long)) { using index_t = long; return (__VA_ARGS__)(); } ::vk::no_dispatch(); }()
