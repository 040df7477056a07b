/* Textures and surfaces. Calls with a texture or surface reference are refused by name. */
enum cudaTextureReadMode { cudaReadModeElementType = 0, cudaReadModeNormalizedFloat = 1 };
enum cudaTextureFilterMode { cudaFilterModePoint = 0, cudaFilterModeLinear = 1 };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero = 0, cudaBoundaryModeClamp = 1, cudaBoundaryModeTrap = 2 };
enum {
  cudaTextureType1D = 0x01, cudaTextureType2D = 0x02, cudaTextureType3D = 0x03, cudaTextureTypeCubemap = 0x0C,
  cudaTextureType1DLayered = 0xF1, cudaTextureType2DLayered = 0xF2, cudaTextureTypeCubemapLayered = 0xFC,
  cudaSurfaceType1D = 0x01, cudaSurfaceType2D = 0x02, cudaSurfaceType3D = 0x03
};
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
template <class T, int Type = 1, cudaTextureReadMode Mode = cudaReadModeElementType> struct texture {
  int normalized;
  cudaTextureFilterMode filterMode;
  cudaTextureAddressMode addressMode[3];
};
template <class T, int Type = 1> struct surface {};
namespace vk {
template <class T, cudaTextureReadMode Mode> struct texel { typedef T type; };
#define VK_TEXEL(T, N)                                                                                       \
  template <> struct texel<T##1, cudaReadModeNormalizedFloat> { typedef float1 type; };                      \
  template <> struct texel<T##2, cudaReadModeNormalizedFloat> { typedef float2 type; };                      \
  template <> struct texel<T##4, cudaReadModeNormalizedFloat> { typedef float4 type; };                      \
  template <> struct texel<N, cudaReadModeNormalizedFloat> { typedef float type; };
VK_TEXEL(char, signed char)
VK_TEXEL(uchar, unsigned char)
VK_TEXEL(short, short)
VK_TEXEL(ushort, unsigned short)
template <> struct texel<char, cudaReadModeNormalizedFloat> { typedef float type; };
}  // namespace vk
#define VK_TEXTURE(NAME, ...)                                                                                \
  template <class T, int Type, cudaTextureReadMode Mode>                                                     \
  VK_HD typename vk::texel<T, Mode>::type NAME(texture<T, Type, Mode>, __VA_ARGS__);                         \
  template <class T> VK_HD T NAME(cudaTextureObject_t, __VA_ARGS__);                                         \
  template <class T> VK_HD void NAME(T *, cudaTextureObject_t, __VA_ARGS__);
VK_TEXTURE(tex1Dfetch, int)
VK_TEXTURE(tex1D, float)
VK_TEXTURE(tex2D, float, float)
VK_TEXTURE(tex3D, float, float, float)
VK_TEXTURE(texCubemap, float, float, float)
VK_TEXTURE(tex1DLayered, float, int)
VK_TEXTURE(tex2DLayered, float, float, int)
VK_TEXTURE(texCubemapLayered, float, float, float, int)
VK_TEXTURE(tex1DLod, float, float)
VK_TEXTURE(tex2DLod, float, float, float)
VK_TEXTURE(tex3DLod, float, float, float, float)
VK_TEXTURE(texCubemapLod, float, float, float, float)
VK_TEXTURE(tex1DLayeredLod, float, int, float)
VK_TEXTURE(tex2DLayeredLod, float, float, int, float)
VK_TEXTURE(texCubemapLayeredLod, float, float, float, int, float)
VK_TEXTURE(tex1DGrad, float, float, float)
VK_TEXTURE(tex2DGrad, float, float, float2, float2)
VK_TEXTURE(tex3DGrad, float, float, float, float4, float4)
VK_TEXTURE(tex1DLayeredGrad, float, int, float, float)
VK_TEXTURE(tex2DLayeredGrad, float, float, int, float2, float2)
VK_TEXTURE(tex2Dgather, float, float, int = 0)
#define VK_SURFACE(NAME, ...)                                                                                \
  template <class T> VK_HD T NAME##read(cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);                          \
  template <class T> VK_HD void NAME##read(T *, cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);                  \
  template <class T> VK_HD void NAME##write(T, cudaSurfaceObject_t, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);                   \
  template <class T, class U, int N> VK_HD void NAME##read(T *, surface<U, N>, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);        \
  template <class T, class U, int N> VK_HD void NAME##write(T, surface<U, N>, __VA_ARGS__, cudaSurfaceBoundaryMode = cudaBoundaryModeTrap);
VK_SURFACE(surf1D, int)
VK_SURFACE(surf2D, int, int)
VK_SURFACE(surf3D, int, int, int)
VK_SURFACE(surf1DLayered, int, int)
VK_SURFACE(surf2DLayered, int, int, int)
VK_SURFACE(surfCubemap, int, int, int)
VK_SURFACE(surfCubemapLayered, int, int, int)
