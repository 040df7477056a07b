/* Cooperative groups. */
namespace cooperative_groups {
struct thread_group {
  VK_HD void sync() const;
  VK_HD unsigned long long thread_rank() const;
  VK_HD unsigned long long size() const;
  VK_HD unsigned long long num_threads() const;
};
struct thread_block : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
  VK_HD dim3 group_index() const;
  VK_HD dim3 thread_index() const;
  VK_HD dim3 group_dim() const;
  VK_HD dim3 dim_threads() const;
};
struct grid_group : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned long long thread_rank() const;
  VK_HD unsigned long long size() const;
  VK_HD unsigned long long num_threads() const;
  VK_HD unsigned long long block_rank() const;
  VK_HD unsigned long long num_blocks() const;
  VK_HD dim3 group_dim() const;
  VK_HD dim3 dim_blocks() const;
  VK_HD dim3 block_index() const;
  VK_HD bool is_valid() const;
};
template <unsigned Size, typename Parent = void>
struct thread_block_tile : thread_group {
  thread_block_tile() = default;
  template <typename Other> VK_HD thread_block_tile(const thread_block_tile<Size, Other> &);
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
  VK_HD unsigned meta_group_rank() const;
  VK_HD unsigned meta_group_size() const;
  template <typename T> VK_HD T shfl(T, int) const;
  template <typename T> VK_HD T shfl_up(T, unsigned) const;
  template <typename T> VK_HD T shfl_down(T, unsigned) const;
  template <typename T> VK_HD T shfl_xor(T, unsigned) const;
  VK_HD int any(int) const;
  VK_HD int all(int) const;
  VK_HD unsigned ballot(int) const;
  template <typename T> VK_HD unsigned match_any(T) const;
};
struct coalesced_group : thread_group {
  unsigned mask_;
  template <typename T> VK_HD T shfl(T, int) const;
  template <typename T> VK_HD T shfl_up(T, unsigned) const;
  template <typename T> VK_HD T shfl_down(T, unsigned) const;
  VK_HD int any(int) const;
  VK_HD int all(int) const;
  VK_HD unsigned ballot(int) const;
  template <typename T> VK_HD unsigned match_any(T) const;
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
};
VK_HD thread_block this_thread_block();
VK_HD grid_group this_grid();
VK_HD coalesced_group coalesced_threads();
template <unsigned Size, typename Parent> VK_HD thread_block_tile<Size, Parent> tiled_partition(const Parent &);
VK_HD thread_group tiled_partition(const thread_group &, unsigned);
template <typename T> VK_HD coalesced_group labeled_partition(const coalesced_group &, T);
template <typename Tile, typename T> VK_HD coalesced_group labeled_partition(const Tile &, T);
VK_HD coalesced_group binary_partition(const coalesced_group &, bool);
template <typename Tile> VK_HD coalesced_group binary_partition(const Tile &, bool);
template <typename Group, typename T, typename Size> VK_HD void memcpy_async(const Group &, T *, const T *, const Size &);
template <typename Group> VK_HD void wait(const Group &);
template <unsigned N, typename Group> VK_HD void wait_prior(const Group &);
template <typename Group> VK_HD void sync(const Group &);
template <typename T> struct plus { VK_HD T operator()(T, T) const; };
template <typename T> struct less { VK_HD T operator()(T, T) const; };
template <typename T> struct greater { VK_HD T operator()(T, T) const; };
template <typename T> struct bit_and { VK_HD T operator()(T, T) const; };
template <typename T> struct bit_or { VK_HD T operator()(T, T) const; };
template <typename T> struct bit_xor { VK_HD T operator()(T, T) const; };
template <typename Group, typename T, typename Op> VK_HD T reduce(const Group &, T, const Op &);
template <typename Group, typename T, typename Op> VK_HD T inclusive_scan(const Group &, T, const Op &);
template <typename Group, typename T> VK_HD T inclusive_scan(const Group &, T);
template <typename Group, typename T, typename Op> VK_HD T exclusive_scan(const Group &, T, const Op &);
template <typename Group, typename T> VK_HD T exclusive_scan(const Group &, T);
}  // namespace cooperative_groups
