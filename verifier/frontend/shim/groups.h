/* Cooperative groups. */
namespace cooperative_groups {
struct thread_group {};
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
};
struct coalesced_group : thread_group {
  VK_HD void sync() const;
  VK_HD unsigned thread_rank() const;
  VK_HD unsigned size() const;
  VK_HD unsigned num_threads() const;
};
VK_HD thread_block this_thread_block();
VK_HD grid_group this_grid();
VK_HD coalesced_group coalesced_threads();
template <unsigned Size, typename Parent> VK_HD thread_block_tile<Size, Parent> tiled_partition(const Parent &);
template <typename Group> VK_HD void sync(const Group &);
template <typename T> struct plus { VK_HD T operator()(T, T) const; };
template <typename T> struct less { VK_HD T operator()(T, T) const; };
template <typename T> struct greater { VK_HD T operator()(T, T) const; };
template <typename Group, typename T, typename Op> VK_HD T reduce(const Group &, T, const Op &);
}  // namespace cooperative_groups
