"""Functions that ask a limiter before they run: plain, async, and generators."""

import functools
import inspect
from typing import Any, Awaitable, Callable, Optional, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])

Enter = Callable[[Optional[str]], None]
EnterAsync = Callable[[Optional[str]], Awaitable[None]]


def limited(function: F, key_of: Callable[..., Optional[str]], enter: Enter, enter_async: EnterAsync,
            per_item: bool) -> F:
    """The function behind the limiter. per_item: before each item of the generator that it returns
    instead of before the call."""
    wrapper: Any
    if inspect.isasyncgenfunction(function):
        wrapper = _async_generator(function, key_of, enter_async, per_item)
    elif inspect.isgeneratorfunction(function) and per_item:
        wrapper = _generator(function, key_of, enter)
    elif per_item:
        raise TypeError(f"{function!r} is no generator function: it has no items")
    elif inspect.iscoroutinefunction(function):
        wrapper = _coroutine(function, key_of, enter_async)
    else:
        wrapper = _plain(function, key_of, enter)
    return cast(F, wrapper)


def _plain(function: Callable[..., Any], key_of: Callable[..., Optional[str]], enter: Enter) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        enter(key_of(*args, **kwargs))
        return function(*args, **kwargs)
    return wrapper


def _coroutine(function: Callable[..., Any], key_of: Callable[..., Optional[str]],
               enter: EnterAsync) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        await enter(key_of(*args, **kwargs))
        return await function(*args, **kwargs)
    return wrapper


def _generator(function: Callable[..., Any], key_of: Callable[..., Optional[str]], enter: Enter) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = key_of(*args, **kwargs)
        items = function(*args, **kwargs)
        sent = None
        try:
            while True:
                enter(key)
                try:
                    item = items.send(sent)
                except StopIteration as end:
                    return end.value
                sent = yield item
        finally:
            items.close()
    return wrapper


def _async_generator(function: Callable[..., Any], key_of: Callable[..., Optional[str]],
                     enter: EnterAsync, per_item: bool) -> Any:
    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        key = key_of(*args, **kwargs)
        items = function(*args, **kwargs)
        sent, first = None, True
        try:
            while True:
                if first or per_item:
                    await enter(key)
                first = False
                try:
                    item = await items.asend(sent)
                except StopAsyncIteration:
                    return
                sent = yield item
        finally:
            await items.aclose()
    return wrapper
