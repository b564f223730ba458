// Memory for short-lived objects of one type, reused: a request allocates nothing after warm-up.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace stint {

// Not thread-safe. Must outlive the objects that it makes.
template <class T>
class ObjectPool {
  public:
    struct Return {
        ObjectPool* pool;
        void operator()(T* object) const noexcept {
            object->~T();
            pool->give_back(object);
        }
    };
    using Pointer = std::unique_ptr<T, Return>;

    ObjectPool() { free_.reserve(keep); }
    ObjectPool(const ObjectPool&) = delete;
    ObjectPool& operator=(const ObjectPool&) = delete;
    ~ObjectPool() {
        for (void* memory : free_)
            ::operator delete (memory, std::align_val_t{alignof(T)});
    }

    template <class... Arguments>
    [[nodiscard]] Pointer make(Arguments&&... arguments) {
        void* memory =
            free_.empty() ? ::operator new (sizeof(T), std::align_val_t{alignof(T)}) : free_.back();
        if (!free_.empty())
            free_.pop_back();
        try {
            return Pointer{new (memory) T(std::forward<Arguments>(arguments)...), Return{this}};
        } catch (...) {
            give_back(memory);
            throw;
        }
    }

  private:
    void give_back(void* memory) noexcept {
        if (free_.size() < keep)
            free_.push_back(memory); // within the reserved capacity
        else
            ::operator delete (memory, std::align_val_t{alignof(T)});
    }

    static constexpr std::size_t keep = 1024;
    std::vector<void*> free_;
};

// Deleter that returns an object to its pool, whatever its type derived from Base is.
template <class Base>
struct Recycle {
    void* pool = nullptr;
    void (*give_back)(void* pool, Base* object) noexcept = nullptr;

    void operator()(Base* object) const noexcept { give_back(pool, object); }
};

// Converts a pointer from an ObjectPool to a pointer to the object's base class.
template <class Base, class Pointer>
[[nodiscard]] std::unique_ptr<Base, Recycle<Base>> as_base(Pointer made) {
    using Return = typename Pointer::deleter_type;
    auto* const pool = made.get_deleter().pool;
    using Pool = std::remove_pointer_t<decltype(pool)>;
    using Type = typename Pointer::element_type;
    return {made.release(), Recycle<Base>{pool, [](void* its_pool, Base* object) noexcept {
                                              Return{static_cast<Pool*>(its_pool)}(
                                                  static_cast<Type*>(object));
                                          }}};
}

} // namespace stint
