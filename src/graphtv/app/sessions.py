"""All sessions: who may open one, and when one ends."""

from __future__ import annotations

import hmac
import time

from graphtv.app.limits import Limits
from graphtv.app.pool import Pool
from graphtv.app.session import Session


class TooManySessionsError(Exception):
    """There is no room for another one."""


class Sessions:
    """The sessions of a server, by their tokens; all calls come from the event loop.

    Parameters
    ----------
    pool : Pool
        Who works for them.
    limits : Limits
        How many there may be, and how long.
    """

    def __init__(self, pool: Pool, limits: Limits) -> None:
        self._pool, self._limits = pool, limits
        self._all: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._all)

    def open(self) -> Session:
        """Return a new session. If there is no room, one whose tab is gone must go."""
        if len(self._all) >= self._limits.sessions:
            left = [each for each in self._all.values() if not each.is_connected]
            if not left:
                raise TooManySessionsError
            self.close(min(left, key=lambda each: each.seen))
        session = Session(self._pool)
        self._all[session.token] = session
        return session

    def find(self, token: str) -> Session | None:
        """Return the session of a token."""
        for known, session in self._all.items():
            if hmac.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                return session
        return None

    def close(self, session: Session) -> None:
        """End a session."""
        self._all.pop(session.token, None)
        session.close()

    def expire(self) -> list[Session]:
        """End the sessions whose time is over; return those whose tabs are still open."""
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
