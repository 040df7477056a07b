// A driver for machines without one: memory is the host's, a launch writes where FAKE_CUDA says.
//   clean: nothing happens · status N: the launch ends with N · past: an int behind the first buffer is changed · hang: for ever
//   sick: even a right kernel hangs · params: the second parameter was compiled with 24 bytes
//   three parameters: two pointers and an int
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#ifndef BEHAVIOUR
#define BEHAVIOUR "clean"
#endif

static char kernel[256];
static int pending;

extern "C" {
int cuInit(unsigned) { return 0; }
int cuDeviceGet(int* device, int) { return *device = 0; }
int cuDevicePrimaryCtxRetain(void** context, int) { *context = nullptr; return 0; }
int cuCtxSetCurrent(void*) { return 0; }
int cuDeviceGetName(char* name, int size, int) { snprintf(name, size, "fake"); return 0; }
int cuDriverGetVersion(int* version) { *version = 13000; return 0; }
int cuDeviceGetAttribute(int* value, int which, int) { *value = which == 75 ? 9 : 0; return 0; }
int cuGetErrorName(int status, const char** text) { *text = status == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : "CUDA_ERROR_OTHER"; return 0; }
int cuModuleLoadData(void** module, const void*) { *module = nullptr; return 0; }
int cuModuleUnload(void*) { return 0; }
int cuModuleGetFunction(void** function, void*, const char* name) { snprintf(kernel, sizeof kernel, "%s", name); *function = nullptr; return 0; }
int cuFuncSetAttribute(void*, int, int) { return 0; }
int cuFuncGetParamInfo(void*, size_t index, size_t* offset, size_t* size) {
  size_t count = strstr(kernel, "vk_control_") ? 1 : strcmp(BEHAVIOUR, "three parameters") ? 2 : 3;
  *offset = 8 * index;
  *size = count == 3 ? (index < 2 ? 8 : 4) : index == 0 ? 8 : strcmp(BEHAVIOUR, "params") ? 4 : 24;
  return index < count ? 0 : 1;
}
int cuMemAlloc_v2(uint64_t* place, size_t size) { *place = (uint64_t)malloc(size + 64); return 0; }
int cuMemFree_v2(uint64_t) { return 0; }
int cuMemsetD8_v2(uint64_t place, unsigned char byte, size_t size) { memset((void*)place, byte, size); return 0; }
int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t size) { memcpy((void*)to, from, size); return 0; }
int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t size) { memcpy(to, (void*)from, size); return 0; }
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void** params, void**) {
  if (!strcmp(BEHAVIOUR, "sick")) for (;;) pause();
  if (strstr(kernel, "vk_control_clean")) return 0;
  if (strstr(kernel, "vk_control_")) { pending = 719; return 0; }
  if (!strncmp(BEHAVIOUR, "status ", 7)) pending = atoi(BEHAVIOUR + 7);
  if (!strcmp(BEHAVIOUR, "past")) (*(int**)params[0])[64] = 7;
  if (!strcmp(BEHAVIOUR, "hang")) for (;;) pause();
  return 0;
}
int cuCtxSynchronize() { int status = pending; pending = 0; return status; }
}
