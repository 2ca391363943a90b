"""All sessions of a server: opening, finding and expiring them."""

from __future__ import annotations

import hmac
import time

from graphtv.app.limits import Limits
from graphtv.app.pool import Pool
from graphtv.app.session import Session


class TooManySessionsError(Exception):
    """The limit of simultaneous sessions is reached."""


class Sessions:
    """The sessions of a server by token. All calls come from the event loop.

    Parameters
    ----------
    pool : Pool
        The pool for live work.
    long_pool : Pool
        The pool of one thread for full-size runs and races.
    limits : Limits
        The number of sessions and the times after which they expire.
    """

    def __init__(self, pool: Pool, long_pool: Pool, limits: Limits) -> None:
        self._pool, self._long_pool, self._limits = pool, long_pool, limits
        self._all: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._all)

    def has_room_for(self, n_bytes: int, session: Session) -> bool:
        """Return whether a session may hold this much instead of its present image."""
        others = sum(each.held_bytes for each in self._all.values() if each is not session)
        return others + n_bytes <= self._limits.held_bytes

    def open(self) -> Session:
        """Return a new session; if the limit is reached, close one whose tab is disconnected."""
        if len(self._all) >= self._limits.sessions:
            left = [each for each in self._all.values() if not each.is_connected]
            if not left:
                raise TooManySessionsError
            self.close(min(left, key=lambda each: each.seen))
        session = Session(self._pool, self._long_pool, self._limits)
        self._all[session.token] = session
        return session

    def find(self, token: str) -> Session | None:
        """Return the session with this token."""
        for known, session in self._all.items():
            if hmac.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                return session
        return None

    def close(self, session: Session) -> None:
        """End a session."""
        self._all.pop(session.token, None)
        session.close()

    def close_all(self) -> None:
        """End all sessions."""
        for session in list(self._all.values()):
            self.close(session)

    def expire(self) -> list[Session]:
        """Close expired sessions; return those that still have an open tab."""
        now = time.monotonic()
        over = []
        for session in list(self._all.values()):
            patience = (
                self._limits.idle_seconds if session.is_connected else self._limits.linger_seconds
            )
            if now - session.seen > patience:
                self.close(session)
                if session.is_connected:
                    over.append(session)
        return over
