#include "net/buffer_pool.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <set>
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

TEST_CASE("blocks that were not needed between two trims give their memory back") {
    BufferPool pool{4096, 1};
    std::vector<Block> blocks;
    for (int i = 0; i < 100; ++i)
        blocks.push_back(pool.borrow());
    CHECK(pool.held() == 100);
    char* const first = blocks.front().data();
    std::memset(first, 'x', 4096);
    blocks.clear();
    pool.trim(); // all were needed since the last
    CHECK(pool.held() == 100);
    Block used = pool.borrow();
    used.release();

    pool.trim();

    CHECK(pool.held() == 2); // one to keep, and the one that was needed
    std::vector<Block> again;
    for (int i = 0; i < 100; ++i)
        again.push_back(pool.borrow());
    for (const Block& block : again)
        if (block.data() == first)
            CHECK(*block.data() == 0); // other pages now
}

TEST_CASE("blocks that are lent are never trimmed") {
    BufferPool pool{100, 0};
    Block lent = pool.borrow();
    Block free = pool.borrow();
    std::memset(lent.data(), 'x', lent.size());
    free.release();

    pool.trim();
    pool.trim();

    CHECK(pool.held() == 1);
    CHECK(lent.data()[99] == 'x');
    CHECK(pool.borrow().data() != lent.data());
}

TEST_CASE("more blocks than a slab has are all different") {
    BufferPool pool{64, 4};
    std::set<char*> places;
    std::vector<Block> blocks;
    for (int i = 0; i < 1000; ++i) {
        blocks.push_back(pool.borrow());
        std::memset(blocks.back().data(), i % 128, 64);
        places.insert(blocks.back().data());
    }

    CHECK(places.size() == 1000);
    for (std::size_t i = 0; i < 1000; ++i)
        CHECK(blocks[i].data()[63] == static_cast<char>(i % 128));
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
