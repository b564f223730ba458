#include "net/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <utility>
#include <vector>

using stint::net::Block;
using stint::net::BufferPool;

TEST_CASE("a borrowed block has the pool's size and can be written to its end") {
    BufferPool pool{4096, 2};

    Block block = pool.borrow();

    REQUIRE(block);
    CHECK(block.size() == 4096);
    CHECK(block.span().size() == 4096);
    std::memset(block.data(), 'x', block.size());
}

TEST_CASE("the block returned last is lent next") {
    BufferPool pool{64, 4};
    Block first = pool.borrow();
    Block second = pool.borrow();
    char* const first_bytes = first.data();
    char* const second_bytes = second.data();
    CHECK(first_bytes != second_bytes);

    first.release();
    second.release();

    Block again = pool.borrow();
    Block and_again = pool.borrow();
    CHECK(again.data() == second_bytes);
    CHECK(and_again.data() == first_bytes);
}

TEST_CASE("a destroyed block is lent again") {
    BufferPool pool{64, 1};
    char* bytes = nullptr;
    {
        const Block block = pool.borrow();
        bytes = block.data();
    }

    CHECK(pool.borrow().data() == bytes);
}

TEST_CASE("no more blocks than agreed are kept") {
    BufferPool pool{64, 1};
    Block kept = pool.borrow();
    Block dropped = pool.borrow();
    char* const kept_bytes = kept.data();

    kept.release();
    dropped.release(); // frees it: the one place is taken

    const Block again = pool.borrow();
    CHECK(again.data() == kept_bytes);
}

TEST_CASE("moving a block moves the loan") {
    BufferPool pool{64, 4};
    Block from = pool.borrow();
    char* const bytes = from.data();

    Block to{std::move(from)};

    CHECK_FALSE(from);
    CHECK(from.size() == 0);
    CHECK(to.data() == bytes);
    from.release();
    CHECK(pool.borrow().data() != bytes); // still on loan
}

TEST_CASE("assigning over a block gives back the one that it held") {
    BufferPool pool{64, 4};
    Block left = pool.borrow();
    Block right = pool.borrow();
    char* const given_back = left.data();
    char* const moved = right.data();

    left = std::move(right);

    CHECK(left.data() == moved);
    CHECK(pool.borrow().data() == given_back);
}

TEST_CASE("an empty block has no size and can be released") {
    Block block;

    block.release();

    CHECK_FALSE(block);
    CHECK(block.size() == 0);
    CHECK(block.span().empty());
}
