"""What is a grant: only what a permit listener says. Anything else that answers 200 or 201 is a StintError:
a mistake in the gateway's address lets nobody in."""

import re
from typing import Any, Dict, List, Optional

from ._address import Address
from ._errors import StintError
from ._wire import Answer, no_permit_listener, raise_for

_STATE = ("limit", "remaining", "reset_ms")
_LEASE = ("max", "count", "expires_in_ms")
_MOST = 10**12  # of whatever is counted, and more milliseconds than anything lasts
_PLAIN = re.compile(rb'\{"granted":true,"limit":\d{1,13},"remaining":\d{1,13},"reset_ms":\d{1,12},"waited_ms":\d{1,12}\}\n')
_ID = re.compile(r"l_[0-9a-f]{32}")


def is_plain_permit(answer: Answer) -> bool:
    """Whether it is one permit as every gateway writes it: the most frequent case, in a sixth of the time of
    permit_in(), which decides what is none."""
    return answer.status == 200 and _PLAIN.fullmatch(answer.body) is not None


def permit_in(answer: Answer, what: str, address: Address, *, batch: Optional[int] = None,
              names: "Optional[List[Any]]" = None) -> Dict[str, Any]:
    """The members of a permit, of `batch` at most, or of limits with these names; or the exception that
    another answer means."""
    if answer.status != 200:
        raise_for(answer, what, address)
    told = answer.members()
    if told.get("granted") is True and _is_whole(told.get("waited_ms", 0)):
        if names is not None:
            granted = _are_states(told.get("limits"), names)
        else:
            granted = _has_whole(told, _STATE)
        if granted and (batch is None or _is_whole(told.get("count")) and 1 <= told["count"] <= batch):
            address.proven = True
            return told
    raise no_permit_listener(answer, what, address)


def lease_in(answer: Answer, status: int, lock: str, address: Address,
             lease: Optional[str] = None) -> Dict[str, Any]:
    """The members of a lease of this lock, and of no other one than `lease`, in an answer with this status."""
    told = answer.members()
    name = told.get("lease")
    if (answer.status == status and isinstance(name, str) and _ID.fullmatch(name) and lease in (None, name)
            and told.get("lock") == lock and _has_whole(told, _LEASE) and _is_whole(told.get("waited_ms", 0))
            and _is_whole(told.get("fence"), 2**64 - 1)):
        address.proven = True
        return told
    raise no_permit_listener(answer, lock, address)


def feedback_in(answer: Answer, address: Address) -> Dict[str, Any]:
    """What a feedback led to."""
    if answer.status != 200:
        raise_for(answer, "feedback", address)
    told = answer.members()
    if isinstance(told.get("paused"), bool) and _is_whole(told.get("paused_ms")):
        address.proven = True
        return told
    raise no_permit_listener(answer, "feedback", address)


def is_held(answer: Answer, lock: str, address: Address) -> bool:
    """Whether somebody holds this lock, by the answer to the question who does."""
    told = answer.members()
    if answer.status == 404 and told.get("status") == 404 and isinstance(told.get("title"), str):
        if told.get("lock") == lock:
            address.proven = True
            return False  # the problem document by which a permit listener knows no such lock
        raise StintError(f"{lock}: {address} answered 404, but does not name the lock: is it the address under "
                         f"permits: of a gateway's configuration, or a Stint older than this client? "
                         f"{told.get('detail')}", 404, told["title"], told.get("detail"))
    if answer.status == 404:
        raise no_permit_listener(answer, lock, address)
    if answer.status != 200:
        raise_for(answer, lock, address)
    if told.get("lock") == lock and _has_whole(told, ("held",)):
        address.proven = True
        return bool(told["held"] or told.get("proxied"))
    raise no_permit_listener(answer, lock, address)


def _are_states(states: Any, names: "List[Any]") -> bool:
    return (isinstance(states, list)
            and all(isinstance(state, dict) and _has_whole(state, _STATE) for state in states)
            and [state.get("name") for state in states] == names)


def _has_whole(told: Dict[str, Any], members: "tuple[str, ...]") -> bool:
    for member in members:
        if not _is_whole(told.get(member)):
            return False
    return True


def _is_whole(value: Any, most: int = _MOST) -> bool:
    return type(value) is int and 0 <= value <= most
