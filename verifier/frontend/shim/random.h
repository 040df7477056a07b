/* cuRAND's device functions. A state is as large as the library's; what it holds nobody may know. */
struct __attribute__((aligned(8))) curandStateXORWOW { unsigned vk_words[12]; };
typedef curandStateXORWOW curandStateXORWOW_t, curandState, curandState_t;
struct __attribute__((aligned(16))) curandStatePhilox4_32_10 { unsigned vk_words[16]; };
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
struct __attribute__((aligned(8))) curandStateMRG32k3a { unsigned vk_words[12]; };
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
struct __attribute__((aligned(4))) curandStateSobol32 { unsigned vk_words[35]; };
typedef curandStateSobol32 curandStateSobol32_t;
struct __attribute__((aligned(4))) curandStateScrambledSobol32 { unsigned vk_words[35]; };
typedef curandStateScrambledSobol32 curandStateScrambledSobol32_t;
struct __attribute__((aligned(8))) curandStateSobol64 { unsigned long long vk_words[67]; };
typedef curandStateSobol64 curandStateSobol64_t;
struct __attribute__((aligned(8))) curandStateScrambledSobol64 { unsigned long long vk_words[67]; };
typedef curandStateScrambledSobol64 curandStateScrambledSobol64_t;
typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];
#define VK_RANDOM(STATE, BITS)                                                                               \
  VK_HD BITS curand(STATE *);                                                                                \
  VK_HD float curand_uniform(STATE *); VK_HD double curand_uniform_double(STATE *);                          \
  VK_HD float curand_normal(STATE *); VK_HD double curand_normal_double(STATE *);                            \
  VK_HD float curand_log_normal(STATE *, float, float);                                                      \
  VK_HD double curand_log_normal_double(STATE *, double, double);                                            \
  VK_HD unsigned curand_poisson(STATE *, double); VK_HD void skipahead(unsigned long long, STATE *);
#define VK_SEEDED(STATE)                                                                                     \
  VK_RANDOM(STATE, unsigned)                                                                                 \
  VK_HD void curand_init(unsigned long long, unsigned long long, unsigned long long, STATE *);               \
  VK_HD void skipahead_sequence(unsigned long long, STATE *);                                                \
  VK_HD float2 curand_normal2(STATE *); VK_HD double2 curand_normal2_double(STATE *);                        \
  VK_HD float2 curand_log_normal2(STATE *, float, float);                                                    \
  VK_HD double2 curand_log_normal2_double(STATE *, double, double);
#define VK_SOBOL(NAME, WORD)                                                                                 \
  VK_RANDOM(curandState##NAME, WORD)                                                                         \
  VK_RANDOM(curandStateScrambled##NAME, WORD)                                                                \
  VK_HD void curand_init(const WORD *, unsigned, curandState##NAME *);                                       \
  VK_HD void curand_init(const WORD *, WORD, unsigned, curandStateScrambled##NAME *);
VK_SEEDED(curandStateXORWOW)
VK_SEEDED(curandStatePhilox4_32_10)
VK_SEEDED(curandStateMRG32k3a)
VK_SOBOL(Sobol32, unsigned)
VK_SOBOL(Sobol64, unsigned long long)
VK_HD void skipahead_subsequence(unsigned long long, curandStateMRG32k3a *);
VK_HD uint4 curand4(curandStatePhilox4_32_10 *);
VK_HD uint4 curand_poisson4(curandStatePhilox4_32_10 *, double);
VK_HD float4 curand_uniform4(curandStatePhilox4_32_10 *);
VK_HD double2 curand_uniform2_double(curandStatePhilox4_32_10 *);
VK_HD double4 curand_uniform4_double(curandStatePhilox4_32_10 *);
VK_HD float4 curand_normal4(curandStatePhilox4_32_10 *);
VK_HD double4 curand_normal4_double(curandStatePhilox4_32_10 *);
VK_HD float4 curand_log_normal4(curandStatePhilox4_32_10 *, float, float);
VK_HD double4 curand_log_normal4_double(curandStatePhilox4_32_10 *, double, double);
