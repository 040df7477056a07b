// A driver for machines without one: memory is the host's, a launch writes where FAKE_CUDA says.
//   clean: nothing happens · status N: the launch ends with N · past: an int behind the first buffer is changed · hang: for ever
//   sick: even a right kernel hangs · params: the second parameter was compiled with 24 bytes
//   three parameters: two pointers and an int · relu: of floats, from the first to the second · count: the launches of this module
//   spill N: an int that many bytes behind the second buffer is changed · prints: on stdout, then like relu
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#ifndef BEHAVIOUR
#define BEHAVIOUR "clean"
#endif

struct Function {
  char name[256];
  int launches;
};
static int pending;

static bool is(const char* behaviour) { return !strcmp(BEHAVIOUR, behaviour); }
static bool control(const void* function) { return strstr(((const Function*)function)->name, "vk_control_"); }

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { *context = nullptr; return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuDeviceGetName(char* name, int size, int) { snprintf(name, size, "fake"); return 0; }
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetAttribute(int* value, int which, int) { *value = which == 75 ? 9 : which == 16 || which == 97 ? 2 : 0; return 0; }
int cuGetErrorName(int status, const char** text) { *text = status == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER"; return 0; }
int cuModuleLoadData(void** module, const void*) { *module = nullptr; return 0; }
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void*, const char* name) {
  Function* made = new Function();
  snprintf(made->name, sizeof made->name, "%s", name);
  *function = made;
  return 0;
}
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* size) {
  bool two = is("clean") || is("past") || is("hang") || is("sick") || is("params") || strstr(BEHAVIOUR, "status") == BEHAVIOUR;
  size_t count = control(function) ? 1 : two ? 2 : 3;
  *offset = 8 * index;
  *size = count == 3 ? (index < 2 ? 8 : 4) : index == 0 ? 8 : is("params") ? 24 : 4;
  return index < count ? 0 : 1;
}
int cuMemAlloc_v2(uint64_t* place, size_t size) { *place = (uint64_t)malloc(size + 64); return 0; }
int cuMemFree_v2(uint64_t) { return 0; }
int cuMemsetD8_v2(uint64_t place, unsigned char byte, size_t size) { memset((void*)place, byte, size); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t size) { memcpy((void*)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t size) { memcpy(to, (void*)from, size); return 0; }
int cuLaunchKernel(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void** params, void**) {
  if (is("sick")) for (;;) pause();
  if (control(function)) {
    bool right = strstr(((Function*)function)->name, "clean") || strstr(((Function*)function)->name, "spoil");
    pending = right ? 0 : 719;
    return 0;
  }
  int launches = ++((Function*)function)->launches;
  if (!strncmp(BEHAVIOUR, "status ", 7)) pending = atoi(BEHAVIOUR + 7);
  if (is("past")) (*(int**)params[0])[64] = 7;
  if (is("hang")) for (;;) pause();
  if (is("relu") || is("prints") || is("count") || !strncmp(BEHAVIOUR, "spill ", 6)) {
    if (is("prints")) for (int i = 0; i < 20000; ++i) puts("{\"nonce\": 0, \"status\": 0, \"blobs\": []}");
    float* x = *(float**)params[0];
    float* y = *(float**)params[1];
    int n = *(int*)params[2];
    for (int i = 0; i < n; ++i) y[i] = is("count") ? launches : x[i] < 0 ? 0 : x[i];
    if (!strncmp(BEHAVIOUR, "spill ", 6)) *(int*)((char*)(y + n) + atoi(BEHAVIOUR + 6)) = 7;
  }
  return 0;
}
int cuCtxSynchronize() { int status = pending; pending = 0; return status; }
}
