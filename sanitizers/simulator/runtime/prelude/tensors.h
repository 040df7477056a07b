// PyTorch's accessors: a pointer, sizes and strides by value.
#pragma once
namespace simt_at {
template <class T>
struct DefaultPtrTraits {
    typedef T* PtrType;
};
template <class T>
struct RestrictPtrTraits {
    typedef T* PtrType;
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
struct TensorAccessor {
    T* data_;
    const I* sizes_;
    const I* strides_;
    SIMT_INLINE TensorAccessor<T, N - 1, P, I> operator[](I i) const {
        return {data_ + i * strides_[0], sizes_ + 1, strides_ + 1};
    }
    SIMT_INLINE I size(I i) const { return sizes_[i]; }
    SIMT_INLINE I stride(I i) const { return strides_[i]; }
    SIMT_INLINE T* data() const { return data_; }
};
template <class T, template <class> class P, class I>
struct TensorAccessor<T, 1, P, I> {
    T* data_;
    const I* sizes_;
    const I* strides_;
    SIMT_INLINE T& operator[](I i) const { return data_[i * strides_[0]]; }
    SIMT_INLINE I size(I i) const { return sizes_[i]; }
    SIMT_INLINE I stride(I i) const { return strides_[i]; }
    SIMT_INLINE T* data() const { return data_; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
struct GenericPackedTensorAccessor {
    T* data_;
    I sizes_[N];
    I strides_[N];
    SIMT_INLINE decltype(auto) operator[](I i) const { return TensorAccessor<T, N, P, I>{data_, sizes_, strides_}[i]; }
    SIMT_INLINE I size(I i) const { return sizes_[i]; }
    SIMT_INLINE I stride(I i) const { return strides_[i]; }
    SIMT_INLINE T* data() const { return data_; }
};
template <class T, size_t N, template <class> class P = DefaultPtrTraits, class I = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, P, I>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, P, int32_t>;
template <class T, size_t N, template <class> class P = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, P, int64_t>;
}  // namespace simt_at
namespace simt_torch {
using simt_at::DefaultPtrTraits;
using simt_at::GenericPackedTensorAccessor;
using simt_at::PackedTensorAccessor;
using simt_at::PackedTensorAccessor32;
using simt_at::PackedTensorAccessor64;
using simt_at::RestrictPtrTraits;
using simt_at::TensorAccessor;
}  // namespace simt_torch
