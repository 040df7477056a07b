// Reads cases from standard input, calls the entry with tensors of those shapes, writes what happened.
//
//   C <number> <seed>
//   T <dtype> <rank> <sizes…> <strides…> <misalign> <cpu>   a tensor;  A <index>: the tensor of an earlier argument
//   N: an absent optional;  I <value>: an integer;  F <value>: a float;  R: run
#pragma once
#include "fake_torch.h"
#include <csetjmp>
#include <csignal>
namespace vk {
struct Given { char kind = 'N'; at::Tensor tensor; long long whole = 0; double real = 0; };
inline at::Tensor read_tensor(std::istream &in) {
  int type, rank, misalign, cpu; in >> type >> rank; at::Dims s(rank), st(rank); for (auto &v : s) in >> v; for (auto &v : st) in >> v; in >> misalign >> cpu;
  at::Tensor t; t.sizes_ = s; t.strides_ = st; t.dtype_ = at::ScalarType(type); t.cpu_ = cpu;
  t.memory = allocate(t.extent() * c10::elementSize(t.dtype_), false, misalign); t.memory->initialised = true; return t;
}
template <class T> struct Read { static T get(const Given &g) {
  if constexpr (std::is_same_v<T, at::Tensor>) { if (g.kind != 'T') throw Unsupported{"argument"}; return g.tensor; }
  else if constexpr (std::is_arithmetic_v<T>) return std::is_floating_point_v<T> ? T(g.real) : T(g.whole);
  else if constexpr (std::is_same_v<T, c10::Scalar>) return c10::Scalar(g.whole);
  else throw Unsupported{"an argument of type " + type_text<T>()}; } };
template <class T> struct Read<std::optional<T>> { static std::optional<T> get(const Given &g) { if (g.kind == 'N') return std::nullopt; return Read<T>::get(g); } };
template <class R, class... A, size_t... I> void enter(R (*f)(A...), std::vector<Given> &g, std::index_sequence<I...>) { auto held = std::make_tuple(Read<std::decay_t<A>>::get(g.at(I))...); f(static_cast<A>(std::get<I>(held))...); }
inline sigjmp_buf &back() { static sigjmp_buf b; return b; }
inline void crash(int) { siglongjmp(back(), 1); }
template <class R, class... A> void cases(R (*f)(A...)) {
  out(); std::signal(SIGFPE, crash); std::signal(SIGSEGV, crash);
  std::string word; std::vector<Given> given; long number = 0; bool broken = false;
  while (std::cin >> word) {
    if (word == "C") { unsigned long seed; std::cin >> number >> seed; given.clear(); reset(); dice().seed(seed); launches() = 0; broken = false; }
    else if (word == "T") { Given g; g.kind = 'T'; try { g.tensor = read_tensor(std::cin); } catch (const Refusal &) { broken = true; } given.push_back(g); }
    else if (word == "A") { size_t i; std::cin >> i; given.push_back(given.at(i)); }
    else if (word == "N") given.emplace_back();
    else if (word == "I") { Given g; g.kind = 'I'; std::cin >> g.whole; g.real = double(g.whole); given.push_back(g); }
    else if (word == "F") { Given g; g.kind = 'F'; std::cin >> g.real; g.whole = (long long)(g.real); given.push_back(g); }
    else if (word == "R") {
      out() << "C " << number << "\n";
      if (broken) { out() << "E refused\n"; continue; }
      for (size_t i = 0; i < given.size(); ++i) if (given[i].kind == 'T') out() << "M " << i << " " << given[i].tensor.memory->id << "\n";
      if (sigsetjmp(back(), 1)) { out() << "E crashed\n"; continue; }
      try { enter(f, given, std::index_sequence_for<A...>{}); out() << "E done\n"; }
      catch (const Unsupported &u) { out() << "E unsupported " << u.what << "\n"; }
      catch (const Enough &) { out() << "E enough\n"; }
      catch (const std::exception &e) { out() << "E refused " << std::string(e.what()).substr(0, 90) << "\n"; }
      catch (...) { out() << "E refused\n"; }
    }
  }
  out().flush();
}
// A program's own main, once, without arguments.
template <class... A> void program(int (*f)(A...)) {
  out(); std::signal(SIGFPE, crash); std::signal(SIGSEGV, crash);
  reset(); deadline() += std::chrono::seconds(20); launches() = 0;
  out() << "C 0\n";
  char name[] = "program"; char *words[] = {name, nullptr};
  if (sigsetjmp(back(), 1)) { out() << "E crashed\n"; out().flush(); return; }
  try { if constexpr (sizeof...(A) == 2) f(1, words); else f(); out() << "E done\n"; }
  catch (const Unsupported &u) { out() << "E unsupported " << u.what << "\n"; }
  catch (const Enough &) { out() << "E enough\n"; }
  catch (...) { out() << "E refused\n"; }
  out().flush();
}
template <class F> void cases(F) { out() << "E unsupported an overloaded or unusual entry\n"; }
}
// An assert is no check (NDEBUG); leaving the program is a refusal.
#undef assert
#define assert(...) ((void)0)
[[noreturn]] inline void vk_exit(int) { throw vk::Refusal("exit"); }
[[noreturn]] inline void vk_abort() { throw vk::Refusal("abort"); }
namespace std { using ::vk_abort; using ::vk_exit; }
#define exit vk_exit
#define abort vk_abort
